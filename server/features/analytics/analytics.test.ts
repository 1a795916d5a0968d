import { describe, expect, test } from 'vitest';
import { analytics as calls } from '../../../contract/analytics.ts';
import {
  deactivate,
  enrollOn,
  machinesOf,
  makeApiKey,
  makeCustomer,
  makeLicense,
  softDelete,
  validateOn,
} from '../../../tests/factories.ts';
import { countOf } from '../../db/sql.ts';
import { days, eventually, hours, movableClock, startTestServer } from '../../../tests/harness.ts';

const clock = movableClock('2026-11-20T23:30:00.000Z');

const week = { startDate: '2026-11-15', endDate: '2026-11-21' };

/** Waits until the counts include this many validations. */
const counted = (expected: number) =>
  eventually(async () => {
    const { sum } = await server.db
      .selectFrom('validation_days')
      .select((eb) => eb.fn.coalesce(eb.fn.sum<string>('validations'), eb.lit(0)).as('sum'))
      .executeTakeFirstOrThrow();
    expect(Number(sum)).toBe(expected);
  });

const server = await startTestServer({ clock });
let staff = server.api(await server.signInAs('super_admin'));
const desktop = server.api(await makeApiKey(staff));
const clinic = await makeCustomer(staff, { name: 'Clinic' });
const lab = await makeCustomer(staff, { name: 'Lab' });
const gone = await makeCustomer(staff, { name: 'Gone' });
const big = await makeLicense(staff, { customerId: clinic.customerId, maxActivations: 5 });
const small = await makeLicense(staff, { customerId: lab.customerId, maxActivations: 1 });
const soon = await makeLicense(staff, { customerId: lab.customerId, validUntil: '2026-12-02T00:00:00Z' });
const ended = await makeLicense(staff, { customerId: gone.customerId });
await softDelete(staff, gone);
// 20 November, half an hour before midnight UTC
for (const machine of ['a', 'b', 'c'])
  await validateOn(desktop, big, machine, { appVersion: machine === 'c' ? '4.1.0' : '4.2.0' });
await validateOn(desktop, big, 'a', { appVersion: '4.2.0' });
await validateOn(desktop, small, 'x', {});
await validateOn(desktop, small, 'y', {});
await validateOn(desktop, ended, 'z', {});
await counted(7);
// 21 November
clock.advance(hours(1));
staff = server.api(await server.signInAs('super_admin'));
await validateOn(desktop, big, 'a', { appVersion: '4.2.0' });
await validateOn(desktop, big, 'a', { appVersion: '4.2.0' });
await validateOn(desktop, soon, 'x', {});
await counted(10);
const [first] = await machinesOf(staff, small);
await deactivate(staff, first!);

describe('trends', () => {
  test('count each machine, license and customer once a UTC day, and days without any as zero', async () => {
    const trends = await staff.ok(calls.trends, { query: week });
    const on = (series: { period: string; count: number }[]) =>
      Object.fromEntries(series.map((p) => [p.period, p.count]));
    expect(on(trends.activations)).toMatchObject({
      '2026-11-15': 0,
      '2026-11-19': 0,
      '2026-11-20': 4,
      '2026-11-21': 2,
    });
    expect(on(trends.licenses)).toMatchObject({ '2026-11-20': 2, '2026-11-21': 2 });
    expect(on(trends.customers)).toMatchObject({ '2026-11-20': 2, '2026-11-21': 2 });
    expect(trends.activations).toHaveLength(7);
  });

  test('give the success rate and response time only of days that have validations', async () => {
    const trends = await staff.ok(calls.trends, { query: week });
    expect(trends.successRate).toEqual([
      { period: '2026-11-20', count: expect.closeTo((100 * 5) / 7, 6) },
      { period: '2026-11-21', count: 100 },
    ]);
    expect(trends.responseTime.map((p) => p.period)).toEqual(['2026-11-20', '2026-11-21']);
    expect(trends.responseTime.every((p) => p.count > 0)).toBe(true);
  });

  test('say why machines failed', async () => {
    const { codes } = await staff.ok(calls.trends, { query: week });
    expect(codes).toEqual(
      expect.arrayContaining([
        { period: '2026-11-20', code: 'VALID', count: 5 },
        { period: '2026-11-20', code: 'TOO_MANY_ACTIVATIONS', count: 1 },
        { period: '2026-11-20', code: 'CUSTOMER_INACTIVE', count: 1 },
      ]),
    );
  });

  test('are the same sums as the validations themselves', async () => {
    const { codes } = await staff.ok(calls.trends, { query: week });
    const raw = await countOf(server.db.selectFrom('validations'));
    expect(codes.reduce((sum, { count }) => sum + count, 0)).toBe(raw);
  });
});

describe('health', () => {
  test('counts licenses that are valid now, of customers that are active', async () => {
    const health = await staff.ok(calls.health, {});
    expect(health).toMatchObject({
      activeLicenses: 3,
      activeCustomers: 2,
      totalActivations: 4,
      lastUpdated: clock.now().toISOString(),
    });
    expect(health.errorRate).toBeCloseTo(20, 6);
    expect(health.avgResponseTime).toBeGreaterThan(0);
  });
});

describe('customers', () => {
  test('are ranked by their machines in the period, without deleted ones', async () => {
    await enrollOn(server, big, 'b');
    const use = await staff.ok(calls.customers, { query: week });
    expect(use.customers.map(({ company, activeUsers }) => [company, activeUsers])).toEqual([
      ['Clinic', 3],
      ['Lab', 1],
    ]);
    expect(use.summary).toEqual({ active: 2, byType: { organization: 2 } });
    expect(use.versions).toContainEqual({
      customerId: clinic.customerId,
      company: 'Clinic',
      appVersion: '4.2.0',
      machines: 2,
      provenMachines: 1,
    });
  });

  test('show what expires this week and in each of the next 13, from Monday', async () => {
    await makeLicense(staff, { customerId: clinic.customerId, validUntil: '2027-02-20T00:00:00Z' });
    const { expiring } = await staff.ok(calls.customers, { query: week });
    expect(expiring).toHaveLength(14);
    expect(expiring[0]!.weekStart).toBe('2026-11-16');
    expect(expiring.filter((w) => w.count > 0)).toEqual([
      { weekStart: '2026-11-30', count: 1 },
      { weekStart: '2027-02-15', count: 1 },
    ]);
  });
});

describe('periods', () => {
  test.each([
    [{ startDate: '2026-11-21', endDate: '2026-11-20' }, 'endDate: Must not be before startDate'],
    [{ startDate: '2026-13-01', endDate: '2026-11-20' }, 'startDate: Must be a date such as 2026-11-20'],
    [{ startDate: '2026-02-31', endDate: '2026-11-20' }, 'startDate: Must be a date such as 2026-11-20'],
    [
      { startDate: '0000-01-01', endDate: '0000-01-02' },
      'startDate: Must lie between the years 1970 and 9999',
    ],
    [{ startDate: '1990-01-01', endDate: '2026-11-20' }, 'startDate: At most ten years'],
  ])('%o are refused', async (query, sentence) => {
    const answer = await staff.call(calls.trends, { query });
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ error: expect.stringContaining(sentence) });
  });
});

test('the calls answer under the relative words of the spec as well', async () => {
  const { headers } = await server.signInAs('viewer');
  const period = 'startDate=2026-11-15&endDate=2026-11-21';
  for (const address of ['health', `trends?${period}`, `customers?${period}`]) {
    const answer = await fetch(`${server.url}/analytics/${address}`, { headers });
    expect([answer.status, await answer.json()], address).toEqual([
      200,
      { success: true, data: expect.any(Object) },
    ]);
  }
});

test('a machine that is seen on many days is counted on each, whatever the order of the batches', async () => {
  const license = await makeLicense(staff);
  for (let day = 0; day < 3; day++) {
    clock.advance(days(1));
    await validateOn(desktop, license, 'm', {});
  }
  const { rows } = await eventually(async () => {
    const found = await server.db
      .selectFrom('active_days')
      .selectAll()
      .where('day', '>', new Date('2026-11-21'))
      .execute();
    expect(found).toHaveLength(3);
    return { rows: found };
  });
  expect(rows.map((row) => row.machines)).toEqual([1, 1, 1]);
});

test('ten customers are ranked, however many there are', async () => {
  // the clock of the tests before ended the session
  staff = server.api(await server.signInAs('super_admin'));
  for (let n = 0; n < 11; n++) await validateOn(desktop, await makeLicense(staff), 'm', {});
  const today = clock.now().toISOString().slice(0, 10);
  const use = await staff.ok(calls.customers, { query: { startDate: today, endDate: today } });
  expect(use.customers).toHaveLength(10);
});

test('versions are those of each customer in the period, also of two with one name', async () => {
  clock.advance(days(1));
  const [begun, next] = [0, 1].map((n) =>
    new Date(clock.now().getTime() + days(n)).toISOString().slice(0, 10),
  );
  staff = server.api(await server.signInAs('super_admin'));
  const [east, west] = [
    await makeCustomer(staff, { name: 'Twin' }),
    await makeCustomer(staff, { name: 'Twin' }),
  ];
  const [onEast, onWest] = [
    await makeLicense(staff, { customerId: east.customerId }),
    await makeLicense(staff, { customerId: west.customerId }),
  ];
  for (const [license, machine] of [
    [onEast, 'e1'],
    [onEast, 'e2'],
    [onWest, 'w'],
  ] as const)
    await validateOn(desktop, license, machine, { appVersion: '5.0.0' });
  clock.advance(days(1));
  staff = server.api(await server.signInAs('super_admin'));
  await validateOn(desktop, onWest, 'of the next day', { appVersion: '5.1.0' });
  const versionsUntil = async (endDate: string) => {
    const { versions } = await staff.ok(calls.customers, { query: { startDate: begun!, endDate } });
    return versions
      .filter(({ company }) => company === 'Twin')
      .map(({ customerId, appVersion, machines }) => [customerId, appVersion, machines])
      .toSorted();
  };
  expect(await versionsUntil(begun!)).toEqual([
    [east.customerId, '5.0.0', 2],
    [west.customerId, '5.0.0', 1],
  ]);
  expect(await versionsUntil(next!)).toEqual([
    [east.customerId, '5.0.0', 2],
    [west.customerId, '5.0.0', 1],
    [west.customerId, '5.1.0', 1],
  ]);
});
