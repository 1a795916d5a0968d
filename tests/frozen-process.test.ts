import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { apiKeys } from '../contract/api-keys.ts';
import { customers } from '../contract/customers.ts';
import { licenses } from '../contract/licenses.ts';
import { session } from '../contract/session.ts';
import { validation } from '../contract/validation.ts';
import { locks } from '../server/db/locks.ts';
import { newSecretsKey } from '../server/secrets.ts';
import { newSigningKey } from '../server/signer.ts';
import { makeApiKey, makeLicense } from './factories.ts';
import { apiAt, createTestDatabase, eventually, numbers, openClient, patiently } from './harness.ts';
import { startSwitch } from './tcp-switch.ts';
import { ask } from './work.ts';
import {
  asInService,
  administratorAt,
  isReady,
  newDataDir,
  signal,
  signInAdministrator,
  startServer,
} from './server-process.ts';

/* Two built servers on one database and one storage, one of which is stopped for a while without knowing it. */

const database = await createTestDatabase({ empty: true });
const shared = join(await newDataDir(), 'binaries');
const line = await startSwitch(database.url);
const keys = { SIGNING_KEY: newSigningKey(), SECRETS_KEY: newSecretsKey() };
const settings = (DATA_DIR: string) => ({
  ...asInService,
  DATABASE_URL: database.url,
  DATA_DIR,
  LOG_LEVEL: 'warn',
  STORAGE_URL: `file:${shared}`,
  ...keys,
});
const frozen = await startServer({ ...settings(await newDataDir()), DATABASE_URL: line.url });
const other = await startServer(settings(await newDataDir()));
const staff = patiently(await eventually(() => signInAdministrator(other)));
const freeze = () => signal(frozen.process.pid!, 'SIGSTOP');
const thaw = () => signal(frozen.process.pid!, 'SIGCONT');
afterEach(thaw);

test('what was revoked meanwhile is refused in the first answers, also of calls that waited', async () => {
  for (const round of numbers(2)) {
    const [license, key, ended] = [
      await makeLicense(staff),
      await makeApiKey(staff),
      await makeApiKey(staff),
    ];
    const person = await eventually(() => administratorAt(other));
    const validate = () =>
      apiAt(frozen.url, key).call(validation.validate, {
        body: { licenseKey: license.licenseKey, machineId: 'a machine' },
      });
    const list = () => apiAt(frozen.url, person).call(customers.list);
    const askAgain = () =>
      apiAt(frozen.url, ended).call(validation.validate, {
        body: { licenseKey: license.licenseKey, machineId: 'a machine' },
      });
    // it may still connect again after the round before
    for (const _ of numbers(3))
      await eventually(async () => {
        expect((await validate()).body).toMatchObject({ data: { code: 'VALID' } });
        expect((await askAgain()).status).toBe(200);
        expect((await list()).status).toBe(200);
      });
    freeze();
    // it may hold a row, until its transaction has been idle for four seconds
    await eventually(() => apiAt(other.url, person).ok(session.logout));
    await staff.ok(apiKeys.revoke, { params: { keyId: ended.id } });
    await staff.ok(licenses.revoke, { params: { id: license.licenseId } });
    const waiting = numbers(4).map(() => [validate(), askAgain(), list()] as const);
    await sleep(2000);
    thaw();
    const answers = await Promise.all(waiting.map((calls) => Promise.all(calls)));
    for (const [validated, refused, listed] of answers) {
      // its connections may have ended meanwhile, which is said
      expect(['REVOKED', 503], `round ${round}`).toContain(validated.body.data?.code ?? validated.status);
      expect([401, 503], `round ${round}`).toContain(refused.status);
      expect([401, 503], `round ${round}`).toContain(listed.status);
    }
  }
});

test('nor does it answer by what it kept, when what was announced did not arrive', async () => {
  const [license, key] = [await makeLicense(staff), await makeApiKey(staff)];
  const validate = async () => {
    const body = { licenseKey: license.licenseKey, machineId: 'a machine' };
    return (await apiAt(frozen.url, key).call(validation.validate, { body })).body;
  };
  for (const _ of numbers(3))
    await eventually(async () => expect((await validate()).data.code).toBe('VALID'));
  freeze();
  // as after a pause of the whole machine: the server repeats what was lost later
  line.silence((said) => said.includes('listen lanyard'));
  await staff.ok(licenses.revoke, { params: { id: license.licenseId } });
  await sleep(2000);
  thaw();
  // a busy machine may find its connections lost, and answer 503 first
  expect(await validate()).not.toMatchObject({ data: { code: 'VALID' } });
  await eventually(async () => expect(await validate()).toMatchObject({ data: { code: 'REVOKED' } }));
});

test('its jobs are done by the other one while it is frozen', async () => {
  const held = async () =>
    (
      await ask<{ pid: number }>(
        database.url,
        `select pid from pg_locks where locktype = 'advisory' and granted
          and ((classid::bigint << 32) | objid::bigint) = ${locks.uploadSweep}`,
      )
    ).map(({ pid }) => pid);
  const client = await openClient(database.url);
  await client.query('begin');
  await client.query('lock table uploads in access exclusive mode');
  // the sweep of a start
  const third = await startServer(settings(await newDataDir()));
  await eventually(async () => expect(await held()).toHaveLength(1));
  signal(third.process.pid!, 'SIGSTOP');
  await client.query('commit');
  await client.end();
  await sleep(1000);
  expect(await held()).toHaveLength(1);
  await eventually(async () => expect(await held()).toEqual([]));
  signal(third.process.pid!, 'SIGCONT');
  await eventually(async () => expect(await isReady(third.url)).toBe(true));
  expect(await third.end('SIGTERM')).toBe(0);
});
