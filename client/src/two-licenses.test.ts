import nodeFs from 'node:fs';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import {
  day,
  decisionFile,
  licenseFile,
  licenseKey,
  noNetwork,
  receiptFile,
  requestOf,
  startFakeServer,
  timesFile,
  unreadable,
  withFile,
} from './fake-server.testing.ts';

/* Two license keys in one folder: one was mistyped, or the machine has two licenses. */

const otherKey = 'E1111-22222-33333-44444-55559';

type Fake = Awaited<ReturnType<typeof startFakeServer>>;

/** Answers that no license has the key. */
function knowNoLicense(fake: Fake) {
  fake.instead = (call) => {
    const facts = { ...fake.decide(call), valid: false, code: 'NOT_FOUND', license: null };
    return { status: 200, body: { data: { ...fake.signer.answer(facts), machineToken: null } } };
  };
}

/** Checks a license key that no license has, online, in this folder. */
async function checkMistyped(fake: Fake, folder: string) {
  knowNoLicense(fake);
  const mistyped = await fake.client({ folder, licenseKey: otherKey });
  expect(await mistyped.check()).toMatchObject({ valid: false, source: 'online', code: 'NOT_FOUND' });
  fake.instead = noNetwork;
  expect(await mistyped.check()).toMatchObject({ valid: false, source: 'kept', code: 'NOT_FOUND' });
}

test('a license that was refused stays so when another key is typed once', async () => {
  const fake = await startFakeServer();
  const { folder, check } = await withFile(fake);
  fake.instead = undefined;
  fake.code = 'REVOKED';
  fake.clock.at += day;
  expect(await check()).toMatchObject({ valid: false, source: 'online', code: 'REVOKED' });
  fake.clock.at += 60_000;
  await checkMistyped(fake, folder);
  const again = await fake.client({ folder });
  expect(await again.check()).toMatchObject({ valid: false, code: 'REVOKED' });
  await rm(`${folder}/${decisionFile}`);
  expect(await again.check()).toMatchObject({ valid: false, code: 'NO_ANSWER' });
});

test('a new record of times does not forget that a license was refused', async () => {
  const fake = await startFakeServer();
  const { folder, check } = await withFile(fake);
  fake.instead = undefined;
  fake.code = 'REVOKED';
  fake.clock.at += day;
  await check();
  fake.clock.at += 60_000;
  await rm(`${folder}/${timesFile}`);
  await rm(`${folder}/${decisionFile}`);
  await checkMistyped(fake, folder);
  expect(await (await fake.client({ folder })).check()).toMatchObject({ valid: false, code: 'NO_ANSWER' });
});

test('a seat that was given back online stays so when another key is typed once', async () => {
  const fake = await startFakeServer();
  const client = await fake.client();
  await client.check();
  const kept = await readFile(`${client.folder}/${decisionFile}`, 'utf8');
  expect(await client.giveBack()).toMatchObject({ ok: true });
  fake.clock.at += 60_000;
  await checkMistyped(fake, client.folder);
  await writeFile(`${client.folder}/${decisionFile}`, kept);
  expect(await client.check()).toMatchObject({ valid: false, code: 'NO_ANSWER' });
});

test('a mistyped key costs neither the kept answer nor the license file of the right one', async () => {
  const fake = await startFakeServer();
  const client = await fake.client();
  await client.check();
  await checkMistyped(fake, client.folder);
  expect(await client.check()).toMatchObject({ valid: true, source: 'kept' });
  const byFile = await withFile(fake);
  await checkMistyped(fake, byFile.folder);
  expect(await byFile.check()).toMatchObject({ valid: true, source: 'file' });
});

test('a license file for one license key leaves that for another in place, and both can be given back', async () => {
  const fake = await startFakeServer();
  const one = await withFile(fake);
  const other = await fake.client({ folder: one.folder, licenseKey: otherKey });
  expect(await other.importLicense(fake.fileFor(await requestOf(other)))).toMatchObject({ ok: true });
  const receipts: string[] = [];
  for (const client of [one, other]) {
    expect(await client.check()).toMatchObject({ valid: true, source: 'file' });
    const given = await client.giveBack();
    receipts.push((given as { receipt: string }).receipt);
    expect(await client.check()).toMatchObject({ valid: false });
  }
  expect(receipts.map((receipt) => typeof receipt)).toEqual(['string', 'string']);
  expect((await readdir(one.folder)).filter((name) => name.startsWith('license'))).toEqual([]);
});

test('a file for one license does not hide that the last answer for another was of a clock ahead by years', async () => {
  const fake = await startFakeServer();
  const right = fake.clock.at;
  const one = await fake.client();
  const other = await fake.client({ folder: one.folder, licenseKey: otherKey });
  fake.clock.at = right + 400 * day;
  for (const client of [one, other])
    expect(await client.check()).toMatchObject({ valid: true, source: 'online' });
  fake.instead = noNetwork;
  fake.clock.at = right;
  const [oneFile, otherFile] = [fake.fileFor(await requestOf(one)), fake.fileFor(await requestOf(other))];
  expect(await one.importLicense(oneFile)).toMatchObject({ ok: true });
  expect(await other.importLicense(otherFile)).toMatchObject({ ok: false, code: 'CLOCK_SET_BACK' });
  // the request of before was that of the first license, too
  expect(await other.importLicense(fake.fileFor(await requestOf(other)))).toMatchObject({ ok: true });
  for (const client of [one, other])
    expect(await client.check()).toMatchObject({ valid: true, source: 'file' });
});

test('files that cannot be read at the moment are not taken for none, and no receipt is lost', async () => {
  const fake = await startFakeServer();
  const one = await withFile(fake);
  const { folder } = one;
  const scanned = await fake.client({ folder }, { files: unreadable(licenseFile) });
  expect(await scanned.giveBack()).toMatchObject({ ok: false, code: 'NOT_STORED' });
  const given = await one.giveBack();
  expect(given).toMatchObject({ ok: true, receipt: expect.any(String) as string });
  const other = await fake.client({ folder, licenseKey: otherKey });
  expect(await other.importLicense(fake.fileFor(await requestOf(other)))).toMatchObject({ ok: true });
  for (const key of [licenseKey, otherKey]) {
    const held = await fake.client({ folder, licenseKey: key }, { files: unreadable(receiptFile) });
    expect(await held.giveBack()).toMatchObject({ ok: false, code: 'NOT_STORED' });
  }
  expect(await other.giveBack()).toMatchObject({ ok: true, receipt: expect.any(String) as string });
  expect(await one.giveBack()).toEqual(given);
});

test.each([timesFile, decisionFile])(
  'a check of another key, while %s is held by a virus scanner, costs nothing of the right one',
  async (held) => {
    const fake = await startFakeServer();
    const { folder, ...client } = await fake.client();
    if (held === decisionFile) await client.check();
    fake.instead = noNetwork;
    if (held === timesFile) {
      expect(await client.importLicense(fake.fileFor(await requestOf(client)))).toMatchObject({ ok: true });
    }
    fake.clock.at += 60_000;
    knowNoLicense(fake);
    const readFileSync = ((file: string, encoding: 'utf8') => {
      if (file.endsWith(held)) throw Object.assign(new Error('busy'), { code: 'EBUSY' });
      return nodeFs.readFileSync(file, encoding);
    }) as typeof nodeFs.readFileSync;
    const mistyped = await fake.client(
      { folder, licenseKey: otherKey },
      { files: { ...nodeFs, readFileSync } },
    );
    expect(await mistyped.check()).toMatchObject({ code: 'NOT_FOUND' });
    fake.instead = noNetwork;
    expect(await (await fake.client({ folder })).check()).toMatchObject({ valid: true });
  },
);
