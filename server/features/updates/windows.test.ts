import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { weekdays, type MaintenanceWindow, type Weekday } from '../../../contract/policies.ts';
import { isInWindow } from './windows.ts';

const window = (zone: string, days: Weekday[], from: string, to: string): MaintenanceWindow => ({
  zone,
  weekdays: days,
  from,
  to,
});
const at = (windows: MaintenanceWindow[], instant: string) => isInWindow(windows, new Date(instant));

describe('a window', () => {
  const night = [window('Europe/Berlin', ['fri'], '22:00', '05:00')];

  test.each([
    ['2026-11-20T20:59:59.999Z', false],
    ['2026-11-20T21:00:00Z', true],
    ['2026-11-21T03:59:59.999Z', true],
    ['2026-11-21T04:00:00Z', false],
    // The morning of Friday belongs to the window that would have begun on Thursday.
    ['2026-11-20T02:00:00Z', false],
    ['2026-11-21T22:00:00Z', false],
  ])('over midnight belongs to the day on which it began: %s is %s', (instant, open) => {
    expect(at(night, instant)).toBe(open);
  });

  test('from midnight to midnight is the whole day', () => {
    const friday = [window('Europe/Berlin', ['fri'], '00:00', '00:00')];
    expect(at(friday, '2026-11-19T22:59:59Z')).toBe(false);
    expect(at(friday, '2026-11-19T23:00:00Z')).toBe(true);
    expect(at(friday, '2026-11-20T22:59:59Z')).toBe(true);
    expect(at(friday, '2026-11-20T23:00:00Z')).toBe(false);
  });

  test('of several, one that is open is enough, each by its own clocks', () => {
    const both = [
      window('America/New_York', ['fri'], '09:00', '10:00'),
      window('Asia/Tokyo', ['fri'], '09:00', '10:00'),
    ];
    expect(at(both, '2026-11-20T00:30:00Z')).toBe(true);
    expect(at(both, '2026-11-20T14:30:00Z')).toBe(true);
    expect(at(both, '2026-11-20T09:30:00Z')).toBe(false);
  });

  test('in an hour that the clocks skip does not come, and one that they show twice comes twice', () => {
    const hour = [window('Europe/Berlin', ['sun'], '02:00', '03:00')];
    expect(openMinutes(hour, '2026-03-28T12:00:00Z')).toBe(0);
    expect(openMinutes(hour, '2026-10-24T12:00:00Z')).toBe(120);
    expect(openMinutes(hour, '2026-11-21T12:00:00Z')).toBe(60);
  });
});

const openMinutes = (windows: MaintenanceWindow[], from: string) =>
  Array.from({ length: 1440 }, (_, n) => new Date(Date.parse(from) + n * 60_000)).filter((minute) =>
    isInWindow(windows, minute),
  ).length;

const shownBy = new Map<string, Intl.DateTimeFormat>();

/** The date and time that the clocks of a zone show, by another format than the code's. */
function clock(zone: string, instant: Date) {
  const format =
    shownBy.get(zone) ??
    new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' });
  shownBy.set(zone, format);
  const [date = '', time = ''] = format.format(instant).split(' ');
  return { date, time };
}

const dayBefore = (date: string) => new Date(Date.parse(date) - 86_400_000).toISOString().slice(0, 10);
const weekdayOf = (date: string): Weekday => weekdays[(new Date(date).getUTCDay() + 6) % 7]!;

/** The same rule from the other side: the dates whose window contains what the clocks show. */
function isInWindowByDates({ zone, weekdays: days, from, to }: MaintenanceWindow, instant: Date): boolean {
  const { date, time } = clock(zone, instant);
  return [date, dayBefore(date)].some((start) => {
    const [begins, ends] = [`${start} ${from}`, `${from < to ? start : dayAfter(start)} ${to}`];
    const shown = `${date} ${time}`;
    return days.includes(weekdayOf(start)) && begins <= shown && shown < ends;
  });
}
const dayAfter = (date: string) => new Date(Date.parse(date) + 86_400_000).toISOString().slice(0, 10);

const nights = [
  ['Europe/Berlin', '2026-03-28T12:00:00Z'],
  ['Europe/Berlin', '2026-10-24T12:00:00Z'],
  ['America/New_York', '2026-03-07T18:00:00Z'],
  ['America/New_York', '2026-10-31T18:00:00Z'],
  // half an hour
  ['Australia/Lord_Howe', '2026-04-04T03:00:00Z'],
  ['Australia/Lord_Howe', '2026-10-03T03:00:00Z'],
  // at midnight: a day without its first hour, and one with two last hours
  ['Africa/Cairo', '2026-04-23T12:00:00Z'],
  ['Africa/Cairo', '2026-10-29T12:00:00Z'],
] as const;

const time = fc
  .tuple(fc.nat(23), fc.constantFrom(0, 1, 15, 29, 30, 31, 59))
  .map((parts) => parts.map((part) => String(part).padStart(2, '0')).join(':'));

test.each(nights)('%s on the night of %s is in a window exactly by its clocks', (zone, noon) => {
  const minutesOfNight = Array.from({ length: 1440 }, (_, n) => new Date(Date.parse(noon) + n * 60_000));
  fc.assert(
    fc.property(
      fc.subarray([...weekdays], { minLength: 1 }),
      time,
      time,
      fc.nat(6),
      (days, from, to, offset) => {
        const one = window(zone, days, from, to);
        for (let n = offset; n < minutesOfNight.length; n += 7) {
          const minute = minutesOfNight[n]!;
          const shown = `${zone} ${minute.toISOString()} ${JSON.stringify(one)}`;
          expect([shown, isInWindow([one], minute)]).toEqual([shown, isInWindowByDates(one, minute)]);
        }
      },
    ),
    { numRuns: 12 },
  );
});
