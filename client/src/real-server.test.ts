import { cp, readFile, rm, truncate } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { activations } from '../../contract/activations.ts';
import { credentials } from '../../contract/credentials.ts';
import { keys as keyCalls } from '../../contract/keys.ts';
import { licenses, type License } from '../../contract/licenses.ts';
import { offline } from '../../contract/offline.ts';
import { deactivate, machinesOf, makeLicense, revoke } from '../../tests/factories.ts';
import { endorse } from '../../server/features/keys/replace.ts';
import { newSigningKey, readSigners } from '../../server/signer.ts';
import { days, seconds, startTestServer } from '../../tests/harness.ts';
import { assemble } from './assemble.ts';
import { newFolder } from '../../tests/place.ts';
import { secretFiles } from './fake-server.testing.ts';
import type { ClientOptions, Fetch } from './types.ts';

/* The client against the service itself. */

const server = await startTestServer();
const staff = server.api((await server.signInAs('super_admin')).byCookie);
const publicKeys = (await server.api().ok(keyCalls.published)).map(({ publicKeyPem }) => publicKeyPem);

const movedUrl = server.url.replace('127.0.0.1', 'localhost');

let machines = 0;
async function clientOf({ licenseKey }: License, options: Partial<ClientOptions> = {}) {
  const folder = options.folder ?? (await newFolder());
  const machineId = options.machineId ?? `ws-${++machines}`;
  const now = () => server.clock.now();
  const all = { server: server.url, licenseKey, publicKeys, machineId, now, ...options, folder };
  return { ...assemble(all, { env: {} }), folder, id: machineId };
}

/** The same machine, cut off from the network. */
const cutOff = (license: License, { folder, id }: { folder: string; id: string }) =>
  clientOf(license, { folder, machineId: id, server: 'http://127.0.0.1:9' });

const seatOf = async (license: License, { id }: { id: string }) =>
  (await machinesOf(staff, license)).find(({ machineId }) => machineId === id)!;

test('enrolls, takes a seat, validates by token, and gives the seat back', async () => {
  const license = await makeLicense(staff, { maxActivations: 1 });
  // as it stands in a mail
  const client = await clientOf(license, { licenseKey: `\u200b“${license.licenseKey}”\u200b.` });
  const first = await client.check();
  expect(first).toMatchObject({ valid: true, source: 'online', modules: license.moduleIds });
  expect(first.problem).toBeUndefined();
  expect(await client.check()).toMatchObject({ valid: true, source: 'online' });
  expect(await seatOf(license, client)).toMatchObject({ status: 'active', platform: process.platform });
  const late = await clientOf(license);
  expect(await late.check()).toMatchObject({ valid: false, code: 'TOO_MANY_ACTIVATIONS', source: 'online' });
  expect(await client.giveBack()).toMatchObject({ ok: true, receipt: null });
  expect(await (await cutOff(license, client)).check()).toMatchObject({ valid: false });
  expect(await late.check()).toMatchObject({ valid: true });
});

test('hears of a revocation at once, by its token however often it asks, and of its end', async () => {
  const license = await makeLicense(staff);
  const calls: string[] = [];
  const client = await clientOf(license, {
    fetch: (url, request) => {
      calls.push(new URL(url).pathname);
      return fetch(url, request);
    },
  });
  await client.check();
  await revoke(staff, license);
  server.clock.advance(seconds(1));
  calls.length = 0;
  for (let n = 0; n < 2; n++)
    expect(await client.check()).toMatchObject({ valid: false, source: 'online', code: 'REVOKED' });
  expect(calls).toEqual(['/api/licenses/validate', '/api/licenses/validate']);
  expect(await (await cutOff(license, client)).check()).toMatchObject({ valid: false, code: 'REVOKED' });
  server.clock.advance(seconds(1));
  await staff.ok(licenses.reactivate, { params: { id: license.licenseId } });
  expect(await client.check()).toMatchObject({ valid: true, source: 'online' });
});

test('a seat that staff take is lost, and an enrollment that they end is made again', async () => {
  const license = await makeLicense(staff);
  const client = await clientOf(license);
  await client.check();
  const seat = await seatOf(license, client);
  await staff.ok(credentials.end, { params: { activationId: seat.activationId } });
  expect(await client.check()).toMatchObject({ valid: true, source: 'online' });
  await deactivate(staff, seat);
  expect(await client.check()).toMatchObject({ valid: false, code: 'MACHINE_DEACTIVATED' });
});

test('a seat is given back also when its token has ended, and no seat is said to be free that is not', async () => {
  const license = await makeLicense(staff, { maxActivations: 10 });
  const [ended, revoked, taken] = [await clientOf(license), await clientOf(license), await clientOf(license)];
  for (const client of [ended, revoked, taken]) await client.check();
  const endToken = async (client: typeof ended) =>
    staff.ok(credentials.end, { params: { activationId: (await seatOf(license, client)).activationId } });

  await endToken(ended);
  expect(await ended.giveBack()).toMatchObject({ ok: true, receipt: null });
  expect((await seatOf(license, ended)).status).toBe('released');

  await deactivate(staff, await seatOf(license, taken));
  expect(await taken.giveBack()).toMatchObject({ ok: true, receipt: null });

  await revoke(staff, license);
  expect(await revoked.giveBack()).toMatchObject({ ok: false, code: 'REVOKED' });
  expect((await seatOf(license, revoked)).status).toBe('active');
  server.clock.advance(seconds(1));
  await staff.ok(licenses.reactivate, { params: { id: license.licenseId } });
  expect(await revoked.giveBack()).toMatchObject({ ok: true, receipt: null });
  expect((await seatOf(license, revoked)).status).toBe('released');
});

test('a seat whose release was not answered is not taken again to be released', async () => {
  const license = await makeLicense(staff, { maxActivations: 1 });
  let lost: 'question' | 'answer' | undefined;
  const losing: Fetch = async (url, request) => {
    const isRelease = url.endsWith('/deactivate');
    if (isRelease && lost === 'question') throw new Error('no network');
    const answer = await fetch(url, request);
    if (isRelease && lost === 'answer') throw new Error('the answer is lost');
    return answer;
  };
  const client = await clientOf(license, { fetch: losing });
  await client.check();
  await client.giveBack();
  await client.check();
  lost = 'answer';
  expect(await client.giveBack()).toMatchObject({ ok: false, code: 'NO_ANSWER' });
  lost = undefined;
  // two releases a day are all that one seat has
  expect(await client.giveBack()).toMatchObject({ ok: true, receipt: null });
  expect((await seatOf(license, client)).status).toBe('released');

  // one that was in use since is not said to be free because its token has ended
  const other = await makeLicense(staff);
  const user = await clientOf(other, { fetch: losing });
  await user.check();
  lost = 'question';
  expect(await user.giveBack()).toMatchObject({ ok: false, code: 'NO_ANSWER' });
  lost = undefined;
  await user.check();
  await staff.ok(credentials.end, { params: { activationId: (await seatOf(other, user)).activationId } });
  expect(await user.giveBack()).toMatchObject({ ok: true, receipt: null });
  expect((await seatOf(other, user)).status).toBe('released');
});

test('a seat is given back also when its token is damaged or of another address of the server', async () => {
  const license = await makeLicense(staff);
  const client = await clientOf(license);
  const moved = await clientOf(license, { ...client, machineId: client.id, server: movedUrl });
  const [, tokenFile] = secretFiles(client.id, license.licenseKey);
  for (const next of [client, moved]) {
    await client.check();
    if (next === client) await truncate(`${client.folder}/${tokenFile}`, 60);
    expect(await next.giveBack()).toMatchObject({ ok: true, receipt: null });
    expect((await seatOf(license, client)).status).toBe('released');
  }
});

test('the seat of one license is given back also after another license was used in the folder', async () => {
  const [one, other] = [await makeLicense(staff), await makeLicense(staff)];
  const first = await clientOf(one);
  const second = await clientOf(other, { folder: first.folder, machineId: first.id });
  for (const client of [first, second]) await client.check();
  expect(await first.giveBack()).toMatchObject({ ok: true, receipt: null });
  expect((await seatOf(one, first)).status).toBe('released');
  expect(await second.giveBack()).toMatchObject({ ok: true, receipt: null });
  expect((await seatOf(other, second)).status).toBe('released');
});

test('a machine whose folder was deleted says what the vendor must do', async () => {
  const license = await makeLicense(staff);
  const client = await clientOf(license);
  await client.check();
  await rm(client.folder, { recursive: true });
  const again = await clientOf(license, { machineId: client.id });
  const result = await again.check();
  expect(result).toMatchObject({ valid: false, source: 'none', code: 'NOT_ENROLLED' });
  expect(result.message).toMatch(/another key.*vendor/);
  const seat = await seatOf(license, client);
  await staff.ok(credentials.end, { params: { activationId: seat.activationId } });
  expect(await again.check()).toMatchObject({ valid: true, source: 'online' });
});

test('a computer from the disk image of an enrolled one enrolls by itself, and the first keeps its token', async () => {
  const license = await makeLicense(staff, { maxActivations: 2 });
  const first = await clientOf(license);
  await first.check();
  const folder = await newFolder();
  await cp(first.folder, folder, { recursive: true });
  const second = await clientOf(license, { folder });
  expect(await second.check()).toMatchObject({ valid: true, source: 'online' });
  expect(await first.check()).toMatchObject({ valid: true, source: 'online' });
  for (const one of [first, second])
    expect(await seatOf(license, one)).toMatchObject({ status: 'active', clonedAt: null });
});

test('a wrong key and a key of another form are told apart', async () => {
  const license = await makeLicense(staff);
  const unknown = await clientOf({ ...license, licenseKey: 'E7K2M-0QX4T-9ZB3C-5DF8G-HJ6C1' });
  expect(await unknown.check()).toMatchObject({ valid: false, source: 'online', code: 'NOT_FOUND' });
  for (const licenseKey of ['hello', 'x'.repeat(300), `${'x'.repeat(212)}😀${license.licenseKey}`]) {
    const typed = await clientOf({ ...license, licenseKey });
    expect(await typed.check()).toMatchObject({ valid: false, source: 'online', code: 'MALFORMED_KEY' });
  }
  // as a terminal puts it around what is pasted
  const pasted = await clientOf({
    ...license,
    licenseKey: `\u0007${license.licenseKey.slice(0, 8)}\u0000${license.licenseKey.slice(8)}`,
  });
  expect(await pasted.check()).toMatchObject({ valid: true, source: 'online', code: 'VALID' });
});

test('runs without the service until its kept answer expires', async () => {
  const license = await makeLicense(staff);
  const client = await clientOf(license);
  const { expiresAt } = await client.check();
  const alone = await cutOff(license, client);
  const until = Date.parse(expiresAt!);
  expect(until).toBe(server.clock.now().getTime() + days(14));
  const now = () => new Date(until);
  const last = await clientOf(license, { ...alone, machineId: client.id, server: 'http://127.0.0.1:9', now });
  expect(await last.check()).toMatchObject({ valid: true, source: 'kept', expiresAt });
});

test('of two license files within a second, the second counts after the first was given back', async () => {
  const license = await makeLicense(staff);
  const params = { id: license.licenseId };
  const machine = await clientOf(license, { server: 'http://127.0.0.1:9' });
  const asked = await machine.offlineRequest();
  if (!asked.ok) throw new Error(asked.message);
  const issue = () => staff.ok(offline.issue, { params, body: { request: asked.request } });
  const [first, second] = [await issue(), await issue()];
  expect(await machine.importLicense(first.licenseFile)).toMatchObject({ ok: true });
  expect(await machine.giveBack()).toMatchObject({ ok: true });
  expect(await machine.importLicense(second.licenseFile)).toMatchObject({ ok: true });
  const given = await machine.giveBack();
  if (!given.ok || given.receipt === null) throw new Error(given.message);
  await staff.ok(offline.giveBack, { params, body: { receipt: given.receipt } });
  expect((await seatOf(license, machine)).status).toBe('released');
});

test('a license file for a new request shows the time to a machine whose clock was ahead', async () => {
  const license = await makeLicense(staff);
  const params = { id: license.licenseId };
  let ahead = 0;
  const now = () => new Date(server.clock.now().getTime() + ahead);
  const machine = await clientOf(license, { server: 'http://127.0.0.1:9', now });
  const newFile = async () => {
    const asked = await machine.offlineRequest();
    if (!asked.ok) throw new Error(asked.message);
    return staff.ok(offline.issue, { params, body: { request: asked.request, days: 90 } });
  };
  expect(await machine.importLicense((await newFile()).licenseFile)).toMatchObject({ ok: true });
  ahead = days(40);
  expect(await machine.check()).toMatchObject({ valid: true, source: 'file' });
  ahead = 0;
  expect(await machine.check()).toMatchObject({ valid: false, code: 'CLOCK_SET_BACK' });
  server.clock.advance(seconds(5));
  expect(await machine.importLicense((await newFile()).licenseFile)).toMatchObject({ ok: true });
  expect(await machine.check()).toMatchObject({ valid: true, source: 'file' });
});

test('a machine with a license file cannot give its seat back online alone', async () => {
  const license = await makeLicense(staff);
  const client = await clientOf(license);
  await client.check();
  const asked = await client.offlineRequest();
  if (!asked.ok) throw new Error(asked.message);
  await staff.ok(offline.issue, { params: { id: license.licenseId }, body: { request: asked.request } });
  // the file has not reached the machine
  expect(await client.giveBack()).toMatchObject({ ok: false, code: 'OFFLINE_SEAT' });
  const all = await staff.ok(activations.list, { params: { licenseKey: license.licenseKey } });
  expect(all[0]!.status).toBe('active');
});

test('follows the signing keys from the one that it shipped with, as the service publishes them', async () => {
  const [shipped] = readSigners(newSigningKey(), 'the test');
  const { keyId: current } = (await server.api().ok(keyCalls.published))[0]!;
  const license = await makeLicense(staff);
  const old = { publicKeys: [shipped!.publicKeyPem] };
  const before = await clientOf(license, old);
  const unknown = await before.check();
  expect(unknown).toMatchObject({ valid: false, code: 'NOT_AUTHENTIC' });
  expect(unknown.problem).toContain('UNKNOWN_KEY');

  const signer = { keyId: current, publicKeyPem: publicKeys[0]!, sign: () => '' };
  await server.db
    .updateTable('installation_keys')
    .set(endorse(shipped!, signer, server.clock.now()))
    .where('key_id', '=', current)
    .execute();
  expect(await before.check()).toMatchObject({ valid: true, source: 'online' });
  expect(await (await cutOff(license, before)).check()).toMatchObject({ valid: true, source: 'kept' });
  const restarted = { ...old, folder: before.folder, machineId: before.id, server: 'http://127.0.0.1:9' };
  expect(await (await clientOf(license, restarted)).check()).toMatchObject({ valid: true, source: 'kept' });
});

test('the token is stored once, and never in plain text beside a key that is protected', async () => {
  const license = await makeLicense(staff);
  const xor = (bytes: Uint8Array) => Uint8Array.from(bytes, (byte) => byte ^ 1);
  const protect = {
    encrypt: (text: string) => xor(Buffer.from(text)),
    decrypt: (bytes: Uint8Array) => Buffer.from(xor(bytes)).toString(),
  };
  const client = await clientOf(license, { protect });
  await client.check();
  expect(await client.check()).toMatchObject({ valid: true, source: 'online' });
  for (const name of secretFiles(client.id, license.licenseKey))
    expect(await readFile(`${client.folder}/${name}`, 'utf8')).not.toMatch(/lym_|PRIVATE/);
});
