import type pg from 'pg';
import { beforeAll, expect, test } from 'vitest';
import { machineStandings as calls } from '../../../contract/machine-standing.ts';
import { machineStates } from '../../../contract/list-words.ts';
import { makeCustomer, makeLicense, softDelete } from '../../../tests/factories.ts';
import { days, eventually, openClient, startTestServer } from '../../../tests/harness.ts';

const server = await startTestServer();
const staff = server.api((await server.signInAs('super_admin')).byCookie);

const hospital = await makeCustomer(staff);
const ofHospital = { customerId: hospital.customerId };

/** Machines with any of five licenses: what happened to each of them on each license are digits of a hash. */
beforeAll(async () => {
  const trashed = await makeCustomer(staff);
  const licenseIds: string[] = [];
  for (const owner of [hospital, hospital, hospital, hospital, trashed])
    licenseIds.push((await makeLicense(staff, { customerId: owner.customerId })).licenseId);
  await softDelete(staff, trashed);
  const now = server.clock.now();
  const write = (text: string, ...values: unknown[]) => server.pool.query(text, values);
  await write("update licenses set status = 'revoked' where license_id = $1", licenseIds[1]);
  await write(
    'update licenses set valid_from = $2, valid_until = $3 where license_id = $1',
    licenseIds[2],
    new Date(now.getTime() - days(9)),
    new Date(now.getTime() - days(1)),
  );
  await write(
    'update licenses set current_activations = max_activations where license_id = $1',
    licenseIds[3],
  );
  // several of each time, and many without a seat that come first in one order and last in the other
  await write(
    `insert into machines (machine_hash, display_id, first_seen, last_seen, platform)
     select machine_hash(id), machine_display_id(machine_hash(id)), at, at, platform
       from (select 'mixed ' || n as id, $1::timestamptz - n % 40 * interval '10 minutes' as at,
                    (array['win32', 'linux', null])[1 + n % 3] as platform from generate_series(1, 150) n
             union all
             select 'idle ' || n, $1::timestamptz - interval '400 days', null from generate_series(1, 750) n) made`,
    now,
  );
  await write(
    `insert into activations (activation_id, license_id, machine_id, status, activation_type, hostname, platform,
                              offline_until, last_checked_at, created_at, updated_at)
     select gen_random_uuid(), license_id, 'mixed ' || n,
            (array['active', 'active', 'active', 'released', 'deactivated'])[1 + (h >> 4) % 5], 'automatic',
            'MIXED-' || n, 'linux', $2::timestamptz + (array[1, -1])[1 + (h >> 8) % 6] * interval '1 day',
            $2::timestamptz - (h >> 12) % 50 * interval '1 hour', $2::timestamptz - interval '9 days', $2
       from generate_series(1, 150) n, unnest($1::uuid[]) with ordinality l (license_id, i),
            lateral (select abs(hashtext(n || ' ' || i)::bigint) as h) hashed
      where h % 3 = 0`,
    licenseIds,
    now,
  );
  // some seats have a record of their own
  await write(
    `insert into machine_credentials
       (activation_id, public_key, token_id, secret_hash, enrolled_at, cloned_at, own_hash)
     select activation_id, sha256('key'), 'lym_' || activation_id, sha256('secret'), $1,
            case when h % 2 = 0 then $1::timestamptz end,
            case when h % 5 = 0 then machine_hash('idle ' || h % 700) end
       from (select activation_id, machine_id, rank() over (partition by machine_id order by license_id) as i
               from activations) a, lateral (select abs(hashtext(machine_id || i)::bigint) as h) hashed
      where h % 4 > 0`,
    now,
  );
  await write(
    `insert into refusals (license_id, machine_id, code, since, refused_at)
     select license_id, 'mixed ' || n,
            (array['VALID', 'REVOKED', 'EXPIRED', 'TOO_MANY_ACTIVATIONS', 'CUSTOMER_INACTIVE'])[i], $2, $2
       from generate_series(1, 150) n, unnest($1::uuid[]) with ordinality l (license_id, i)
      where abs(hashtext(i || ' refuses ' || n)::bigint) % 4 = 0`,
    licenseIds,
    now,
  );
  await write('analyze');
});

const find = async (query: Record<string, string>) => (await staff.call(calls.list, { query })).body;

/** All rows of a filter, page by page. */
async function pagesOf(query: Record<string, string>, limit: number) {
  const rows = [];
  for (let offset = 0; rows.length === offset; offset += limit)
    rows.push(...(await find({ ...query, limit: String(limit), offset: String(offset) })).data);
  return rows;
}

async function expectStatesAsInRows(filter: Record<string, string>): Promise<void> {
  const rows = await pagesOf(filter, 500);
  for (const state of machineStates)
    for (const sort of ['lastSeen', '-lastSeen']) {
      const query = { ...filter, state, sort };
      const expected = rows.filter((row) => row.state === state).map(({ displayId }) => displayId);
      if (sort === 'lastSeen') expected.reverse();
      const found = await pagesOf(query, Math.ceil(expected.length / 3) || 1);
      const { meta } = await find({ ...query, limit: '1' });
      const ids = found.map(({ displayId }) => displayId);
      expect([query, meta.total, ids]).toEqual([query, expected.length, expected]);
    }
}

test.each([
  {},
  { seenWithinDays: '1' },
  { unseenForDays: '30' },
  ofHospital,
  { platform: 'linux' },
  { search: 'mixed' },
])(
  'the machines in a state are those whose rows say so, each once, on all pages of %j',
  expectStatesAsInRows,
);

test('these machines are in all states', async () => {
  const rows = await pagesOf({}, 500);
  for (const state of machineStates)
    expect([state, rows.filter((row) => row.state === state).length > 5]).toEqual([state, true]);
});

test('the totals of a state are counted for each range of time', async () => {
  const totals = await Promise.all(
    [{}, { seenWithinDays: '1' }, { unseenForDays: '1' }].map(
      async (seen) => (await find({ state: 'no_seat', ...seen, limit: '1' })).meta.total,
    ),
  );
  expect(totals[0]! - totals[1]!).toBeGreaterThan(700);
  expect(totals[0]).toBe(totals[1]! + totals[2]!);
});

test('a machine leaves the list of its state at once, and its total soon', async () => {
  const first = async () => {
    const { data, meta } = await find({ state: 'active', limit: '1' });
    return { ...data[0]!, total: meta.total };
  };
  const { displayId, seat, total } = await first();
  await server.pool.query(
    `update activations set status = 'released'
      where machine_id = (select machine_id from activations where activation_id = $1)`,
    [seat?.activationId],
  );
  expect((await first()).displayId).not.toBe(displayId);
  await eventually(async () => (await first()).total === total - 1);
});

test('which of two seats of the same time a machine shows does not depend on where they are stored', async () => {
  const { licenseId } = await makeLicense(staff);
  const write = (text: string, ...values: unknown[]) =>
    server.pool.query<{ id: string }>(text, [server.clock.now(), ...values]);
  // one pair could be in the right order by chance
  for (const machine of [
    'twins 1',
    'twins 2',
    'twins 3',
    'twins 4',
    'twins 5',
    'twins 6',
    'twins 7',
    'twins 8',
  ]) {
    await write(
      `insert into machines (machine_hash, display_id, first_seen, last_seen)
       select machine_hash($2), machine_display_id(machine_hash($2)), $1, $1`,
      machine,
    );
    const { rows: twins } = await write(
      `insert into activations (activation_id, license_id, machine_id, status, activation_type, last_checked_at,
                                created_at, updated_at)
       select gen_random_uuid(), $2, $3 || n, 'active', 'automatic', $1, $1, $1 from generate_series(1, 2) n
       returning activation_id as id`,
      licenseId,
      `of ${machine}: `,
    );
    const seatOf = async (order: { id: string }[]) => {
      for (const { id } of order) {
        await server.pool.query('delete from machine_credentials where activation_id = $1', [id]);
        await write('update activations set updated_at = $1 where activation_id = $2', id);
        await write(
          `insert into machine_credentials (activation_id, public_key, token_id, secret_hash, enrolled_at, own_hash)
           values ($2, sha256('key'), 'lym_' || $2::uuid, sha256('secret'), $1, machine_hash($3))`,
          id,
          machine,
        );
      }
      return (await find({ search: machine })).data[0]?.seat?.activationId;
    };
    expect(await seatOf(twins)).toBe(await seatOf(twins.toReversed()));
  }
});

/** Machines without an activation that the table of the list does not know. */
const forgotten = async (client: Pick<pg.Client, 'query'> = server.pool) =>
  (
    await client.query(
      `select display_id from machines m
        where machine_hash not in (select coalesce(own_hash, machine_hash(machine_id))
                                     from activations left join machine_credentials using (activation_id))
          and machine_hash not in (select machine_hash from seatless_machines)`,
    )
  ).rows;

test('machines that lost their last activation are without a seat, whichever way it ended', async () => {
  const some = (of: number, text: string) => `abs(hashtext(${text}::text)::bigint) % ${of} = 0`;
  for (const statement of [
    `delete from activations where ${some(3, 'machine_id')}`,
    `delete from machine_credentials where own_hash is not null and ${some(2, 'activation_id')}`,
    `update machine_credentials set own_hash = machine_hash('idle ' || abs(hashtext(activation_id::text)) % 99)
      where ${some(4, 'activation_id')}`,
    `update machine_credentials set own_hash = null where ${some(5, 'activation_id')}`,
    "delete from licenses where status = 'revoked'",
    `insert into activations (activation_id, license_id, machine_id, status, activation_type, created_at, updated_at)
     select gen_random_uuid(), license_id, 'idle ' || n, 'active', 'automatic', now(), now()
       from (select license_id from licenses limit 1) l, generate_series(1, 90, 3) n`,
    // a kept total is another test's
    `update machines set last_seen = last_seen - interval '100 days', validated_at = null`,
  ]) {
    await server.pool.query(statement);
    expect([statement, await forgotten()]).toEqual([statement, []]);
  }
  await expectStatesAsInRows({ unseenForDays: '99' });
});

test('no machine without an activation is forgotten while many come and go at once', async () => {
  // of different customers, whose seats do not wait for each other
  const licenseIds = await Promise.all([1, 2, 3].map(async () => (await makeLicense(staff)).licenseId));
  let last = 1;
  const random = () => (last = (last * 48_271) % 2_147_483_647) / 2_147_483_647;
  const oneOf = <T>(all: readonly T[]) => all[Math.floor(random() * all.length)]!;
  const seat = `insert into activations
      (activation_id, license_id, machine_id, status, activation_type, created_at, updated_at)
    values (gen_random_uuid(), $1, $2, 'active', 'automatic', now(), now()) on conflict do nothing`;
  const end = 'delete from activations where license_id = $1 and machine_id = $2';
  const own = `insert into machine_credentials (activation_id, public_key, token_id, secret_hash, enrolled_at, own_hash)
    select activation_id, sha256('key'), 'lym_' || activation_id, sha256('secret'), now(), machine_hash('own ' || machine_id)
      from activations where license_id = $1 and machine_id = $2 on conflict do nothing`;
  const shared = `delete from machine_credentials where activation_id in (
    select activation_id from activations where license_id = $1 and machine_id = $2)`;
  const record = `insert into machines (machine_hash, display_id, first_seen, last_seen)
    select machine_hash(id), machine_display_id(machine_hash(id)), now(), now()
      from unnest(array[$2, 'own ' || $2]) id where $1::uuid is not null order by 1 on conflict do nothing`;
  const steps = [seat, seat, end, own, shared, record];
  const inTransaction = async (client: pg.Client) => {
    await client.query('begin');
    await client.query(oneOf(steps), [oneOf(licenseIds), `busy ${oneOf([1, 2, 3, 4])}`]);
    await client.query('select pg_sleep(random() / 200)');
    await client.query(oneOf(['commit', 'commit', 'commit', 'rollback']));
  };
  await Promise.all(
    Array.from({ length: 6 }, async () => {
      const client = await openClient(server.database.url);
      for (let n = 0; n < 80; n++) {
        await inTransaction(client).catch(async ({ code }: { code?: string }) => {
          // a deadlock of two such steps, or an activation that has just ended
          expect(['40P01', '55P03', '23503']).toContain(code);
          await client.query('rollback');
        });
        expect(await forgotten(client)).toEqual([]);
      }
    }),
  );
});
