import { expect, test } from 'vitest';
import { dayLabel, momentText, relativeTime, utcDate } from './time.ts';

const now = new Date('2026-11-20T12:00:00.000Z');

test.each([
  ['2026-11-20T11:59:30.000Z', 'just now'],
  ['2026-11-20T11:58:00.000Z', '2 minutes ago'],
  ['2026-11-19T12:00:00.000Z', 'yesterday'],
  ['2026-11-10T12:00:00.000Z', 'last week'],
  ['2026-12-25T12:00:00.000Z', 'next month'],
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
