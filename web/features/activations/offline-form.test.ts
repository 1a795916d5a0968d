import { expect, it } from 'vitest';
import { checkOffline, offlineUntil, offlineUntilText } from './offline-form.ts';

const now = new Date('2026-11-22T12:00:00Z');

it.each([
  [90, 14, 'Until 20 Feb 2027 and 14 days of grace, at most until the license ends, 1 Jan 2028'],
  [366, 1, 'Until 23 Nov 2027 and 1 day of grace, at most until the license ends, 1 Jan 2028'],
  [90, 0, 'Until 20 Feb 2027, at most until the license ends, 1 Jan 2028'],
  [0, 14, 'At most until the license ends, 1 Jan 2028'],
  ['soon', 14, 'At most until the license ends, 1 Jan 2028'],
])('%s days with a grace of %i: %s', (days, grace, text) =>
  expect(offlineUntilText(days, grace, '2028-01-01T00:00:00.000Z', now)).toBe(text),
);

it('never promises more than the license', () => {
  const text = (days: number) => offlineUntilText(days, 14, '2026-12-01T00:00:00.000Z', now);
  expect(text(90)).toBe('Until the license ends, 1 Dec 2026');
  expect(text(4)).toBe('Until 26 Nov 2026 and 4 days of grace, at most until the license ends, 1 Dec 2026');
});

it.each([
  ['', 90, { request: 'Request is required' }],
  [' \n', 90, { request: 'Request is required' }],
  ['e'.repeat(4001), 90, { request: 'Too long: at most 4,000 characters' }],
  ['ey', 0, { days: 'Must be a whole number from 1 to 366' }],
  ['ey', 367, { days: 'Must be a whole number from 1 to 366' }],
  ['ey', 1.5, { days: 'Must be a whole number from 1 to 366' }],
  ['ey', '', { days: 'Must be a whole number from 1 to 366' }],
  ['ey', 366, {}],
])('%s for %s days: %j', (request, days, errors) => expect(checkOffline({ request, days })).toEqual(errors));

it('a machine is offline only until its file ends, or the server frees its seat', () => {
  const [before, until] = [now.toISOString(), '2026-11-22T12:00:01.000Z'];
  expect(offlineUntil({ status: 'deactivated', offlineUntil: until }, now)).toBe(until);
  expect(offlineUntil({ status: 'deactivated', offlineUntil: before }, now)).toBeNull();
  expect(offlineUntil({ status: 'active', offlineUntil: before }, now)).toBe(before);
  expect(offlineUntil({ status: 'active', offlineUntil: null }, now)).toBeNull();
});
