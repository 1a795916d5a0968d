import * as fc from 'fast-check';
import { sql } from 'kysely';
import type pg from 'pg';
import { expect, test } from 'vitest';
import { analytics as calls } from '../contract/analytics.ts';
import { customers } from '../contract/customers.ts';
import { licenses, type License } from '../contract/licenses.ts';
import { activations } from '../contract/activations.ts';
import { makeApiKey, makeCustomer, makeLicense, validateOn } from './factories.ts';
import {
  createTestDatabase,
  days,
  eventually,
  movableClock,
  numbers,
  openClient,
  startTestServer,
  startTwin,
  type Api,
} from './harness.ts';
import { knownMigrations, makeSchema, migrate } from '../server/db/migrate.ts';
import { countOf, isOfOwner } from '../server/db/sql.ts';

type Step = {
  kind: (typeof kinds)[number];
  license: number;
  customer: number;
  machine: number;
  inTwin: boolean;
};
type Queries = Pick<pg.Client, 'query'> | Pick<pg.Pool, 'query'>;

const kinds = ['seat', 'seat', 'seat', 'again', 'transfer', 'delete', 'bin', 'restore', 'purge'] as const;
const steps = fc.array(
  fc.record({
    kind: fc.constantFrom(...kinds),
    license: fc.nat(),
    customer: fc.nat(),
    machine: fc.nat(5),
    inTwin: fc.boolean(),
  }),
  { minLength: 12, maxLength: 16 },
);

const clock = movableClock();
const server = await startTestServer({ clock });
const twin = await startTwin(server);

test('what is kept gives the customers with the most machines, and the licenses not seen, that all machines give', async () => {
  const begun = server.api(await server.signInAs('super_admin'));
  const key = await makeApiKey(begun);
  const desktops = [server.api(key), twin.api(key)] as const;
  let validations = 0;
  const validate = (license: License, machine: string, desktop = desktops[0]) => {
    validations += 1;
    return validateOn(desktop, license, machine);
  };
  const owners = await Promise.all(numbers(40).map(() => makeCustomer(begun)));
  const made = await Promise.all(
    owners.map(({ customerId }) => makeLicense(begun, { customerId, maxActivations: 9 })),
  );
  await Promise.all(
    made.flatMap((license, n) => numbers(1 + (n % 3)).map((machine) => validate(license, `${machine}`))),
  );

  /** What an earlier step has made impossible is refused. */
  async function take(api: Api, desktop: Api, { kind, machine, ...one }: Step) {
    const license = made[one.license % made.length]!;
    const byLicense = { params: { id: license.licenseId } };
    const { customerId } = owners[one.customer % owners.length]!;
    const byOwner = { params: { id: customerId } };
    if (kind === 'seat') await validate(license, `${machine}`, desktop);
    if (kind === 'again') {
      const { body } = await api.call(activations.list, { params: { licenseKey: license.licenseKey } });
      const [seat] = body.data ?? [];
      if (seat) await api.call(activations.deactivate, { params: seat, body: { machineId: seat.machineId } });
      await validate(license, `${machine}`, desktop);
    }
    if (kind === 'transfer') await api.call(licenses.transfer, { ...byLicense, body: { customerId } });
    if (kind === 'delete') await api.call(licenses.revoke, byLicense);
    if (kind === 'delete') await api.call(licenses.delete, byLicense);
    if (kind === 'bin' || kind === 'purge') await api.call(customers.softDelete, byOwner);
    if (kind === 'restore') await api.call(customers.restore, byOwner);
    if (kind === 'purge') await api.call(customers.hardDelete, byOwner);
  }

  async function expectSame(staff: Api, startDate: string, endDate: string) {
    const { rows: counted } = await sql<{ id: string; machines: number }>`
      select l.customer_id as id, count(distinct a.machine_id) as machines
        from activations a join licenses l using (license_id) join customers c using (customer_id)
       where c.deleted_at is null and ${isOfOwner} and a.last_checked_at >= ${startDate}::date::timestamp at time zone 'UTC'
         and a.created_at < (${endDate}::date + 1)::timestamp at time zone 'UTC'
       group by 1 order by 2 desc`.execute(server.db);
    const { customers: top } = await staff.ok(calls.customers, { query: { startDate, endDate } });
    const most = counted.slice(0, 10).map(({ machines }) => machines);
    expect(top.map(({ activeUsers }) => activeUsers)).toEqual(most);
    // which of several with as many are the last of the ten is open
    for (const { customerId, activeUsers } of top)
      expect(counted.find(({ id }) => id === customerId)?.machines).toBe(activeUsers);
  }

  async function expectSameUnseen(staff: Api, unseenForDays: number) {
    const since = new Date(clock.now().getTime() - days(unseenForDays));
    const { rows: compared } = await sql<{ id: string }>`
      select license_id as id from licenses l where created_at <= ${since} and not exists (
        select from activations a where a.license_id = l.license_id and a.last_checked_at > ${since})
       order by created_at, license_id`.execute(server.db);
    const query = { unseenForDays: `${unseenForDays}`, sort: 'createdAt' } as const;
    const found = await staff.ok(licenses.list, { query });
    expect(found.map(({ licenseId }) => licenseId)).toEqual(compared.map(({ id }) => id));
  }

  const daysOfSteps = fc.array(steps, { minLength: 4, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(daysOfSteps, async (all) => {
      for (const today of all) {
        clock.advance(days(1));
        const staff = [server, twin].map(async (one) => one.api(await one.signInAs('super_admin')));
        const [here, there] = (await Promise.all(staff)) as [Api, Api];
        await Promise.all(
          today.map((step) => (step.inTwin ? take(there, desktops[1], step) : take(here, desktops[0], step))),
        );
        await eventually(async () => (await countOf(server.db.selectFrom('validations'))) === validations);
        const day = (ago: number) => new Date(clock.now().getTime() - days(ago)).toISOString().slice(0, 10);
        await expectSame(here, day(0), day(0));
        await expectSame(here, day(2), day(0));
        await expectSame(here, day(30), day(0));
        await expectSame(here, day(30), day(2));
        for (const ago of [1, 2, 3, 4, 5]) await expectSameUnseen(here, ago);
        expect(await kept(server.pool)).toEqual(await counted(server.pool));
      }
    }),
    { numRuns: 1, endOnFailure: true },
  );
});

test('machines that take seats in two processes, while their licenses are transferred to and fro, are counted once', async () => {
  const staff = [server, twin].map(async (one) => one.api(await one.signInAs('super_admin')));
  const [here, there] = (await Promise.all(staff)) as [Api, Api];
  const key = await makeApiKey(here);
  const [east, west] = [await makeCustomer(here), await makeCustomer(here)];
  const made = [
    await makeLicense(here, { customerId: east.customerId, maxActivations: 20 }),
    await makeLicense(here, { customerId: west.customerId, maxActivations: 20 }),
  ];
  const seats = made.flatMap((license) =>
    numbers(20).map((n) => validateOn((n % 2 ? server : twin).api(key), license, `${n}`)),
  );
  const transfers = made.map(async ({ licenseId }, n) => {
    for (const { customerId } of [east, west, east, west].slice(n))
      await (n ? here : there).call(licenses.transfer, { params: { id: licenseId }, body: { customerId } });
  });
  await Promise.all([...seats, ...transfers]);
  expect(await kept(server.pool)).toEqual(await counted(server.pool));
});

test('licenses that change places, and a customer that is deleted while a machine takes a seat, do not deadlock', async () => {
  const staff = server.api(await server.signInAs('super_admin'));
  const key = server.api(await makeApiKey(staff));
  const [east, west] = [await makeCustomer(staff), await makeCustomer(staff)];
  const made = [
    await makeLicense(staff, { customerId: east.customerId }),
    await makeLicense(staff, { customerId: west.customerId }),
  ] as const;
  for (const license of made) await validateOn(key, license, 'a');
  const clients = await Promise.all(numbers(3).map(() => openClient(server.database.url)));
  const [first, second, holder] = clients as [pg.Client, pg.Client, pg.Client];
  const give = (client: pg.Client, { licenseId }: License, { customerId }: { customerId: string }) =>
    client.query('update licenses set customer_id = $2 where license_id = $1', [licenseId, customerId]);
  await holder.query('begin');
  await holder.query('select from customer_machines where customer_id = $1 for update', [west.customerId]);
  const back = give(second, made[1], east);
  await untilWaiting(holder, 1);
  const gifts = Promise.all([back, give(first, made[0], west)]);
  await untilWaiting(holder, 2);
  await holder.query('commit');
  await gifts;

  await first.query('begin');
  await first.query('select from licenses where license_id = $1 for update', [made[0].licenseId]);
  const deletion = second.query('delete from customers where customer_id = $1', [west.customerId]);
  await untilWaiting(holder, 1);
  await first.query(
    `insert into activations (activation_id, license_id, machine_id, status, activation_type, created_at, updated_at)
     values (gen_random_uuid(), $1, 'b', 'active', 'automatic', now(), now())`,
    [made[0].licenseId],
  );
  await first.query('commit');
  await deletion;
  expect(await kept(server.pool)).toEqual(await counted(server.pool));
});

test('a migration fills in what was not kept before', async () => {
  const { url } = await createTestDatabase({ empty: true });
  const client = await openClient(url);
  const before = (await knownMigrations()).filter((name) => name < '0045');
  await makeSchema(client, before);
  await client.query(`
    insert into customers (customer_id, name, country, created_at, updated_at)
      select gen_random_uuid(), 'Clinic ' || n, 'DE', now(), now() from generate_series(1, 3) n;
    insert into licenses (license_id, license_key, customer_id, type, valid_from, valid_until, max_activations,
                          created_at, updated_at)
      select gen_random_uuid(), name || n, customer_id, 'trial', now(), now() + interval '1 day', 9, now(), now()
        from customers, generate_series(1, 2) n where name <> 'Clinic 3';
    insert into activations (activation_id, license_id, machine_id, status, activation_type, last_checked_at,
                             created_at, updated_at)
      select gen_random_uuid(), license_id, n::text, 'released', 'automatic',
             '2026-11-21T01:30:00+02:00'::timestamptz - n * interval '1 day' + interval '1 day', now(), now()
        from licenses, generate_series(1, 3) n where license_key <> 'Clinic 21'`);
  await migrate(url);
  expect((await kept(client)).map(({ machines }) => machines).toSorted()).toEqual([3, 6]);
  expect(await kept(client)).toEqual(await counted(client));
  const { rows: seen } = await client.query(
    'select seen_day::text as day, count(*)::int as licenses from license_days group by 1 order by 1',
  );
  expect(seen).toEqual([
    { day: '-infinity', licenses: 1 },
    { day: '2026-11-20', licenses: 3 },
  ]);
});

test('a license is written while the days of all licenses are filled in', async () => {
  const { url } = await createTestDatabase({ empty: true });
  const [reader, writer] = [await openClient(url), await openClient(url)];
  await makeSchema(
    reader,
    (await knownMigrations()).filter((name) => name < '0046'),
  );
  await reader.query('begin; lock table activations');
  const migrated = migrate(url);
  await untilWaiting(writer, 1);
  const held = await writer.query(
    `select from pg_locks where relation = 'licenses'::regclass and mode = 'ShareRowExclusiveLock'
        and database = (select oid from pg_database where datname = current_database())`,
  );
  await reader.query('commit');
  await migrated;
  expect(held.rowCount).toBe(0);
});

const untilWaiting = (client: pg.Client, n: number) =>
  eventually(async () => {
    const { rowCount } = await client.query(
      `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
    );
    expect(rowCount).toBe(n);
  });

type Counted = { id: string; machines: number };

const kept = async (db: Queries): Promise<Counted[]> =>
  (
    await db.query<Counted>(
      `select customer_id as id, machines from customer_machines left join customers c using (customer_id)
        where machines <> 0 or c.customer_id is null order by 1`,
    )
  ).rows;

const counted = async (db: Queries): Promise<Counted[]> =>
  (
    await db.query<Counted>(
      `select l.customer_id as id, count(*)::int as machines from activations a join licenses l using (license_id)
        group by 1 order by 1`,
    )
  ).rows;
