import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { newFolder } from '../../tests/place.ts';
import {
  day,
  decisionFile,
  licenseFile,
  noNetwork,
  receiptFile,
  requestOf,
  secretFiles,
  startFakeServer,
  timesFile,
  withFile,
} from './fake-server.testing.ts';

/* What somebody who may delete or copy the files of the folder can do, without administrator rights. */

const [keyFile, tokenFile] = secretFiles();

test.each([
  ['the times', [timesFile]],
  ['the times, the token and the key', [timesFile, tokenFile, keyFile]],
])('without %s, a kept answer does not count, whatever the clock says', async (_, names) => {
  const fake = await startFakeServer();
  const client = await fake.client();
  await client.check();
  const start = fake.clock.at;
  fake.instead = noNetwork;
  fake.clock.at = start + 13 * day;
  expect(await client.check()).toMatchObject({ valid: true, source: 'kept' });
  for (const name of names) await rm(`${client.folder}/${name}`);
  for (const at of [start + 60_000, start + 13 * day]) {
    fake.clock.at = at;
    for (let n = 0; n < 2; n++) {
      const restarted = await fake.client({ folder: client.folder });
      expect(await restarted.check()).toMatchObject({ valid: false, source: 'none' });
    }
  }
  fake.instead = undefined;
  expect(await client.check()).toMatchObject({ valid: true, source: 'online' });
  fake.instead = noNetwork;
  expect(await client.check()).toMatchObject({ valid: true, source: 'kept' });
});

test('without the times, a license file does not count, also imported again; a new request helps', async () => {
  const fake = await startFakeServer();
  const start = fake.clock.at;
  const { file, ...client } = await withFile(fake);
  fake.clock.at = start + 89 * day;
  expect(await client.check()).toMatchObject({ valid: true, source: 'file' });
  fake.clock.at = start + 60_000;
  await rm(`${client.folder}/${timesFile}`);
  const restarted = await fake.client({ folder: client.folder });
  const result = await restarted.check();
  expect(result).toMatchObject({ valid: false, code: 'TIMES_MISSING' });
  expect(result.message).toMatch(/network.*new request/);
  await rm(`${client.folder}/${licenseFile}`);
  expect(await restarted.importLicense(file)).toMatchObject({ ok: false, code: 'TIMES_MISSING' });

  const again = await requestOf(restarted);
  expect(await restarted.importLicense(file)).toMatchObject({ ok: false, code: 'OTHER_MACHINE_KEY' });
  expect(await restarted.importLicense(fake.fileFor(again))).toMatchObject({ ok: true });
  expect(await restarted.check()).toMatchObject({ valid: true, source: 'file' });
});

test('without the receipt, a license file that was given back does not count either; a new one does', async () => {
  const fake = await startFakeServer();
  const { file, ...client } = await withFile(fake);
  expect(await client.giveBack()).toMatchObject({ ok: true, receipt: expect.any(String) as string });
  await rm(`${client.folder}/${receiptFile}`);
  expect(await client.importLicense(file)).toMatchObject({ ok: false, code: 'SUPERSEDED' });
  await writeFile(`${client.folder}/${licenseFile}`, file);
  expect(await client.check()).toMatchObject({ valid: false, source: 'none' });
  fake.clock.at += 1000;
  expect(await client.importLicense(fake.fileFor(await requestOf(client)))).toMatchObject({ ok: true });
  expect(await client.check()).toMatchObject({ valid: true, source: 'file' });
});

test('a license file that was given back stays so after an answer of a server whose clock is behind', async () => {
  const fake = await startFakeServer();
  const { file, ...client } = await withFile(fake);
  expect(await client.giveBack()).toMatchObject({ ok: true });
  fake.instead = undefined;
  fake.clock.at -= 60_000;
  expect(await client.check()).toMatchObject({ valid: true, source: 'online' });
  fake.instead = noNetwork;
  await rm(`${client.folder}/${receiptFile}`);
  await writeFile(`${client.folder}/${licenseFile}`, file);
  expect((await client.check()).source).not.toBe('file');
});

test('an answer from before the seat was given back does not count when it is put back', async () => {
  const fake = await startFakeServer();
  const client = await fake.client();
  await client.check();
  const kept = await readFile(`${client.folder}/${decisionFile}`, 'utf8');
  fake.instead = () => ({ status: 200, body: { data: { released: true, message: 'Free.' } } });
  expect(await client.giveBack()).toMatchObject({ ok: true });
  await writeFile(`${client.folder}/${decisionFile}`, kept);
  fake.instead = noNetwork;
  expect(await client.check()).toMatchObject({ valid: false, source: 'none' });
  fake.instead = undefined;
  fake.clock.at += 1000;
  expect(await client.check()).toMatchObject({ valid: true, source: 'online' });
  fake.instead = noNetwork;
  expect(await client.check()).toMatchObject({ valid: true, source: 'kept' });
});

test('the times are there before the key, from the first request or enrollment on', async () => {
  const fake = await startFakeServer();
  fake.instead = noNetwork;
  for (const call of ['offlineRequest', 'check'] as const) {
    const client = await fake.client();
    await client[call]();
    const key = await readFile(`${client.folder}/${keyFile}`, 'utf8');
    expect(JSON.parse(await readFile(`${client.folder}/${timesFile}`, 'utf8'))).toMatchObject({ seen: 0 });
    await client.offlineRequest();
    expect(await readFile(`${client.folder}/${keyFile}`, 'utf8')).toBe(key);
  }
});

test('a computer made from the disk image of another one is a machine of its own', async () => {
  const fake = await startFakeServer();
  const first = await fake.client();
  await first.check();
  const folder = await newFolder();
  await cp(first.folder, folder, { recursive: true });
  const calls = fake.calls.length;
  const second = await fake.client({ folder, machineId: 'ws-08' });
  fake.instead = noNetwork;
  expect(await second.check()).toMatchObject({ valid: false, code: 'NO_ANSWER' });
  fake.instead = undefined;
  expect(await second.check()).toMatchObject({ valid: true, source: 'online' });
  const [enrollment] = fake.calls;
  const own = fake.calls.slice(calls);
  expect(own.map(({ path }) => path)).toEqual(Array(2).fill('/api/v1/machines/enroll'));
  expect(own[0]!.body['publicKey']).toBe(own[1]!.body['publicKey']);
  expect(own[1]!.body['publicKey']).not.toBe(enrollment!.body['publicKey']);
  // a start with a wrong machine id costs the machine nothing
  const key = await readFile(`${folder}/${keyFile}`, 'utf8');
  expect(key).toBe(await readFile(`${first.folder}/${keyFile}`, 'utf8'));
});
