import { createPublicKey, verify } from 'node:crypto';
import { copyFile, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { audit } from '../contract/audit.ts';
import { keys } from '../contract/keys.ts';
import { makeApiKey, makeCustomer, makeLicense, validateOn } from './factories.ts';
import { apiAt, createTestDatabase, eventually, type Api } from './harness.ts';
import { issueTo, offlineMachine } from './offline-machine.ts';
import {
  asInService,
  newDataDir,
  runTool,
  signInAdministrator,
  startServer,
  startTwo,
} from './server-process.ts';

/* Two built servers on one database, each with its own data directory, that serve while the signing key is replaced. */

const database = await createTestDatabase();
const [home, elsewhere] = [await newDataDir(), await newDataDir()];
const settings = (dataDir: string) => ({ DATABASE_URL: database.url, DATA_DIR: dataDir, LOG_LEVEL: 'warn' });
const servers = await startTwo(settings, [home, elsewhere]);
const staff = await Promise.all(servers.map(signInAdministrator));
const license = await makeLicense(staff[0]!, { maxActivations: 10 });
const apiKey = await makeApiKey(staff[0]!);
const desktops = servers.map(({ url }) => apiAt(url, apiKey));

const rotate = (dataDir: string, more = {}) => runTool('keys', { ...settings(dataDir), ...more }, 'rotate');
const keyIdOf = async (desktop: Api) => (await validateOn(desktop, license, 'workstation')).keyId;

type Header = { kid: string; endorsements?: [{ keyId: string; signed: string; signature: string }] };
const headerOf = (jws: string) =>
  JSON.parse(Buffer.from(jws.split('.')[0]!, 'base64url').toString()) as Header;
const isIntact = (jws: string, pem: string) => {
  const [head, body, tail] = jws.split('.') as [string, string, string];
  return verify(null, Buffer.from(`${head}.${body}`), pem, Buffer.from(tail, 'base64url'));
};

/** Whether a call was refused because the database was busy, which the log then says too. */
let wasRefused = false;
const ofRefusals = /^.*(Try again in a moment\.|The database (does not answer|cannot be reached)).*\n/gm;

/** Validates and makes changes on both until stopped; returns the keys that responses were signed with. */
function callers() {
  let isOver = false;
  const seen = new Set<string>();
  const call = async (at: number) => {
    const { signed, signature, keyId } = await validateOn(desktops[at]!, license, 'workstation');
    const { publicKeyPem } = (await desktops[at]!.ok(keys.published)).find((key) => key.keyId === keyId)!;
    const isRight = verify(
      null,
      Buffer.from(signed),
      createPublicKey(publicKeyPem),
      Buffer.from(signature, 'base64'),
    );
    expect(isRight).toBe(true);
    seen.add(keyId);
    await makeCustomer(staff[at]!);
  };
  const refusedWhereBusy = (error: unknown) => {
    if (!String(error).includes('"UNAVAILABLE"')) throw error;
    wasRefused = true;
  };
  const working = Promise.all(
    servers.map(async (_, at) => {
      while (!isOver) await call(at).catch(refusedWhereBusy);
    }),
  );
  // what fails is told by the stop
  working.catch(() => undefined);
  return {
    seen,
    stop: () => {
      isOver = true;
      return working;
    },
  };
}

test('a key that a process does not have is not taken into use', async () => {
  const before = await keyIdOf(desktops[0]!);
  // it waits for the other in vain
  const { code, said } = await rotate(home, asInService);
  expect([code, said]).toEqual([1, expect.stringContaining('1 of the processes that serve this database')]);
  expect(said).toContain(`Copy ${home}/next-signing-key.pem into the DATA_DIR of each`);
  for (const desktop of desktops) expect(await keyIdOf(desktop)).toBe(before);
  const states = (await desktops[1]!.ok(keys.published)).map(({ state }) => state);
  expect(states).toEqual(['current', 'next']);
});

test('a rotation while both serve: each signs with the new key, takes the old one, and the audit log is whole', async () => {
  const before = await keyIdOf(desktops[0]!);
  const issuedBefore = await issueTo(staff[0]!, license, offlineMachine('before'));
  const shipped = (await desktops[0]!.ok(keys.published)).find(({ keyId }) => keyId === before)!;
  await copyFile(join(home, 'next-signing-key.pem'), join(elsewhere, 'next-signing-key.pem'));
  const { seen, stop } = callers();
  await eventually(() => seen.has(before));
  const { code, said } = await rotate(home);
  expect([code, said]).toEqual([0, expect.stringMatching(/^The signing key \w+ signs from now on/)]);
  const after = /key (\w+) signs/.exec(said)![1]!;
  for (const desktop of desktops) await eventually(async () => expect(await keyIdOf(desktop)).toBe(after));
  await eventually(() => expect(seen).toEqual(new Set([before, after])));
  await stop();
  expect(seen).toEqual(new Set([before, after]));

  for (const api of staff) {
    await makeCustomer(api);
    const published = await api.ok(keys.published);
    expect(published.map(({ keyId, state }) => [keyId, state])).toEqual([
      [after, 'current'],
      [before, 'retired'],
    ]);
  }
  for (const [i, api] of staff.entries()) {
    expect(isIntact(issuedBefore.licenseFile, shipped.publicKeyPem)).toBe(true);
    // a machine without a network follows from the key that its program ships
    const { licenseFile } = await issueTo(api, license, offlineMachine(`after ${i}`));
    const { kid, endorsements } = headerOf(licenseFile);
    const [{ keyId, signed, signature }] = endorsements!;
    expect([kid, keyId]).toEqual([after, before]);
    const isEndorsed = verify(
      null,
      Buffer.from(signed),
      shipped.publicKeyPem,
      Buffer.from(signature, 'base64'),
    );
    const endorsed = JSON.parse(signed) as { keyId: string; publicKeyPem: string };
    expect([isEndorsed, endorsed.keyId, isIntact(licenseFile, endorsed.publicKeyPem)]).toEqual([
      true,
      after,
      true,
    ]);
  }
  for (const api of staff)
    await eventually(async () => {
      expect(await api.ok(audit.verify)).toMatchObject({ whole: true, unsealedEntries: 0 });
    });
  for (const dataDir of [home, elsewhere]) {
    expect(await readdir(join(dataDir, 'retired-keys'))).toEqual([`${before}.pem`]);
    expect(await readdir(dataDir)).not.toContain('next-signing-key.pem');
  }
  expect(await readFile(join(elsewhere, 'signing-key.pem'), 'utf8')).toBe(
    await readFile(join(home, 'signing-key.pem'), 'utf8'),
  );
});

test('a rotated process stops without a word, and starts again', async () => {
  const now = await keyIdOf(desktops[1]!);
  for (const server of servers.splice(0)) {
    expect(await server.end('SIGTERM')).toBe(0);
    expect(server.complaints().replaceAll(wasRefused ? ofRefusals : '', '')).toBe('');
  }
  servers.push(await startServer(settings(elsewhere)));
  const [key] = await apiAt(servers[0].url).ok(keys.published);
  expect(key).toMatchObject({ keyId: now, state: 'current' });
});
