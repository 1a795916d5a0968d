import nodeFs from 'node:fs';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { newFolder } from '../../tests/place.ts';
import {
  day,
  decisionFile,
  isolated,
  licenseFile,
  licenseKey,
  noNetwork,
  partsOf,
  receiptFile,
  requestOf,
  secretFiles,
  startFakeServer,
} from './fake-server.testing.ts';
import { machineHash } from './license-file.ts';
import type { Files } from './durable.ts';

/* A license file and a seat that the machine gives back. */

test('a file that was given back never counts again, nor an older one', async () => {
  const { fake, client, request } = await isolated();
  const older = fake.fileFor(request);
  fake.clock.at += 5000;
  const file = fake.fileFor(request, { jti: '7f0c8a52-3f64-4d0e-8d7b-5f0c6a1b2c3d' });
  await client.importLicense(file);
  expect(await client.importLicense(older)).toMatchObject({ ok: false, code: 'SUPERSEDED' });
  const given = await client.giveBack();
  if (!given.ok) throw new Error(given.message);
  const { header, claims } = partsOf(given.receipt!);
  expect(header).toEqual({ alg: 'EdDSA', typ: 'lanyard-return+jwt' });
  expect(claims).toMatchObject({
    jti: '7f0c8a52-3f64-4d0e-8d7b-5f0c6a1b2c3d',
    machine: machineHash('ws-07'),
    iat: fake.clock.at / 1000,
  });
  expect(await client.check()).toMatchObject({ valid: false, code: 'NO_ANSWER' });
  for (const text of [file, older])
    expect(await client.importLicense(text)).toMatchObject({ ok: false, code: 'GIVEN_BACK' });
  await writeFile(`${client.folder}/${licenseFile}`, older);
  expect(await client.check()).toMatchObject({ valid: false });
  expect(await client.giveBack()).toEqual(given);

  fake.clock.at += 5000;
  expect((await client.importLicense(fake.fileFor(request))).ok).toBe(true);
  expect(await client.check()).toMatchObject({ valid: true, source: 'file' });
});

test('a license file that was given back stays so when another license used the folder since', async () => {
  const fake = await startFakeServer();
  fake.instead = noNetwork;
  const folder = await newFolder();
  const one = await fake.client({ folder });
  const other = await fake.client({ folder, licenseKey: 'E1111-22222-33333-44444-55559' });
  const requests = await Promise.all([requestOf(one), requestOf(other)]);
  const otherFile = fake.fileFor(requests[1]);
  fake.clock.at += 60_000;
  const file = fake.fileFor(requests[0]);
  expect((await one.importLicense(file)).ok).toBe(true);
  const given = await one.giveBack();
  expect(given).toMatchObject({ ok: true, receipt: expect.any(String) as string });
  // older than the file of the first license, which says nothing about this one
  expect((await other.importLicense(otherFile)).ok).toBe(true);
  expect((await other.giveBack()).ok).toBe(true);
  expect(await one.importLicense(file)).toMatchObject({ ok: false, code: 'GIVEN_BACK' });
  expect(await one.giveBack()).toEqual(given);
});

test('a crash between the receipt and the end of the file leaves a receipt and no license', async () => {
  const { fake, client, request } = await isolated();
  await client.importLicense(fake.fileFor(request));
  const file = await readFile(`${client.folder}/${licenseFile}`, 'utf8');
  const { receipt } = (await client.giveBack()) as { receipt: string };
  await writeFile(`${client.folder}/${licenseFile}`, file);
  const restarted = await fake.client({ folder: client.folder });
  expect(await restarted.check()).toMatchObject({ valid: false });
  expect(await restarted.giveBack()).toMatchObject({ ok: true, receipt });
});

/** A disk that takes nothing any more, as after a kill, from the n-th change after the receipt on. */
function killedAfterReceipt(changes: number): Files {
  let left = Infinity;
  const step =
    <Args extends unknown[]>(change: (...args: Args) => void, fileOf: (...args: Args) => unknown) =>
    (...args: Args) => {
      if (left <= 0) throw new Error('killed');
      change(...args);
      const file = String(fileOf(...args));
      if (!/\.new$|lock$/.test(file)) left -= 1;
      if (left === Infinity && file.endsWith(receiptFile)) left = changes;
    };
  const renameSync = step(nodeFs.renameSync, (_, to) => to);
  const rmSync = step(nodeFs.rmSync, (file) => file);
  return { ...nodeFs, renameSync, rmSync };
}

test('giving back a file is finished after a kill at any step, also on a machine that was online once', async () => {
  const fake = await startFakeServer();
  const [, tokenFile] = secretFiles();
  for (let changes = 0; changes < 6; changes++)
    for (const next of ['giveBack', 'check'] as const) {
      fake.instead = undefined;
      const client = await fake.client();
      const { folder } = client;
      await client.check();
      fake.instead = noNetwork;
      expect(await client.importLicense(fake.fileFor(await requestOf(client)))).toMatchObject({ ok: true });
      await (await fake.client({ folder }, { files: killedAfterReceipt(changes) })).giveBack();
      await rm(`${folder}/lock`, { force: true });
      const left = JSON.parse(await readFile(`${folder}/${receiptFile}`, 'utf8')) as Record<
        string,
        { receipt: string }
      >;
      const restarted = await fake.client({ folder });
      const at = `${next} after ${changes} changes`;
      if (next === 'check') expect(await restarted.check(), at).toMatchObject({ code: 'NO_ANSWER' });
      const { receipt } = left[licenseKey]!;
      expect(await restarted.giveBack(), at).toMatchObject({ ok: true, receipt });
      const names = await readdir(folder);
      for (const name of [licenseFile, decisionFile, tokenFile]) expect(names, at).not.toContain(name);
      // the machine may come back, and give that seat back
      fake.instead = undefined;
      fake.clock.at += 60_000;
      expect(await restarted.check()).toMatchObject({ valid: true, source: 'online' });
      expect(await restarted.giveBack()).toMatchObject({ ok: true, receipt: null });
    }
});

test('a license file imported after a return that was killed is not ended by it', async () => {
  const fake = await startFakeServer();
  const { client, request } = await isolated(fake);
  const { folder } = client;
  await client.importLicense(fake.fileFor(request));
  await (await fake.client({ folder }, { files: killedAfterReceipt(0) })).giveBack();
  await rm(`${folder}/lock`, { force: true });
  fake.clock.at += 1000;
  expect(await client.importLicense(fake.fileFor(request))).toMatchObject({ ok: true });
  expect(await client.check()).toMatchObject({ valid: true, source: 'file' });
});

test('online, the server frees the seat, and what was kept has ended even if its answer is lost', async () => {
  const fake = await startFakeServer();
  const client = await fake.client();
  await client.check();
  fake.instead = (call) => (call.path.endsWith('/deactivate') ? { status: 502, body: '' } : undefined);
  expect(await client.giveBack()).toMatchObject({ ok: false, code: 'NO_ANSWER' });
  fake.instead = () => ({ status: 429, body: { error: 'Too many' } });
  expect(await client.giveBack()).toMatchObject({ ok: false, code: 'NO_ANSWER', message: 'Too many' });
  // the sign-in page of a hotel frees no seat
  fake.instead = () => ({ status: 401, body: '<html>' });
  expect(await client.giveBack()).toMatchObject({ ok: false, code: 'NO_ANSWER' });
  fake.instead = noNetwork;
  expect(await client.check()).toMatchObject({ valid: false, code: 'NO_ANSWER' });
  fake.instead = undefined;
  expect(await client.giveBack()).toEqual({ ok: true, receipt: null, message: 'Free.' });
  expect(await client.giveBack()).toMatchObject({ ok: true, receipt: null });
});

test('a file that has ended only by the clock of the machine is given back by its receipt', async () => {
  const fake = await startFakeServer();
  const client = await fake.client();
  await client.check();
  await client.importLicense(fake.fileFor(await requestOf(client)));
  const data = { released: false, code: 'OFFLINE_SEAT', message: 'Only its receipt frees the seat.' };
  fake.instead = () => ({ status: 200, body: { data } });
  fake.clock.at += 91 * day;
  const given = await client.giveBack();
  expect(given).toMatchObject({ ok: true, receipt: expect.any(String) as string });
  expect(await client.giveBack()).toEqual(given);
});

test('a machine whose token cannot be read is not told that it holds no seat', async () => {
  const fake = await startFakeServer();
  let isLocked = false;
  const decrypt = (bytes: Uint8Array) => {
    if (isLocked) throw new Error('the keychain is locked');
    return Buffer.from(bytes).toString();
  };
  const protect = { encrypt: (text: string) => Buffer.from(text), decrypt };
  const client = await fake.client({ protect });
  await client.check();
  isLocked = true;
  expect(await client.giveBack()).toMatchObject({ ok: false, code: 'NO_MACHINE_KEY' });
  expect(fake.tokens.size).toBe(1);
  isLocked = false;
  expect(await client.giveBack()).toMatchObject({ ok: true, message: 'Free.' });

  await client.importLicense(fake.fileFor(await requestOf(client)));
  isLocked = true;
  const restarted = await fake.client({ folder: client.folder, protect });
  expect(await restarted.giveBack()).toMatchObject({ ok: false, code: 'NO_MACHINE_KEY' });
});

test('a seat that the server does not free now is said, with its sentence', async () => {
  const fake = await startFakeServer();
  const client = await fake.client();
  await client.check();
  const data = { released: false, code: 'TOO_MANY_RELEASES', message: 'Try again tomorrow.' };
  fake.instead = () => ({ status: 200, body: { data } });
  expect(await client.giveBack()).toMatchObject({
    ok: false,
    code: 'TOO_MANY_RELEASES',
    message: data.message,
  });
});
