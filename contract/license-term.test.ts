import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { utcDay } from './durations.ts';
import { lastDay } from '../web/ui/day.ts';
import {
  addTerm,
  dayIn,
  extended,
  extensions,
  midnightOf,
  modalTerms,
  pageTerms,
  type Day,
} from './license-term.ts';

const oneDay = 86_400_000;
const anyDay: fc.Arbitrary<Day> = fc
  .date({ min: new Date('1970-01-01'), max: new Date('9990-12-31'), noInvalidDate: true })
  .map((date) => utcDay(date));
const at = (day: Day) => Date.parse(midnightOf(day));

describe('terms', () => {
  it.each([
    ['2026-11-20', '2026-12-20'],
    ['2028-02-01', '2028-03-02'],
    ['2027-02-01', '2027-03-03'],
    ['2026-12-15', '2027-01-14'],
  ])('a trial from %s ends on %s', (from, until) => {
    expect(addTerm(from, modalTerms.trial)).toBe(until);
    expect(addTerm(from, pageTerms.trial)).toBe(until);
  });

  it.each([
    ['2026-11-20', '2027-11-20'],
    ['2028-02-29', '2029-02-28'],
    ['2027-02-28', '2028-02-28'],
    ['2027-03-01', '2028-03-01'],
    ['2026-12-31', '2027-12-31'],
  ])('an enterprise license from the modal from %s ends on %s', (from, until) => {
    expect(addTerm(from, modalTerms.enterprise)).toBe(until);
  });

  it.each([
    ['2026-11-20', '2026-12-20'],
    ['2026-12-31', '2027-01-31'],
    ['2027-01-31', '2027-02-28'],
    ['2028-01-31', '2028-02-29'],
    ['2026-10-31', '2026-11-30'],
  ])('an enterprise license from the page from %s ends on %s', (from, until) => {
    expect(addTerm(from, pageTerms.enterprise)).toBe(until);
  });

  it('a trial lasts exactly 30 days of time', () => {
    fc.assert(
      fc.property(anyDay, (from) => {
        expect(at(addTerm(from, modalTerms.trial)) - at(from)).toBe(30 * oneDay);
      }),
    );
  });

  it('a year lasts 365 or 366 days and ends on the same day, but for 29 February', () => {
    fc.assert(
      fc.property(anyDay, (from) => {
        const until = addTerm(from, modalTerms.enterprise);
        expect([365, 366]).toContain((at(until) - at(from)) / oneDay);
        expect(Number(until.slice(0, 4))).toBe(Number(from.slice(0, 4)) + 1);
        expect(until.slice(5)).toBe(from.endsWith('02-29') ? '02-28' : from.slice(5));
      }),
    );
  });

  it('a month never skips one', () => {
    fc.assert(
      fc.property(anyDay, (from) => {
        const until = addTerm(from, pageTerms.enterprise);
        const months = (day: Day) => Number(day.slice(0, 4)) * 12 + Number(day.slice(5, 7));
        expect(months(until)).toBe(months(from) + 1);
      }),
    );
  });

  it('does not leave what the service can hold', () => {
    expect(addTerm('9999-06-01', modalTerms.enterprise)).toBe(lastDay);
    expect(addTerm('9999-12-31', modalTerms.trial)).toBe(lastDay);
  });
});

describe('an extension', () => {
  const anyInstant = fc
    .date({ min: new Date('1970-01-01'), max: new Date('9990-12-31'), noInvalidDate: true })
    .map((date) => date.toISOString());
  const [{ term: thirtyDays }, { term: oneYear }] = extensions;

  it.each([
    ['2028-02-29T00:00:00.000Z', '2029-02-28T00:00:00.000Z'],
    ['2027-02-28T00:00:00.000Z', '2028-02-28T00:00:00.000Z'],
    ['2026-12-31T23:59:59.999Z', '2027-12-31T23:59:59.999Z'],
    ['9999-06-01T12:00:00.000Z', '9999-12-31T12:00:00.000Z'],
  ])('of a year takes %s to %s', (from, until) => {
    expect(extended(from, oneYear)).toBe(until);
  });

  it('of 30 days is 30 days of time, also where clocks change', () => {
    fc.assert(
      fc.property(anyInstant, (from) => {
        expect(Date.parse(extended(from, thirtyDays)) - Date.parse(from)).toBe(30 * oneDay);
      }),
    );
    for (const from of ['2026-03-01T01:30:00.000Z', '2026-10-01T00:30:00.000Z'])
      expect(Date.parse(extended(from, thirtyDays)) - Date.parse(from)).toBe(30 * oneDay);
  });

  it('of a year keeps the time of day, and month and day but for 29 February', () => {
    fc.assert(
      fc.property(anyInstant, (from) => {
        const until = extended(from, oneYear);
        expect(until.slice(10)).toBe(from.slice(10));
        expect(Number(until.slice(0, 4))).toBe(Number(from.slice(0, 4)) + 1);
        expect(until.slice(5, 10)).toBe(from.slice(5, 10) === '02-29' ? '02-28' : from.slice(5, 10));
      }),
    );
  });

  it('is an instant that the contract accepts, and later than before', () => {
    fc.assert(
      fc.property(anyInstant, fc.constantFrom(...extensions), (from, { term }) => {
        const until = extended(from, term);
        expect(new Date(until).toISOString()).toBe(until);
        expect(until > from).toBe(true);
      }),
    );
  });
});

describe('days', () => {
  it('go to the wire and back unchanged', () => {
    fc.assert(
      fc.property(anyDay, (day) => {
        expect(dayIn(midnightOf(day))).toBe(day);
      }),
    );
  });

  it('today is the day in UTC', () => {
    expect(utcDay(new Date('2026-11-20T23:30:00-08:00'))).toBe('2026-11-21');
  });
});
