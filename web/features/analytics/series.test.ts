import { describe, expect, test } from 'vitest';
import { codesByDay, daysOf, versionsByCustomer } from './series.ts';

describe('a period', () => {
  const end = new Date('2026-11-20T23:59:00Z');
  test.each([
    ['week', '2026-11-13'],
    ['month', '2026-10-20'],
    ['year', '2025-11-20'],
  ] as const)('%s begins on %s and ends today', (period, startDate) => {
    expect(daysOf(period, end)).toEqual({ startDate, endDate: '2026-11-20' });
  });

  test.each([
    ['month', '2026-03-31', '2026-02-28'],
    ['month', '2026-01-15', '2025-12-15'],
    ['year', '2028-02-29', '2027-02-28'],
  ] as const)('%s before %s is %s', (period, today, startDate) => {
    expect(daysOf(period, new Date(`${today}T12:00:00Z`)).startDate).toBe(startDate);
  });
});

test('codes become one row a day, without those that are no failure', () => {
  const { names, rows } = codesByDay([
    { period: '2026-11-19', code: 'VALID', count: 90 },
    { period: '2026-11-19', code: 'EXPIRED', count: 1 },
    { period: '2026-11-20', code: 'REVOKED', count: 5 },
  ]);
  expect(names).toEqual(['REVOKED', 'EXPIRED']);
  expect(rows).toEqual([
    { period: '2026-11-19', counts: { REVOKED: 0, EXPIRED: 1 } },
    { period: '2026-11-20', counts: { REVOKED: 5, EXPIRED: 0 } },
  ]);
});

test('versions become one row a customer, the newest version first', () => {
  const { names, rows } = versionsByCustomer([
    { company: 'Clinic', appVersion: '4.9.0', machines: 1, provenMachines: 0 },
    { company: 'Clinic', appVersion: '4.10.0', machines: 3, provenMachines: 2 },
    { company: 'Lab', appVersion: '4.9.0', machines: 2, provenMachines: 2 },
  ]);
  expect(names).toEqual(['4.10.0', '4.9.0']);
  expect(rows).toEqual([
    ['Clinic', { all: 3, proven: 2 }, { all: 1, proven: 0 }],
    ['Lab', { all: 0, proven: 0 }, { all: 2, proven: 2 }],
  ]);
});
