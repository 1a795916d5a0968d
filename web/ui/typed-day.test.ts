import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { isDay } from './day.ts';
import { dayProblem, shownDay, momentProblem, shownMoment, readDay, readMoment } from './typed-day.ts';

// Where clocks are put forward and back.
const zone = process.env['TZ'];
process.env['TZ'] = 'Europe/Berlin';
afterAll(() => {
  if (zone === undefined) delete process.env['TZ'];
  else process.env['TZ'] = zone;
});

test.each([
  ['2026-12-31', '2026-12-31'],
  ['31.12.2026', '2026-12-31'],
  ['1.2.2027', '2027-02-01'],
  ['01. 02. 2027', '2027-02-01'],
  ['1/2/2027', '2027-02-01'],
  [' 31 Dec 2026 ', '2026-12-31'],
  ['1 sept 2026', '2026-09-01'],
  ['1 Sep 2026', '2026-09-01'],
  ['20  November 2026', '2026-11-20'],
  ['29 Feb 2028', '2028-02-29'],
])('%j is the day %s', (text, day) => expect(readDay(text)).toBe(day));

test.each([
  ['31 Feb 2027', 'There is no such day'],
  ['29.2.2027', 'There is no such day'],
  ['31.12.1969', 'Must lie between the years 1970 and 9999'],
  ['31/12/0026', 'Must lie between the years 1970 and 9999'],
  ['12/31/2026', 'There is no such day'],
  ['31 Feb', 'Write a date such as 31 Dec 2026, 31.12.2026 or 2026-12-31'],
  ['1.2.27', 'Write a date such as 31 Dec 2026, 31.12.2026 or 2026-12-31'],
  ['2026-1-2', 'Write a date such as 31 Dec 2026, 31.12.2026 or 2026-12-31'],
  ['31.12/2026', 'Write a date such as 31 Dec 2026, 31.12.2026 or 2026-12-31'],
  ['tomorrow', 'Write a date such as 31 Dec 2026, 31.12.2026 or 2026-12-31'],
])('%j stays as it is, with an error', (text, problem) => {
  expect(readDay(text)).toBe(text);
  expect(shownDay(text)).toBe(text);
  expect(dayProblem(text)).toBe(problem);
});

test.each([
  ['31 Dec 2026, 17:00', '2026-12-31T17:00'],
  ['31.12.2026 9:05', '2026-12-31T09:05'],
  ['2026-12-31T17:00', '2026-12-31T17:00'],
  ['31 December 2026 at 17:00:30', '2026-12-31T17:00:30'],
  ['31.12.2026', '2026-12-31T23:59'],
])('%j is the moment %s', (text, moment) => expect(readMoment(text)).toBe(moment));

test.each([
  ['31 Dec 2026, 24:00', 'There is no such time on that day'],
  ['31 Dec 2026, 17:60', 'There is no such time on that day'],
  // The clocks go from 02:00 to 03:00.
  ['28.3.2027 02:30', 'There is no such time on that day'],
  ['30 Feb 2027 10:00', 'There is no such day'],
  ['31 Dec 2026, 5 pm', 'Write a date and time such as 31 Dec 2026, 17:00'],
])('%j is no moment', (text, problem) => {
  expect(readMoment(text)).toBe(text);
  expect(shownMoment(text)).toBe(text);
  expect(momentProblem(text)).toBe(problem);
});

const anyDay = fc
  .date({ min: new Date('1970-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
  .map((date) => date.toISOString().slice(0, 10));

test('every day that is shown or written in one of the forms is read as that day', () => {
  fc.assert(
    fc.property(anyDay, (day) => {
      const [year, month, date] = day.split('-').map(Number);
      const long = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' }).format(
        new Date(day),
      );
      for (const text of [day, shownDay(day), long, `${date}.${month}.${year}`, `${date}/${month}/${year}`])
        expect(readDay(text)).toBe(day);
    }),
  );
});

test('every moment that is shown is read as that moment', () => {
  fc.assert(
    fc.property(anyDay, fc.nat(23), fc.nat(59), (day, hour, minute) => {
      const text = `${shownDay(day)}, ${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`;
      const read = readMoment(text);
      if (read !== text) expect(shownMoment(read)).toBe(text);
      else expect(momentProblem(text)).toBe('There is no such time on that day');
    }),
  );
});

test('nothing impossible is ever a day', () => {
  const numbers = fc.tuple(fc.nat(99), fc.nat(99), fc.nat(9999));
  fc.assert(
    fc.property(numbers, fc.constantFrom('.', '/', '-'), ([day, month, year], sign) => {
      const read = readDay([day, month, String(year).padStart(4, '0')].join(sign));
      if (!isDay(read)) return;
      const at = new Date(`${read}T00:00:00Z`);
      expect([at.getUTCDate(), at.getUTCMonth() + 1, at.getUTCFullYear()]).toEqual([day, month, year]);
    }),
  );
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom(...'0123456789./- abDec'.split('')), maxLength: 14 }),
      (text) => {
        const read = readDay(text);
        if (read !== text) expect(new Date(`${read}T00:00:00Z`).toISOString().slice(0, 10)).toBe(read);
      },
    ),
  );
});
