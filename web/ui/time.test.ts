import { expect, test } from 'vitest';
import { firstDayOfWeek, localeOf } from './locale.ts';
import { dayLabel, momentText, relativeTime, timesIn, utcDate } from './time.ts';

const now = new Date('2026-11-20T12:00:00.000Z');

test.each([
  ['2026-11-20T11:59:30.000Z', 'just now'],
  ['2026-11-20T11:58:00.000Z', '2 minutes ago'],
  ['2026-11-19T12:00:00.000Z', 'yesterday'],
  ['2026-11-18T13:00:00.000Z', '2 days ago'],
  ['2026-11-22T11:00:00.000Z', 'in 2 days'],
  ['2026-11-10T12:00:00.000Z', '1 week ago'],
  ['2026-12-25T12:00:00.000Z', 'in 1 month'],
  ['2024-11-01T12:00:00.000Z', '2 years ago'],
])('%s is %s', (iso, expected) => expect(relativeTime(iso, now)).toBe(expected));

test('days are labeled as the service counted them, whatever the clock of the browser', () => {
  expect(dayLabel('2026-11-20')).toBe('20 Nov');
  expect(dayLabel('2026-01-05T23:30:00.000Z')).toBe('5 Jan');
});

test('a day of UTC is the same for every reader', () => {
  expect(utcDate('2026-11-20T23:59:59.999Z')).toBe('20 Nov 2026');
  expect(utcDate('2026-11-20T00:00:00.000Z')).toBe('20 Nov 2026');
});

test('every month has three letters where it is short', () => {
  for (let month = 1; month <= 12; month += 1) {
    const iso = `2026-${String(month).padStart(2, '0')}-15T12:00:00.000Z`;
    expect(utcDate(iso)).toMatch(/^15 [A-Z][a-z]{2} 2026$/);
    expect(dayLabel(iso)).toMatch(/^15 [A-Z][a-z]{2}$/);
    expect(momentText(iso)).toMatch(/^15 [A-Z][a-z]{2} 2026/);
  }
});

const formats: [language: string, ...texts: string[]][] = [
  ['en-US', 'Sep 5, 2026', 'Sep 5', 'Saturday, September 5', '5:03:00 PM'],
  ['en-GB', '5 Sep 2026', '5 Sep', 'Saturday 5 September', '17:03:00'],
  ['de-DE', '05.09.2026', '05.09', 'Saturday, 05.09', '17:03:00'],
  ['ja-JP', '2026/09/05', '09/05', 'Saturday, 09/05', '17:03:00'],
  ['ar-EG', '05/09/2026', '05/09', 'Saturday, 05/09', '17:03:00'],
  ['th-TH', '05/09/2026', '05/09', 'Saturday, 05/09', '17:03:00'],
];

test.each(formats)('dates follow %s, without a word that is not English', (language, ...texts) => {
  const times = timesIn(localeOf(language));
  const at = new Date(2026, 8, 5, 17, 3);
  expect([
    times.utcDate('2026-09-05T12:00:00.000Z'),
    times.dayLabel('2026-09-05T12:00:00.000Z'),
    times.longDay(at),
    times.clockTime(at.getTime()),
  ]).toEqual(texts);
});

test.each([
  ['en-GB', '5 Sep 2026, 01:03:07'],
  ['en-US', 'Sep 5, 2026, 1:03:07 AM'],
  ['de-DE', '05.09.2026, 01:03:07'],
])('an hour of the night in %s is %s', (language, text) =>
  expect(timesIn(localeOf(language)).momentText(new Date(2026, 8, 5, 1, 3, 7).toISOString())).toBe(text),
);

test('the week begins on the day of the locale', () => {
  const first = (language: string) => firstDayOfWeek(localeOf(language));
  expect(['en-US', 'ja-JP', 'de-DE', 'en-GB', 'ar-EG'].map(first)).toEqual([0, 0, 1, 1, 6]);
});

test('a language that the browser cannot read is British English', () => {
  expect(localeOf('en-US@posix').baseName).toBe('en-GB');
});
