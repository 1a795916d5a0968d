import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { customers } from '../../contract/customers.ts';
import { enrollOn, makeApiKey, makeLicense, makeRelease, validateOn } from '../../tests/factories.ts';
import {
  createTestDatabase,
  days,
  eventually,
  movableClock,
  startTestServer,
  type TestServer,
  checkedTime,
} from '../../tests/harness.ts';
import { systemChange } from '../change.ts';
import { checkClock } from '../checked-time.ts';
import { locks, waitForLock } from '../db/locks.ts';
import { countOf } from '../db/sql.ts';
import { machineHashOf } from '../machine-hash.ts';
import { housekeep } from './housekeeping.ts';

const server = await startTestServer({
  // before all that the tests set: a session from the future is not taken
  clock: movableClock('2026-06-01T00:00:00Z'),
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

/** How many months of that year have a partition. */
const monthsOf = async (year: number): Promise<number> =>
  (await sql`select from pg_class where relname ~ ${`^validations_${year}_..$`}`.execute(server.db)).rows
    .length;

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
    await Promise.all([1, 2, 3, 4].map(() => housekeep(server.context, checkedTime(server))));
    expect(await monthsOf(2030)).toBe(3);
  });

  test('get their months also while another process is in another part of the work', async () => {
    server.clock.set('2031-01-01T00:00:00Z');
    await server.db.transaction().execute(async (tx) => {
      await waitForLock(tx, locks.housekeeping);
      expect(await housekeep(server.context, checkedTime(server)), 'not all is done').toBeUndefined();
    });
    expect(await monthsOf(2031)).toBe(3);
  });
});

test('what a large fleet leaves behind every day is removed in parts, so that no statement takes too long', async () => {
  const own = await startTestServer();
  await sql`insert into counted_today (day, kind, id)
    select '2020-01-01', 'machine', gen_random_uuid() from generate_series(1, 45000)`.execute(own.db);
  await sql`create function refuse_many() returns trigger language plpgsql as $$ begin
    if (select count(*) from gone) > 20000 then raise 'too many rows for one statement'; end if; return null; end $$`.execute(
    own.db,
  );
  await sql`create trigger refuse_many after delete on counted_today referencing old table as gone
    for each statement execute function refuse_many()`.execute(own.db);
  await housekeep(own.context, checkedTime(own));
  expect(await countOf(own.db.selectFrom('counted_today'))).toBe(0);
});

test('a part that fails prevents no other', async () => {
  const own = await startTestServer();
  await own.pool.query(`
    insert into login_failures (subject, window_start, failures) values ('ip:192.0.2.1', '2020-01-01', 1);
    create function refuse() returns trigger language plpgsql as $$ begin raise 'refused'; end $$;
    create trigger refuse before delete on login_failures execute function refuse()`);
  await expect(housekeep(own.context, checkedTime(own))).rejects.toThrow('refused');
  const { rowCount } = await own.pool.query(`select from pg_class where relname ~ '^validations_2026_..$'`);
  expect(rowCount).toBeGreaterThan(0);
});

describe('a clock that was wrong', () => {
  const start = async () => {
    const own = await startTestServer();
    await systemChange(own.context, own.clock.now(), ({ tx, now }) => checkClock(tx, now));
    return own;
  };

  test('by which an answer was stored too early removes it no sooner, so that the request is done once', async () => {
    const own = await start();
    own.clock.advance(-days(30));
    const api = own.api((await own.signInAs('super_admin')).byCookie);
    const create = () =>
      api.call(customers.create, { body: { name: 'Once', country: 'DE' } }, { 'idempotency-key': 'k' });
    const { customerId } = (await create()).body.data;
    own.clock.advance(days(30));
    await housekeep(own.context, checkedTime(own));
    expect((await create()).body.data.customerId).toBe(customerId);
  });

  test('and ahead leaves machines and rollouts no time to come, except a planned start', async () => {
    const own = await start();
    const api = own.api((await own.signInAs('super_admin')).byCookie);
    const inDays = (n: number) => new Date(own.clock.now().getTime() + days(n));
    const [ahead, dayAhead] = [inDays(30), '2026-12-20'];
    const [license, other] = [await makeLicense(api), await makeLicense(api)];
    const key = own.api(await makeApiKey(api));
    await enrollOn(own, license, 'ahead');
    for (const [on, name] of [
      [license, 'ahead'],
      [other, 'right'],
    ] as const)
      await validateOn(key, on, name);
    await eventually(async () => (await own.db.selectFrom('machines').selectAll().execute()).length === 2);
    const [running, planned] = [await makeRelease(own), await makeRelease(own)];
    await sql`
      update machines set last_seen = ${ahead}, validated_at = ${ahead}, first_check = ${ahead}, last_check_day = ${dayAhead}
       where machine_hash = decode(${machineHashOf('ahead')}, 'hex')`.execute(own.db);
    await sql`
      update activations set last_checked_at = ${ahead}, answered_at = ${ahead}, counted_day = ${dayAhead}
       where machine_id = 'ahead'`.execute(own.db);
    await sql`update license_days set seen_day = ${dayAhead} where license_id = ${license.licenseId}`.execute(
      own.db,
    );
    await sql`update machine_credentials set seen_at = ${ahead}, moved_back_at = ${ahead}`.execute(own.db);
    await sql`
      update releases set failures_from = ${ahead}, full_at = ${ahead}, verified_at = ${ahead},
             step_started_at = ${ahead}, paused_at = ${ahead}, created_at = ${ahead}, release_date = ${ahead},
             damaged_at = ${ahead}, deleted_at = case when release_id = ${running.id} then ${ahead}::timestamptz end`.execute(
      own.db,
    );
    const published = await makeRelease(own);
    await sql`update releases set failures_from = ${inDays(31)}, created_at = ${ahead} where release_id = ${published.id}`.execute(
      own.db,
    );
    await sql`insert into license_refusals (license_id, code, last_at) values (${license.licenseId}, 'EXPIRED', ${ahead})`.execute(
      own.db,
    );
    await sql`insert into refusals (license_id, machine_id, code, since, refused_at)
      values (${license.licenseId}, 'refused', 'EXPIRED', ${ahead}, ${inDays(31)})`.execute(own.db);
    await sql`update releases set plan_starts_at = ${ahead} where release_id = ${planned.id}`.execute(own.db);

    await housekeep(own.context, checkedTime(own));
    const now = own.clock.now();
    const machines = await own.db
      .selectFrom('machines')
      .select(['last_seen', 'validated_at', 'first_check', 'last_check_day'])
      .execute();
    for (const machine of machines) expect(machine).toMatchObject({ last_seen: now, validated_at: now });
    expect(new Set(machines.map(({ first_check: at }) => at?.getTime()))).toEqual(
      new Set([now.getTime(), undefined]),
    );
    expect(machines.map(({ last_check_day: day }) => day?.toISOString().slice(0, 10)).toSorted()).toEqual([
      '2026-11-20',
      undefined,
    ]);
    const seats = own.db.selectFrom('activations').where('machine_id', '=', 'ahead');
    expect(await seats.select(['last_checked_at', 'answered_at']).execute()).toEqual([
      { last_checked_at: now, answered_at: now },
    ]);
    expect(
      await own.db.selectFrom('machine_credentials').select(['seen_at', 'moved_back_at']).execute(),
    ).toEqual([{ seen_at: now, moved_back_at: now }]);
    const seen = await own.db.selectFrom('license_days').select('seen_day').execute();
    expect(seen.map(({ seen_day: day }) => day.toISOString().slice(0, 10))).toEqual([
      '2026-11-20',
      '2026-11-20',
    ]);
    const stepOf = async (id: string) =>
      own.db
        .selectFrom('releases')
        .select([
          'failures_from',
          'full_at',
          'verified_at',
          'step_started_at',
          'paused_at',
          'damaged_at',
          'created_at',
          'release_date',
          'deleted_at',
        ])
        .where('release_id', '=', id)
        .executeTakeFirstOrThrow();
    const right = {
      failures_from: now,
      full_at: now,
      verified_at: now,
      paused_at: now,
      damaged_at: now,
      created_at: now,
      release_date: now,
    };
    expect(await stepOf(running.id)).toEqual({ ...right, step_started_at: now, deleted_at: now });
    expect(await stepOf(planned.id)).toEqual({ ...right, step_started_at: ahead, deleted_at: null });
    const { failures_from, created_at } = await stepOf(published.id);
    expect(failures_from, 'that it was published is still known').toEqual(now);
    expect(+created_at).toBeLessThan(+now);
    expect(await own.db.selectFrom('license_refusals').select('last_at').execute()).toEqual([
      { last_at: now },
    ]);
    expect(await own.db.selectFrom('refusals').select(['since', 'refused_at']).execute()).toEqual([
      { since: now, refused_at: now },
    ]);
  });

  test('and ahead is corrected for releases and what is kept too, where machines are locked', async () => {
    const own = await start();
    const api = own.api((await own.signInAs('super_admin')).byCookie);
    await validateOn(own.api(await makeApiKey(api)), await makeLicense(api), 'busy');
    await eventually(async () => (await own.db.selectFrom('machines').selectAll().execute()).length === 1);
    await makeRelease(own);
    const ahead = new Date(own.clock.now().getTime() + days(3));
    await sql`update releases set failures_from = ${ahead}`.execute(own.db);
    await sql`update machines set last_seen = ${ahead}, validated_at = ${ahead}`.execute(own.db);
    await sql`update activations set last_checked_at = ${ahead}`.execute(own.db);
    await sql`update license_days set seen_day = '2026-11-23'`.execute(own.db);
    const holder = await own.pool.connect();
    await holder.query('begin; select from license_days for update');
    own.context.config.databaseLimitFactor = 1;
    await expect(housekeep(own.context, checkedTime(own))).rejects.toThrow('lock timeout');
    await holder.query('rollback');
    holder.release();
    const { failures_from } = await own.db
      .selectFrom('releases')
      .select('failures_from')
      .executeTakeFirstOrThrow();
    expect(failures_from).toEqual(own.clock.now());
    // not earlier than the day of its license, by which the list of licenses not seen leaves it out
    expect(await own.db.selectFrom('activations').select('last_checked_at').execute()).toEqual([
      { last_checked_at: ahead },
    ]);
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
  // the last was recorded by a clock ahead
  own.clock.set('2026-09-20T00:00:00Z');
  expect((await housekeep(own.context, checkedTime(own)))?.made).toEqual(['validations_2026_11']);
  own.clock.set('2027-01-29T00:00:00Z');
  expect((await housekeep(own.context, checkedTime(own)))?.dropped).toEqual([]);
  own.clock.set('2027-02-01T00:00:00Z');
  expect((await housekeep(own.context, checkedTime(own)))?.dropped).toEqual(['validations_2026_10']);
});
