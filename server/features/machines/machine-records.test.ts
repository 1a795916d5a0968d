import { expect, test } from 'vitest';
import { licenses } from '../../../contract/licenses.ts';
import { machineStandings } from '../../../contract/machine-standing.ts';
import {
  checkedTime,
  createTestDatabase,
  days,
  openClient,
  startTestServer,
} from '../../../tests/harness.ts';
import { writable } from '../../db/client.ts';
import { knownMigrations, makeSchema, migrate } from '../../db/migrate.ts';
import { housekeep } from '../../jobs/housekeeping.ts';
import { seedRoles } from '../users/index.ts';

test('machines that asked for updates before they were listed are seen when they validated', async () => {
  const database = await createTestDatabase({ empty: true });
  const client = await openClient(database.url);
  await makeSchema(
    client,
    (await knownMigrations()).filter((name) => name < '0038'),
  );
  await client.query(`
    create temp table told (name text, asked timestamptz, validated timestamptz);
    insert into told values
      ('quiet', '2026-09-01T00:00:00Z', '2026-11-10T00:00:00Z'), ('heard', '2026-11-20T00:00:00Z', '2026-11-19T00:00:00Z'),
      ('ahead', '2026-11-01T00:00:00Z', '2031-01-01T00:00:00Z'), ('never', '2026-09-01T00:00:00Z', null);
    insert into customers (customer_id, name, country, created_at, updated_at)
      values (gen_random_uuid(), 'Clinic', 'DE', now(), now());
    insert into licenses (license_id, license_key, customer_id, type, valid_from, valid_until, max_activations,
                          created_at, updated_at)
      select gen_random_uuid(), key, customer_id, 'trial', '2026-01-01', '2036-01-01', 9, '2026-01-01', now()
        from customers, (select name as key from told) t;
    insert into activations (activation_id, license_id, machine_id, status, activation_type, last_checked_at,
                             created_at, updated_at)
      select gen_random_uuid(), license_id, t.name, 'active', 'automatic', validated, '2026-01-01', now()
        from licenses join told t on t.name = license_key;
    insert into machines (machine_hash, display_id, first_seen, last_seen)
      select machine_hash(name), name, '2026-01-01', asked from told`);
  await migrate(database.url);
  const server = await startTestServer({ database });
  await writable(server.context.db).transaction().execute(seedRoles);
  const staff = server.api((await server.signInAs('super_admin')).byCookie);
  const unseen = async () => {
    const query = { unseenForDays: '30' };
    const [machines, issued] = await Promise.all([
      staff.ok(machineStandings.list, { query }),
      staff.ok(licenses.list, { query }),
    ]);
    return [machines.map((m) => m.displayId).toSorted(), issued.map((l) => l.licenseKey).toSorted()];
  };
  expect(await unseen()).toEqual([['never'], ['never']]);

  await housekeep(server.context, checkedTime(server));
  server.clock.advance(days(31));
  const all = ['ahead', 'heard', 'never', 'quiet'];
  expect(await unseen(), 'a time that a clock ahead has written').toEqual([all, all]);
});
