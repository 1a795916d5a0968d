import { describe, expect, test } from 'vitest';
import {
  besides,
  codesByDay,
  daysOf,
  inWeeks,
  isYear,
  periodBefore,
  totalsOf,
  versionsByCustomer,
} from './series.ts';

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

test('codes become one row a day, also of one without any, without those that are no failure', () => {
  const { names, rows } = codesByDay({
    activations: [point('2026-11-18', 0), point('2026-11-19', 90), point('2026-11-20', 5)],
    codes: [
      { period: '2026-11-19', code: 'VALID', count: 90 },
      { period: '2026-11-19', code: 'EXPIRED', count: 1 },
      { period: '2026-11-20', code: 'REVOKED', count: 5 },
    ],
  });
  expect(names).toEqual(['REVOKED', 'EXPIRED']);
  expect(rows).toEqual([
    { period: '2026-11-18', counts: { REVOKED: 0, EXPIRED: 0 } },
    { period: '2026-11-19', counts: { REVOKED: 0, EXPIRED: 1 } },
    { period: '2026-11-20', counts: { REVOKED: 5, EXPIRED: 0 } },
  ]);
});

const figure = (all: number, proven: number) => ({ all, proven });

test('the newest version comes first, its prereleases behind it, and what is no version last', () => {
  const of = (appVersion: string) => ({
    customerId: '1',
    company: 'Clinic',
    appVersion,
    machines: 1,
    provenMachines: 0,
  });
  const { names } = versionsByCustomer(
    ['4.1.0', '4.2.0-beta.2', '9', '4.2.0-beta.10', '4.2.0', '10'].map(of),
  );
  expect(names).toEqual(['4.2.0', '4.2.0-beta.10', '4.2.0-beta.2', '4.1.0', '10', '9']);
});

test('versions become one row a customer, the newest version first', () => {
  const { names, rows } = versionsByCustomer([
    { customerId: '1', company: 'Clinic', appVersion: '4.9.0', machines: 1, provenMachines: 0 },
    { customerId: '1', company: 'Clinic', appVersion: '4.10.0', machines: 3, provenMachines: 2 },
    { customerId: '2', company: 'Clinic', appVersion: '4.9.0', machines: 5, provenMachines: 0 },
    { customerId: '3', company: 'Lab', appVersion: '4.9.0', machines: 2, provenMachines: 2 },
  ]);
  expect(names).toEqual(['4.10.0', '4.9.0']);
  expect(rows).toEqual([
    { customerId: '1', company: 'Clinic', figures: [figure(3, 2), figure(1, 0)] },
    { customerId: '2', company: 'Clinic', figures: [figure(0, 0), figure(5, 0)] },
    { customerId: '3', company: 'Lab', figures: [figure(0, 0), figure(2, 2)] },
  ]);
});

const point = (period: string, count: number) => ({ period, count });
// 2026-11-15 is a Sunday.
const trends = {
  activations: ['15', '16', '17', '23'].map((day, index) => point(`2026-11-${day}`, [9, 4, 6, 2][index]!)),
  customers: [],
  licenses: [],
  successRate: [point('2026-11-16', 100), point('2026-11-17', 50)],
  responseTime: [point('2026-11-16', 10), point('2026-11-17', 20)],
  codes: [
    { period: '2026-11-16', code: 'VALID' as const, count: 1 },
    { period: '2026-11-17', code: 'VALID' as const, count: 2 },
    { period: '2026-11-17', code: 'EXPIRED' as const, count: 2 },
  ],
};

test.each([
  ['a week earlier', '2026-11-13', ['2026-11-06', '2026-11-13']],
  ['four weeks earlier', '2026-10-20', ['2026-09-22', '2026-10-23']],
  ['52 weeks earlier', '2025-11-20', ['2024-11-21', '2025-11-21']],
])('the period before has the same days of the week, %s', (_, startDate, [start, end]) => {
  const before = periodBefore({ startDate, endDate: '2026-11-20' });
  expect(before).toEqual({ startDate: start, endDate: end });
  expect(new Date(before.startDate).getUTCDay()).toBe(new Date(startDate).getUTCDay());
});

test('totals count each validation once, not each day', () => {
  expect(totalsOf(trends)).toEqual({ errorRate: 40, avgResponseTime: 18 });
  expect(totalsOf({ ...trends, codes: [] })).toEqual({ errorRate: 0, avgResponseTime: 0 });
});

test.each([
  ['month', '2026-08-15', false],
  ['year', '2026-03-01', true],
] as const)('whether the days of a %s until %s are those of a year', (period, today, expected) => {
  const { startDate, endDate } = daysOf(period, new Date(today));
  const days = (Date.parse(endDate) - Date.parse(startDate)) / 86_400_000 + 1;
  expect(isYear({ ...trends, activations: Array.from({ length: days }, () => point('', 1)) })).toBe(expected);
});

test('weeks begin on Monday, and the first is a whole one', () => {
  const weeks = inWeeks(trends);
  expect(weeks.activations).toEqual([point('2026-11-16', 6), point('2026-11-23', 2)]);
  expect(weeks.successRate).toEqual([point('2026-11-16', 60)]);
  expect(weeks.responseTime).toEqual([point('2026-11-16', 18)]);
  expect(weeks.codes).toEqual([
    { period: '2026-11-16', code: 'VALID', count: 3 },
    { period: '2026-11-16', code: 'EXPIRED', count: 2 },
  ]);
});

test('a day stands beside the day of the period before that is as far from its end', () => {
  const before = { ...trends, activations: ['12', '13', '14'].map((day) => point(`2026-11-${day}`, 1)) };
  before.successRate = [point('2026-11-13', 80)];
  expect([...besides(trends, before, 'activations').keys()]).toEqual([
    '2026-11-16',
    '2026-11-17',
    '2026-11-23',
  ]);
  expect([...besides(trends, before, 'successRate')]).toEqual([['2026-11-17', 80]]);
  expect(besides(trends, undefined, 'activations').size).toBe(0);
});
