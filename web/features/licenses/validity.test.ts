import { expect, test } from 'vitest';
import { dayMs } from '../../../contract/durations.ts';
import { graceUntil, validityMarks } from './validity.ts';

const line = (createdAt: string, validFrom: string, validUntil: string, today: string) =>
  validityMarks({ createdAt, validFrom, validUntil }, new Date(today)).map(
    ({ label, percent }) => `${label} ${Math.round(percent)}`,
  );

test.each([
  [
    'in its time',
    ['2026-01-01', '2026-01-01', '2026-12-31', '2026-07-02'],
    ['Created 0', 'Valid from 0', 'Today 50', 'Valid until 100'],
  ],
  [
    'expired',
    ['2026-01-01', '2026-01-11', '2026-02-10', '2026-04-11'],
    ['Created 0', 'Valid from 10', 'Valid until 40', 'Today 100'],
  ],
  [
    'not valid yet, issued afterwards',
    ['2026-03-01', '2026-05-30', '2026-06-09', '2026-03-01'],
    ['Created 0', 'Today 0', 'Valid from 90', 'Valid until 100'],
  ],
  [
    'all at once',
    ['2026-03-01', '2026-03-01', '2026-03-01', '2026-03-01'],
    ['Created 0', 'Valid from 0', 'Today 0', 'Valid until 0'],
  ],
])('%s', (_, [created, from, until, today], marks) =>
  expect(line(created!, from!, until!, today!)).toEqual(marks),
);

test('the grace lasts its time from now, whole days or not, never past the end, and is of machines that are accepted now', () => {
  const customer = { customerId: 'c1', name: 'Osaka Medical', country: 'JP', deletedAt: null };
  const license = {
    status: 'active' as const,
    customer,
    validFrom: '2026-01-01T00:00:00.000Z',
    validUntil: '2026-12-31T00:00:00.000Z',
  };
  const at = (now: string, fields: object = {}, grace = 14 * dayMs) =>
    graceUntil({ ...license, ...fields }, new Date(now), grace);
  expect(at('2026-06-01T10:00:00Z')).toBe('2026-06-15T10:00:00.000Z');
  expect(at('2026-06-01T20:00:00Z', {}, 1.5 * dayMs)).toBe('2026-06-03T08:00:00.000Z');
  expect(at('2026-12-24T00:00:00Z')).toBe(license.validUntil);
  expect(at('2027-01-01T00:00:00Z')).toBeUndefined();
  expect(at('2025-12-31T00:00:00Z')).toBeUndefined();
  expect(at('2026-06-01T10:00:00Z', { status: 'revoked' })).toBeUndefined();
  const deleted = { ...customer, deletedAt: '2026-05-01T00:00:00.000Z' };
  expect(at('2026-06-01T10:00:00Z', { customer: deleted })).toBeUndefined();
  expect(
    validityMarks(
      { createdAt: license.validFrom, ...license },
      new Date('2026-06-01T10:00:00Z'),
      '2026-06-15T10:00:00.000Z',
    ).map(({ label }) => label),
  ).toEqual(['Created', 'Valid from', 'Today', 'Grace ends', 'Valid until']);
});
