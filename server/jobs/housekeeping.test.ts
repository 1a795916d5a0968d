import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { makeApiKey, makeLicense, validateOn } from '../../tests/factories.ts';
import {
  createTestDatabase,
  days,
  eventually,
  movableClock,
  startTestServer,
  type TestServer,
  checkedTime,
} from '../../tests/harness.ts';
import { housekeep } from './housekeeping.ts';

const server = await startTestServer({
  // before all that the tests set: a session from the future is not taken
  clock: movableClock('2026-06-01T00:00:00Z'),
  config: { sessionIdleMs: days(9999), sessionMaxMs: days(9999) },
});
const staff = server.api((await server.signInAs('super_admin')).byCookie);

/** Validations by the partition that they lie in. */
async function lying(on: Pick<TestServer, 'db'> = server): Promise<Record<string, number>> {
  const { rows } = await sql<{ place: string; count: number }>`
    select tableoid::regclass::text as place, count(*) as count from validations group by 1 order by 1`.execute(
    on.db,
  );
  return Object.fromEntries(rows.map((row) => [row.place, row.count]));
}

/** Validates a machine at that time, and waits until it is recorded. */
async function validateAt(at: string): Promise<void> {
  server.clock.set(at);
  const before = Object.values(await lying()).reduce((sum, n) => sum + n, 0);
  await validateOn(server.api(await makeApiKey(staff)), await makeLicense(staff), 'a machine');
  await eventually(async () =>
    expect(Object.values(await lying()).reduce((sum, n) => sum + n, 0)).toBe(before + 1),
  );
}

describe('single validations', () => {
  test('lie by month, also those of before the month was made', async () => {
    await validateAt('2026-11-02T00:00:00Z');
    expect(await lying()).toEqual({ validations_other: 1 });
    server.clock.set('2026-11-20T09:30:00Z');
    const months = ['validations_2026_11', 'validations_2026_12', 'validations_2027_01'];
    expect(await housekeep(server.context, checkedTime(server))).toEqual({ made: months, dropped: [] });
    await validateAt('2026-12-31T23:59:59.999Z');
    expect(await lying()).toEqual({ validations_2026_11: 1, validations_2026_12: 1 });
  });

  test('go when all of their month are older than the policy, and the counts of their days stay', async () => {
    server.clock.set('2027-02-28T00:00:00Z');
    expect((await housekeep(server.context, checkedTime(server)))?.dropped).toEqual([]);
    server.clock.set('2027-03-02T00:00:00Z');
    expect((await housekeep(server.context, checkedTime(server)))?.dropped).toEqual(['validations_2026_11']);
    expect(await lying()).toEqual({ validations_2026_12: 1 });
    const counted = await server.db.selectFrom('validation_days').select('validations').execute();
    expect(counted).toEqual([{ validations: 1 }, { validations: 1 }]);
  });

  test('outside of every month go by their age', async () => {
    await validateAt('2026-06-01T00:00:00Z');
    await validateAt('2027-09-01T00:00:00Z');
    expect((await lying()).validations_other).toBe(2);
    server.clock.set('2026-09-01T00:00:00Z');
    await housekeep(server.context, checkedTime(server));
    expect((await lying()).validations_other).toBe(1);
  });

  test('are cleaned by one process at a time', async () => {
    server.clock.set('2030-01-01T00:00:00Z');
    const outcomes = await Promise.all(
      [1, 2, 3, 4].map(() => housekeep(server.context, checkedTime(server))),
    );
    expect(outcomes.flatMap((kept) => kept?.made ?? [])).toHaveLength(3);
  });
});

test('validations of before there were months stay together until the latest has served its time', async () => {
  const database = await createTestDatabase();
  const own = await startTestServer({ database });
  // the table as it was
  await own.pool.query(`
    drop table validations;
    create table validations (
      validation_id bigint generated always as identity primary key, occurred_at timestamptz(3) not null,
      code text not null, duration_us integer not null, license_id uuid, customer_id uuid, machine_id text,
      api_key_id uuid, app_version text);
    create index validations_by_time on validations using brin (occurred_at);
    insert into validations (occurred_at, code, duration_us)
      values ('2025-01-01Z', 'VALID', 1), ('2026-10-31T23:59:59Z', 'VALID', 1)`);
  const migration = join(import.meta.dirname, '../db/migrations/0014_validation_months.sql');
  await own.pool.query(await readFile(migration, 'utf8'));
  await sql`insert into validations (occurred_at, code, duration_us) values ('2026-11-01Z', 'VALID', 1)`.execute(
    own.db,
  );
  expect(await lying(own)).toEqual({ validations_2026_10: 2, validations_other: 1 });
  const { rows } = await own.pool.query('select validation_id from validations order by occurred_at');
  expect(rows.map((row) => (row as { validation_id: number }).validation_id)).toEqual([1, 2, 3]);
  own.clock.set('2027-01-29T00:00:00Z');
  expect((await housekeep(own.context, checkedTime(own)))?.dropped).toEqual([]);
  own.clock.set('2027-02-01T00:00:00Z');
  expect((await housekeep(own.context, checkedTime(own)))?.dropped).toEqual(['validations_2026_10']);
  await own.close();
});
