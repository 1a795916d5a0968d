import { appendFile, chown } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { audit } from '../contract/audit.ts';
import { customers } from '../contract/customers.ts';
import { validation } from '../contract/validation.ts';
import { unprivilegedAccount } from '../server/db/embedded-account.ts';
import { requireDatabase } from '../server/db/requirements.ts';
import { makeApiKey, makeLicense, unique, validateOn } from './factories.ts';
import { createTestDatabase, eventually, patience, patiently, startTestServer } from './harness.ts';
import { hasPgBouncer, startPgBouncer } from './pgbouncer.ts';
import { startSwitch } from './tcp-switch.ts';
import { newFolder } from './place.ts';
import { openPostgres, postgresBin, type Postgres } from './postgres.ts';
import { ask } from './work.ts';

/* A primary and a replica that follows it synchronously, behind an address that moves, as with Patroni and HAProxy. */

let folder: string;
let primary: Postgres;
let replica: Postgres;

describe.skipIf(!postgresBin)('a replica that is promoted [needs postgresql]', () => {
  beforeAll(async () => {
    folder = await newFolder();
    const account = await unprivilegedAccount();
    if (account) await chown(folder, account.uid, account.gid);
    primary = await openPostgres(join(folder, 'primary'));
    await primary.make();
    await primary.start();
    replica = await openPostgres(join(folder, 'replica'));
    await replica.follow(primary);
    await replica.start();
    await ask(primary.url, `alter system set synchronous_standby_names = 'replica'`);
    await ask(primary.url, 'select pg_reload_conf()');
  });
  afterAll(async () => {
    for (const one of [primary, replica]) await one.stop().catch(() => undefined);
  });

  test('connections that only read, as a failover may leave them: changes succeed again when new ones can write', async () => {
    const database = await createTestDatabase({ cluster: primary.url });
    const name = new URL(database.url).pathname.slice(1);
    const server = await startTestServer({ database });
    const staff = server.api(await server.signInAs('super_admin'));
    const desktop = server.api(await makeApiKey(staff, { scopes: ['validate'] }));
    const license = await makeLicense(staff);
    await validateOn(desktop, license, 'known machine');
    const change = () => staff.call(customers.create, { body: { name: unique('Clinic'), country: 'DE' } });
    const allOnlyRead = async (isOn: 'on' | 'off') => {
      const writing = `${primary.url}?options=-cdefault_transaction_read_only=off`;
      await ask(writing, `alter system set default_transaction_read_only = ${isOn}`);
      await ask(writing, 'select pg_reload_conf()');
      return writing;
    };
    const writing = await allOnlyRead('on');
    try {
      await eventually(async () => expect((await change()).status).toBe(503));
      await sleep(2000);
      await validateOn(desktop, license, 'known machine');
      // only connections that are opened from now on
      await ask(writing, `alter database ${name} set default_transaction_read_only = off`);
      await eventually(async () => expect((await change()).status).toBe(201), patience(10_000));
    } finally {
      await allOnlyRead('off');
    }
  });

  test.skipIf(!hasPgBouncer)(
    'a pooler that is left at a server that is not the primary: 503 instead of its answers, until it is not [needs pgbouncer]',
    async () => {
      const database = await createTestDatabase({ cluster: primary.url });
      const line = await startSwitch(database.url);
      const { url: pooler } = await startPgBouncer(line.url.replace('@', ':any@'), {
        pool_mode: 'transaction',
      });
      const server = await startTestServer({ database, pooler, config: { databaseLimitFactor: 1 } });
      const { byCookie } = await eventually(() => server.signInAs('super_admin'));
      const staff = patiently(server.api(byCookie));
      const key = await makeApiKey(staff, { scopes: ['validate'] });
      const license = await makeLicense(staff);
      const validate = async () => {
        const body = { licenseKey: license.licenseKey, machineId: 'a machine' };
        const answer = await server.api(key).call(validation.validate, { body });
        return answer.status === 200 ? answer.body.data.code : answer.status;
      };
      await eventually(async () => expect(await validate()).toBe('VALID'));
      line.pointTo(replica.url);
      line.reset();
      await eventually(async () => expect(await validate()).toBe(503));
      // as another process would, at the primary
      await ask(database.url, `update licenses set status = 'revoked'`);
      await sleep(1000);
      expect(await validate()).toBe(503);
      expect((await fetch(`${server.url}/readyz`)).status).toBe(503);
      line.pointTo(database.url);
      line.reset();
      await eventually(async () => expect((await fetch(`${server.url}/readyz`)).status).toBe(200));
      // other connections to the replica may end later
      let code: Awaited<ReturnType<typeof validate>> = 503;
      await eventually(async () => (code = await validate()) !== 503);
      expect(code).toBe('REVOKED');
    },
  );

  test('under load: 503 meanwhile and never 500, nothing that was answered is lost', async () => {
    const database = await createTestDatabase({ cluster: primary.url });
    const { pathname } = new URL(database.url);
    const ofReplica = replica.url.replace('/postgres', pathname);
    await eventually(() =>
      expect(requireDatabase({ queries: ofReplica, direct: ofReplica })).rejects.toThrow(
        'The server is a replica that follows another one',
      ),
    );
    const line = await startSwitch(database.url);
    const server = await startTestServer({
      database: { ...database, url: line.url },
      config: { databaseLimitFactor: 1 },
    });
    const staff = server.api(await eventually(() => server.signInAs('super_admin')));
    const desktop = server.api(await makeApiKey(patiently(staff), { scopes: ['validate'] }));
    const { licenseKey } = await makeLicense(patiently(staff), { maxActivations: 1000 });

    const statuses: number[] = [];
    const made: string[] = [];
    let isGoing = true;
    const callers = [1, 2, 3].map(async () => {
      while (isGoing) {
        const name = unique('Clinic');
        const change = await staff.call(customers.create, { body: { name, country: 'DE' } });
        if (change.status < 300) made.push(name);
        const check = await desktop.call(validation.validate, { body: { licenseKey, machineId: name } });
        statuses.push(change.status, check.status);
        await sleep(20);
      }
    });
    await eventually(() => made.length > 20);
    const before = made.length;
    // the primary is stopped, and the address leads to a replica that is not promoted yet
    await primary.stop();
    line.pointTo(ofReplica);
    await eventually(() => statuses.filter((status) => status === 503).length > 5);
    await replica.control('promote');
    // the new primary has no replica
    await appendFile(join(folder, 'replica/postgresql.auto.conf'), `\nsynchronous_standby_names = ''\n`);
    await replica.control('reload');
    await eventually(() => made.length > before + 20);
    isGoing = false;
    await Promise.all(callers);

    expect([...new Set(statuses)].filter((status) => status >= 300 && status !== 503)).toEqual([]);
    const { rows } = await server.pool.query<{ name: string }>('select name from customers');
    const kept = new Set(rows.map(({ name }) => name));
    expect(made.filter((name) => !kept.has(name))).toEqual([]);
    await eventually(async () => expect(await staff.ok(audit.verify)).toMatchObject({ whole: true }));
  });
});
