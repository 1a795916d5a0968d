import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { analytics } from '../contract/analytics.ts';
import { apiKeys } from '../contract/api-keys.ts';
import { audit } from '../contract/audit.ts';
import { customers } from '../contract/customers.ts';
import { licenses } from '../contract/licenses.ts';
import { validation } from '../contract/validation.ts';
import { isDatabaseUnreachable } from '../server/db/client.ts';
import { requireDatabase } from '../server/db/requirements.ts';
import { sweepUploads } from '../server/jobs/upload-sweep.ts';
import { makeApiKey, makeLicense, unique, validateOn } from './factories.ts';
import {
  checkedTime,
  createTestDatabase,
  eventually,
  numbers,
  startTestServer,
  startTwin,
} from './harness.ts';
import { hasPgBouncer, startPgBouncer } from './pgbouncer.ts';
import { newDataDir, refusedStart, signInAdministrator, startServer } from './server-process.ts';

/* A real PgBouncer in front of the database. */

const database = await createTestDatabase({ empty: true });
const dataDir = await newDataDir();

const refusal = (settings: Record<string, string>) => refusedStart({ DATA_DIR: dataDir, ...settings });

describe.skipIf(!hasPgBouncer)('PgBouncer [needs pgbouncer]', () => {
  test('in transaction mode alone: the start ends with a sentence that names DATABASE_DIRECT_URL', async () => {
    const { url } = await startPgBouncer(database.url, { pool_mode: 'transaction' });
    const said = await refusal({ DATABASE_URL: url });
    expect(said).toContain('DATABASE_URL leads to a pooler in transaction mode');
    expect(said).toContain('Set DATABASE_DIRECT_URL to the address of the PostgreSQL server itself');
    expect(await refusal({ DATABASE_URL: database.url, DATABASE_DIRECT_URL: url })).toContain(
      'DATABASE_DIRECT_URL leads to a pooler in transaction mode',
    );
  });

  test.each(['0', '1'])(
    'in transaction mode is recognized among other clients (server_round_robin = %s)',
    async (server_round_robin) => {
      const { url } = await startPgBouncer(database.url, { pool_mode: 'transaction', server_round_robin });
      for (const others of [0, 1, 2, 5]) {
        const clients = numbers(others).map(() => new pg.Client({ connectionString: url }));
        await Promise.all(clients.map((client) => client.connect()));
        await Promise.all(clients.map((client) => client.query('select pg_sleep(0.05)')));
        await expect(requireDatabase({ queries: url, direct: url })).rejects.toThrow('in transaction mode');
        await Promise.all(clients.map((client) => client.end()));
      }
    },
  );

  test('that has no connection left counts as a database that cannot be reached', async () => {
    const { url } = await startPgBouncer(database.url, {
      pool_mode: 'transaction',
      default_pool_size: '1',
      // also what the first connection to the database may take
      query_wait_timeout: '4',
    });
    const [holder, waiter] = [1, 2].map(() => new pg.Client({ connectionString: url }));
    for (const client of [holder!, waiter!]) {
      client.on('error', () => undefined);
      await client.connect();
    }
    await holder!.query('begin');
    const error: unknown = await waiter!.query('select 1').catch((refused: unknown) => refused);
    expect(isDatabaseUnreachable(error), String(error)).toBe(true);
    await Promise.all([holder!.end(), waiter!.end()]);
  });

  test('DATABASE_URL and DATABASE_DIRECT_URL of two databases are refused', async () => {
    const other = await createTestDatabase({ empty: true });
    const { url } = await startPgBouncer(other.url, { pool_mode: 'transaction' });
    await expect(requireDatabase({ queries: url, direct: database.url })).rejects.toThrow(
      'lead to different databases',
    );
  });

  test.each(['session', 'transaction'] as const)(
    'in %s mode: starts that serve and stop without a word',
    async (pool_mode) => {
      const { url } = await startPgBouncer(database.url, { pool_mode, default_pool_size: '60' });
      const direct: Record<string, string> =
        pool_mode === 'transaction' ? { DATABASE_DIRECT_URL: database.url } : {};
      for (const round of pool_mode === 'session' ? ['first'] : ['first', 'second']) {
        const settings = { DATABASE_URL: url, ...direct, DATA_DIR: dataDir, LOG_LEVEL: 'warn' };
        const server = await startServer(settings);
        const staff = await signInAdministrator(server);
        await staff.ok(customers.create, { body: { name: unique(round), country: 'DE' } });
        expect(await server.end('SIGTERM')).toBe(0);
        expect(server.complaints()).toBe('');
      }
    },
  );

  test('in transaction mode with few connections: every kind of call from two processes, none fails', async () => {
    const own = await createTestDatabase();
    const { url } = await startPgBouncer(own.url, { pool_mode: 'transaction', default_pool_size: '4' });
    const through = { database: own, pooler: url };
    const first = await startTestServer(through);
    const { storage } = first.context.config;
    const second = await startTwin(first, { ...through, config: { storage } });
    const person = await first.signInAs('super_admin');
    const key = await makeApiKey(first.api(person), { scopes: ['validate'] });
    const license = await makeLicense(first.api(person), { maxActivations: 1000 });
    const statuses = await Promise.all(
      numbers(10).flatMap((round) =>
        [first, second].flatMap((server) => {
          const [staff, desktop] = [server.api(person), server.api(key)];
          const body = (machineId: string) => ({ body: { licenseKey: license.licenseKey, machineId } });
          return [
            desktop.call(validation.validate, body('one machine')),
            desktop.call(validation.validate, body(`machine ${round}`)),
            staff.call(customers.create, { body: { name: unique('Clinic'), country: 'DE' } }),
            staff.call(customers.list),
            staff.call(customers.exportCsv),
            staff.call(licenses.list, { query: { limit: '5' } }),
            staff.call(analytics.health),
            staff.call(audit.list),
            staff.call(audit.verify),
          ].map(async (answer) => (await answer).status);
        }),
      ),
    );
    expect(new Set(statuses.map((status) => Math.floor(status / 100)))).toEqual(new Set([2]));

    await validateOn(second.api(key), license, 'one machine');
    await first.api(person).ok(apiKeys.revoke, { params: { keyId: key.id } });
    await eventually(async () => {
      const { status } = await second
        .api(key)
        .call(validation.validate, { body: { licenseKey: license.licenseKey, machineId: 'one machine' } });
      expect(status).toBe(401);
    });
    // session settings of a process do not leak to others
    const { rows } = await first.pool.query<{ limit: string }>(
      `select current_setting('statement_timeout') as limit`,
    );
    expect(rows).toEqual([{ limit: '0' }]);
    const inTransaction = await first.db
      .transaction()
      .execute((tx) =>
        tx
          .selectNoFrom((eb) => eb.fn<string>('current_setting', [eb.val('statement_timeout')]).as('limit'))
          .execute(),
      );
    // the 10 s of service, times the limit factor of tests
    expect(inTransaction).toEqual([{ limit: '10min' }]);
    const swept = await Promise.all(
      [first, second].map(({ context }) => sweepUploads(context, checkedTime(first))),
    );
    expect(swept.filter(Boolean).length).toBeGreaterThan(0);
  });
});
