import { expect, test, vi } from 'vitest';
import { releases } from '../contract/releases.ts';
import { validation } from '../contract/validation.ts';
import { program } from './binaries.ts';
import { makeApiKey, makeLicense, unique } from './factories.ts';
import { createTestDatabase, eventually, startTestServer, startTwin, type TestServer } from './harness.ts';
import { startSwitch } from './tcp-switch.ts';
import { MiB, nextVersion, uploader } from './uploading.ts';

const database = await createTestDatabase();
const pooler = await startSwitch(database.url);
/** Loses the response to the next commit after a query with these words, as a restart of a pooler does. */
const loseCommitAfter = (query: string) => {
  const committed = new RegExp(`${query}[^]*commit\\0`, 'i');
  pooler.loses = (said) => committed.test(said);
};

const one = await startTestServer({ database, pooler: pooler.url });
const twin = await startTwin(one);
const withoutMemory = await startTwin(one, { config: { cacheBytes: 1 } });
const admin = await one.signInAs('super_admin');
const staff = one.api(admin);
const apiKey = await makeApiKey(staff);

const codeOn = async (on: TestServer, licenseKey: string, machineId: string) =>
  (await on.api(apiKey).call(validation.validate, { body: { licenseKey, machineId } })).body.data?.code;
const giveBack = (licenseKey: string, machineId: string) =>
  one.api(apiKey).call(validation.releaseSeat, { body: { licenseKey, machineId } });

/** A machine on the only seat of a license, which both processes keep in memory. */
async function knownMachine() {
  const { licenseKey } = await makeLicense(staff, { maxActivations: 1 });
  const machineId = unique('machine');
  // the notification of the seat may arrive late, and drops what was read before
  for (let i = 0; i < 3; i++)
    for (const on of [one, twin]) expect(await codeOn(on, licenseKey, machineId)).toBe('VALID');
  return { licenseKey, machineId };
}

/** After its seat went to another machine, no process may take the first one for valid. */
async function expectGone({ licenseKey, machineId }: Awaited<ReturnType<typeof knownMachine>>) {
  await eventually(async () =>
    expect(await codeOn(withoutMemory, licenseKey, unique('other'))).toBe('VALID'),
  );
  await eventually(async () => {
    for (const on of [one, twin])
      expect(await codeOn(on, licenseKey, machineId)).toBe('TOO_MANY_ACTIVATIONS');
  });
}

test('a seat given back by a commit whose response is lost is not used from memory', async () => {
  const known = await knownMachine();
  loseCommitAfter('self_releases_today');
  expect((await giveBack(known.licenseKey, known.machineId)).status).toBeGreaterThanOrEqual(500);
  expect(pooler.loses).toBeUndefined();
  await expectGone(known);
});

test('a seat given back by a process that dies right after the commit is not used from memory', async () => {
  const known = await knownMachine();
  const tell = vi.spyOn(one.context.signals, 'tell').mockImplementation(() => undefined);
  expect((await giveBack(known.licenseKey, known.machineId)).status).toBe(200);
  tell.mockRestore();
  await expectGone(known);
});

test('a release created by a commit whose response is lost has its file', async () => {
  const [version, file] = [nextVersion(), program(MiB)];
  loseCommitAfter('insert into "releases"');
  const answer = await uploader(one.url, staff, admin).direct({ version, file });
  expect(answer.status).toBeGreaterThanOrEqual(500);
  expect(pooler.loses).toBeUndefined();
  const [made] = await staff.ok(releases.list, { query: { search: version } });
  const stored = await fetch(one.url + new URL(made!.fileUrl).pathname, { headers: admin.headers });
  expect(stored.status).toBe(200);
  expect(Buffer.from(await stored.arrayBuffer()).equals(file)).toBe(true);
});
