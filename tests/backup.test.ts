import { execFileSync, spawn } from 'node:child_process';
import { createHash, createPublicKey, randomUUID, verify } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import {
  copyFile,
  mkdir,
  readdir,
  readFile,
  realpath,
  rm,
  stat,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { audit } from '../contract/audit.ts';
import { customers } from '../contract/customers.ts';
import type { License } from '../contract/licenses.ts';
import { keys } from '../contract/keys.ts';
import { uploads } from '../contract/uploads.ts';
import { validation } from '../contract/validation.ts';
import { readConfig } from '../server/config.ts';
import { isRoot } from '../server/db/embedded-account.ts';
import { privateRoot } from '../server/db/embedded-location.ts';
import { findPostmaster } from '../server/db/embedded-postmaster.ts';
import { locks } from '../server/db/locks.ts';
import { newSigningKey } from '../server/signer.ts';
import { createArchive, openArchive } from '../tools/backup/archive.ts';
import { addFiles } from '../tools/backup/files.ts';
import { onInstallation } from '../tools/database.ts';
import { program } from './binaries.ts';
import { startFakeS3 } from './fake-s3.ts';
import { makeApiKey, makeCustomer, makeLicense, validateOn, type MadeApiKey } from './factories.ts';
import { apiAt, createTestDatabase, eventually, openClient } from './harness.ts';
import {
  administratorAt,
  newDataDir,
  refusedStart,
  runTool,
  signInAdministrator,
  spawnTool,
  startServer,
  type ServerProcess,
} from './server-process.ts';
import { nextVersion, uploader } from './uploading.ts';
import { ask } from './work.ts';

/*
 * Backup and restore as an operator runs them: the built tools as processes, next to a built server on an embedded
 * database.
 */

const bytes = program(3_000_000);
let home: string;
let server: ServerProcess;
let folder: string;
let file: string;
let license: License;
let key: MadeApiKey;
let releaseUrl: string;
let uploadId: string;
let publicKey: string;
/** Moved there by hand, as the start asks for after a SIGNING_KEY was replaced. */
const retiredKey = join('retired-keys', '2025.11 first.pem');

/** The output of a tool that fails: a sentence without a stack trace. */
async function refusal(...args: Parameters<typeof runTool>): Promise<string> {
  const { code, said } = await runTool(...args);
  expect(said, 'no stack').not.toMatch(/^\s+at /m);
  expect(code, said).toBe(1);
  return said;
}

beforeAll(async () => {
  [home, folder] = [await newDataDir(), await newDataDir()];
  file = join(folder, 'lanyard.tar');
  server = await startServer({ DATA_DIR: home, LOG_LEVEL: 'warn' });
  const administrator = await administratorAt(server);
  const staff = apiAt(server.url, administrator);
  license = await makeLicense(staff, { maxActivations: 3 });
  key = await makeApiKey(staff, { scopes: ['validate', 'updates'] });
  await validateOn(apiAt(server.url, key), license, 'kept machine');
  const [published] = await apiAt(server.url).ok(keys.published);
  publicKey = published!.publicKeyPem;
  const upload = uploader(server.url, staff, administrator);
  const sent = await upload.direct({ version: '1.2.3', file: bytes });
  expect(sent.status, sent.text).toBe(201);
  await upload.publish(sent.body.data.id);
  ({ uploadId } = await upload.prepare(bytes));
  expect((await upload.chunk(uploadId, 0, bytes)).status).toBe(200);
  releaseUrl = new URL(sent.body.data.fileUrl).pathname;
  await mkdir(join(home, 'journal'), { recursive: true });
  await writeFile(join(home, 'journal', `waiting-${randomUUID()}.json`), '[]');
  await mkdir(join(home, 'retired-keys'));
  await writeFile(join(home, retiredKey), newSigningKey());
});

/** Asserts that the service has the data of the backup, as far as its users can see. */
async function expectTheSame(restored: ServerProcess): Promise<void> {
  const staff = await signInAdministrator(restored);
  const desktop = apiAt(restored.url, key);
  const answer = await validateOn(desktop, license, 'kept machine');
  expect(answer.code).toBe('VALID');
  const isSigned = verify(
    null,
    Buffer.from(answer.signed),
    createPublicKey(publicKey),
    Buffer.from(answer.signature, 'base64'),
  );
  expect(isSigned, 'by the key that machines know').toBe(true);
  const download = await fetch(restored.url + releaseUrl, { headers: key.headers });
  expect(Buffer.from(await download.arrayBuffer()).equals(bytes)).toBe(true);
  const inProgress = await staff.call(uploads.state, { params: { uploadId } });
  expect(inProgress.status, 'its sender begins again').toBe(404);
  expect(await staff.ok(audit.verify)).toMatchObject({ whole: true, acceptedGaps: 0 });
  // triggers and sequences continue where they were
  await makeCustomer(staff, { name: 'After the restore' });
  await makeLicense(staff);
  await eventually(async () =>
    expect(await staff.ok(audit.verify)).toMatchObject({ whole: true, unsealedEntries: 0 }),
  );
}

test('a backup that is taken while machines validate holds all, and is restored with data, bytes, keys and audit log', async () => {
  const staff = await signInAdministrator(server);
  const desktop = apiAt(server.url, key);
  let going = true;
  const statuses: number[] = [];
  const load = [0, 1].map(async () => {
    while (going) {
      const body = { licenseKey: license.licenseKey, machineId: 'kept machine' };
      statuses.push((await desktop.call(validation.validate, { body })).status);
      statuses.push(
        (await staff.call(customers.create, { body: { name: 'Meanwhile', country: 'DE' } })).status,
      );
    }
  });
  await makeCustomer(staff, { name: 'Before the backup' });
  const backup = await runTool('backup', { DATA_DIR: home }, file);
  going = false;
  await Promise.all(load);
  expect(backup.code, backup.said).toBe(0);
  expect(backup.said).toMatch(
    /^1 process uses this database\. What is changed after 20\S+Z is not in the backup\.\n/,
  );
  expect(statuses.filter((status) => status !== 200 && status !== 201)).toEqual([]);
  expect(backup.said).toContain(
    'Binaries: 2 files, 3.0 MB\nKeys: retired-keys/2025.11 first.pem, secrets-key, signing-key.pem\n',
  );
  expect(backup.said).toMatch(/lanyard\.tar: \d+\.\d MB\. It contains the keys/);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await readdir(folder)).toEqual(['lanyard.tar']);
  await makeCustomer(staff, { name: 'After the backup' });

  const target = await newDataDir();
  const restore = await runTool('restore', { DATA_DIR: target }, file);
  expect(restore.code, restore.said).toBe(0);
  expect(restore.said).toMatch(/Database: \d+ tables, \d+ rows\nBinaries: 2 files, 3\.0 MB\n/);
  expect(restore.said).toMatch(/Audit log: whole, \d+ entries checked\n/);
  expect(await readdir(join(target, 'journal'))).toHaveLength(1);
  expect(await readFile(join(target, retiredKey))).toEqual(await readFile(join(home, retiredKey)));
  const restored = await startServer({ DATA_DIR: target, LOG_LEVEL: 'warn' });
  await expectTheSame(restored);
  const again = await signInAdministrator(restored);
  const found = await again.ok(customers.list, { query: { search: 'the backup' } });
  expect(found.map(({ name }) => name)).toEqual(['Before the backup']);
  const { entries } = await again.ok(audit.list, { query: { search: 'Backup of 20' } });
  expect(entries).toHaveLength(1);
  expect(await restored.end('SIGTERM')).toBe(0);
  // the command starts the embedded database of a stopped service
  const last = await runTool('backup', { DATA_DIR: target }, join(target, 'last.tar'));
  expect([last.code, last.said]).toEqual([0, expect.not.stringContaining('process')]);

  // a command that is refused leaves no PostgreSQL behind
  const others = { DATA_DIR: target, SIGNING_KEY: newSigningKey() };
  for (const [name, ...args] of [['audit-verify'], ['keys', 'rotate'], ['demo']] as const) {
    expect(await refusal(name, others, ...args)).toContain('holds another signing key');
    expect(await findPostmaster(join(target, 'postgres')), name).toBeUndefined();
  }

  // nor does one that a signal ends, here while it waits for a receiver
  const receiver = createServer();
  onTestFinished(() => receiver.close().closeAllConnections());
  await once(receiver.listen(0, '127.0.0.1'), 'listening');
  const { port } = receiver.address() as AddressInfo;
  const waiting = { DATA_DIR: target, AUDIT_ANCHOR_URL: `http://127.0.0.1:${port}` };
  await writeFile(join(target, 'audit-head.json'), 'of another installation');
  const ended = spawnTool('audit-verify', waiting, '--accept', 'Restored');
  await once(receiver, 'request');
  expect([await ended.end('SIGINT'), ended.output()]).toEqual([1, '']);
  expect(await findPostmaster(join(target, 'postgres'))).toBeUndefined();
});

test('the same file moves an installation to a database of its own', async () => {
  const database = await createTestDatabase({ empty: true });
  const settings = { DATABASE_URL: database.url, DATA_DIR: join(await newDataDir(), 'new') };
  const restore = await runTool('restore', settings, file);
  expect(restore.code, restore.said).toBe(0);
  const restored = await startServer({ ...settings, LOG_LEVEL: 'warn' });
  await expectTheSame(restored);
  const again = { ...settings, DATA_DIR: join(folder, 'other') };
  expect(await refusal('restore', again, file)).toMatch(
    /^The database is not empty \(activations, active_days, api_keys\): a restore needs an empty database\.\n$/,
  );
  await ask(database.url, 'drop schema public cascade; create schema public');
  expect(await refusal('restore', again, file)).toBe(
    '1 process uses this database. Stop all processes first.\n',
  );
  await restored.end('SIGTERM');
});

test('tables that others made in the database are skipped by a restore, whatever they are named', async () => {
  const database = await createTestDatabase();
  await ask(
    database.url,
    `create table "Report 2026" ("Sum" int); insert into "Report 2026" values (1);
     create table regions (name text) partition by list (name); create table "EU" partition of regions for values in ('DE');
     create table days (day date) partition by range (day);
     create table days_old partition of days for values from (minvalue) to ('2026-01-01');
     create sequence countdown increment -1`,
  );
  await ask(database.url, `select nextval('countdown')`);
  const others = join(await newDataDir(), 'others.tar');
  const backup = await runTool(
    'backup',
    { DATABASE_URL: database.url, DATA_DIR: await newDataDir() },
    others,
  );
  expect(backup.code, backup.said).toBe(0);
  const target = await createTestDatabase({ empty: true });
  const settings = { DATABASE_URL: target.url, DATA_DIR: await newDataDir() };
  const { code, said } = await runTool('restore', settings, others);
  expect(said.match(/^ {2}.* was skipped: it is not a table of Lanyard\.$/gm)).toEqual(
    ['Report 2026', 'days', 'regions'].map((name) => `  ${name} was skipped: it is not a table of Lanyard.`),
  );
  expect(code, said).toBe(0);
});

test('a backup is refused with a sentence, and leaves nothing behind', async () => {
  const own = { DATA_DIR: home };
  expect(await refusal('backup', own)).toBe(
    'The name of the file is required: npm run backup -- /backups/lanyard.tar\n',
  );
  await expect(createArchive(file, new Date())).rejects.toThrow(
    `${file} already exists. Choose another file name.`,
  );
  await expect(createArchive(join(folder, 'none/a.tar'), new Date())).rejects.toThrow(
    'The backup cannot be written: ENOENT',
  );
  const empty = await newDataDir();
  expect(await refusal('backup', { DATA_DIR: empty }, join(folder, 'a.tar'))).toBe(
    `There is no database in ${empty}: set DATA_DIR as for the server.\n`,
  );
  expect(await readdir(empty)).toEqual([]);
  // as where a disk is not mounted, or the setting is known to the service alone
  const notMounted = { ...own, STORAGE_URL: `file:${await newDataDir()}` };
  const id = await readFile(join(home, 'binaries', '.lanyard-installation'), 'utf8');
  expect(await refusal('backup', notMounted, join(folder, 'a.tar'))).toContain(
    'is not the storage of this installation, and has none of its 2 binaries. Mount the disk, or set STORAGE_URL as for the server. ' +
      `If the binaries are lost, write ${id.trim()} into .lanyard-installation there, and back up without them.\n`,
  );
  expect(await readdir(folder)).toEqual(['lanyard.tar']);
});

test('a command creates no database where there is none, as without the settings', async () => {
  const empty = await newDataDir();
  const database = await createTestDatabase({ empty: true });
  const nowhere = `There is no database in ${empty}: set DATA_DIR as for the server.`;
  const run = (more: Record<string, string>) =>
    onInstallation(readConfig({ DATA_DIR: empty, ...more }), { exclusive: true }, async () => undefined);
  await expect(run({})).rejects.toThrow(nowhere);
  expect(await refusal('audit-verify', { DATA_DIR: empty })).toBe(`${nowhere}\n`);
  // nor an installation in a database that has none
  await expect(run({ DATABASE_URL: database.url })).rejects.toThrow(
    'Lanyard was never started on this database: set DATABASE_URL and DATA_DIR as for the server.',
  );
  expect(await ask(database.url, "select from pg_tables where schemaname = 'public'")).toEqual([]);
  expect(await readdir(empty)).toEqual([]);
});

test('keys is refused before a database is opened, and accepts no keys as lost', async () => {
  expect(await refusal('keys', { DATA_DIR: await newDataDir() }, 'rotate-secret')).toBe(
    'The command is one of: rotate, rotate-secrets, accept-new\n',
  );
});

test('without a reason, accepting new keys is refused before a database is opened', async () => {
  expect(await refusal('keys', { DATA_DIR: await newDataDir() }, 'accept-new')).toContain(
    'A reason is required',
  );
});

test('a file that is no whole backup is refused before anything is written', async () => {
  const target = join(await newDataDir(), 'target');
  const broken = join(folder, 'broken.tar');
  const settings = { DATA_DIR: target };
  const whole = await readFile(file);
  const { length } = whole;
  const truncated = 'broken.tar is truncated: its end is missing.';
  const damaged = /broken\.tar is damaged at \S+: its hash does not match/;
  const flipped = async (at: number) => {
    const copy = Buffer.from(whole);
    copy[at]! ^= 1;
    await writeFile(broken, copy);
  };
  for (const size of [length - 1024, length - 1_000_000, 600]) {
    await copyFile(file, broken);
    await truncate(broken, size);
    await expect(openArchive(broken, () => undefined)).rejects.toThrow(truncated);
  }
  for (const at of [
    whole.indexOf(bytes) + 1_000_000,
    whole.indexOf('database/') + 600,
    whole.indexOf('"entries"'),
  ]) {
    await flipped(at);
    await expect(openArchive(broken, () => undefined)).rejects.toThrow(damaged);
  }
  expect(await refusal('restore', settings, broken)).toMatch(damaged);
  await writeFile(broken, 'no archive');
  await expect(openArchive(broken, () => undefined)).rejects.toThrow(
    'broken.tar is not a backup made by npm run backup.',
  );
  await expect(openArchive(join(folder, 'none.tar'), () => undefined)).rejects.toThrow(
    'The backup cannot be read: ENOENT',
  );
  await rm(broken);
  expect(existsSync(target)).toBe(false);

  expect(await refusal('restore', { DATA_DIR: home }, file)).toMatch(
    /is not empty \(.+\): a restore overwrites nothing\. Move that folder away, or set DATA_DIR to a new one\.\n$/,
  );
});

test('a storage that an installation has marked is not taken from it', async () => {
  const marked = await newDataDir();
  await writeFile(join(marked, '.lanyard-installation'), 'another');
  const target = await newDataDir();
  expect(await refusal('restore', { DATA_DIR: target, STORAGE_URL: `file:${marked}` }, file)).toMatch(
    /The storage \S+ has the \.lanyard-installation of an installation\. Use another one, or remove that file if no installation uses the storage\.\n$/,
  );
  expect(await readFile(join(marked, '.lanyard-installation'), 'utf8')).toBe('another');
  expect(await readdir(target)).toEqual([]);

  const anchor = join(marked, '.lanyard-installation', 'head.json');
  expect(
    await refusal('restore', { DATA_DIR: target, AUDIT_ANCHOR_URL: `file:${anchor}` }, file),
  ).not.toContain('The restore failed');
  expect(existsSync(join(target, 'restore-unfinished.txt'))).toBe(false);
});

test('a database that is lost is restored beside the bucket that still has the binaries', async () => {
  const s3 = await startFakeS3();
  onTestFinished(() => s3.close());
  const bucket = {
    STORAGE_URL: 's3://releases/lanyard',
    S3_ENDPOINT: s3.endpoint,
    AWS_ACCESS_KEY_ID: 'key',
    AWS_SECRET_ACCESS_KEY: 'secret',
    AWS_REGION: 'us-east-1',
    LOG_LEVEL: 'warn',
  };
  const lost = { ...bucket, DATA_DIR: await newDataDir() };
  const first = await startServer(lost);
  const by = await administratorAt(first);
  const upload = uploader(first.url, apiAt(first.url, by), by);
  const sent = await upload.direct({ version: nextVersion(), file: bytes });
  expect(sent.status, sent.text).toBe(201);
  const without = join(await newDataDir(), 'database-only.tar');
  const backup = await runTool('backup', lost, without);
  expect(backup.said).toContain('Binaries: not included. They are in s3://releases/lanyard/');
  expect(await first.end('SIGTERM')).toBe(0);

  const target = { DATA_DIR: await newDataDir() };
  expect(await refusal('restore', { ...bucket, ...target }, without)).toMatch(
    /The binaries of this backup were in s3:\/\/releases\/lanyard\/ .*If they still are, restore without STORAGE_URL/,
  );
  const restore = await runTool('restore', target, without);
  expect(restore.code, restore.said).toBe(0);
  const restored = await startServer({ ...bucket, ...target });
  const { headers } = await administratorAt(restored);
  const download = await fetch(restored.url + new URL(sent.body.data.fileUrl).pathname, { headers });
  expect(Buffer.from(await download.arrayBuffer()).equals(bytes)).toBe(true);
  expect(await restored.end('SIGTERM')).toBe(0);
});

test.skipIf(!isRoot)(
  'a database that an earlier folder of the same name has elsewhere is named [needs root]',
  async () => {
    const target = await newDataDir();
    const hash = createHash('sha256')
      .update(await realpath(target))
      .digest('hex')
      .slice(0, 12);
    const cluster = join(privateRoot, hash, 'postgres');
    await mkdir(cluster, { recursive: true });
    onTestFinished(() => rm(dirname(cluster), { recursive: true, force: true }));
    await writeFile(join(cluster, 'PG_VERSION'), '18\n');
    expect(await refusal('restore', { DATA_DIR: target }, file)).toContain(
      `The database of an earlier ${target} is in ${cluster}: a restore overwrites nothing. Set DATA_DIR to a new folder`,
    );
    expect(await readdir(target)).toEqual([]);
  },
);

test('a file that is gone when its turn comes is named, and fails no backup', async () => {
  const binaries = join(home, 'binaries');
  const [name] = (await readdir(binaries)).filter((one) => one.endsWith('.exe'));
  await rm(join(binaries, name!));
  const backup = await runTool('backup', { DATA_DIR: home }, join(folder, 'without.tar'));
  expect(backup.said).toContain(
    `${name} of release 1.2.3 is missing: it was deleted, or is lost.\nBinaries: 1 files`,
  );
  expect(backup.code).toBe(0);
});

test('a file that cannot be read is named, and the backup is made without it', async () => {
  const [name] = (await readdir(join(home, 'binaries'))).filter((one) => one.endsWith('.blockmap'));
  const binary = join(home, 'binaries', name!);
  const stored = await readFile(binary);
  // it has a size, and gives an error when it is read
  await rm(binary);
  await mkdir(binary);
  const target = join(folder, 'unreadable.tar');
  const backup = await runTool('backup', { DATA_DIR: home }, target);
  await rm(binary, { recursive: true });
  await writeFile(binary, stored);
  expect(backup.code).toBe(1);
  expect(backup.said).toContain(
    `${name} of release 1.2.3 cannot be read: EISDIR: illegal operation on a directory, read\n`,
  );
  expect(backup.said).toContain('The backup is complete but for 1 file that cannot be read.');
  const archive = await openArchive(target, () => undefined);
  expect(archive.namesIn('binaries')).not.toContain(`binaries/${name}`);
  expect(archive.namesIn('database')).not.toEqual([]);
});

test('while binaries are copied, only the purge of the recycle bin waits', async () => {
  const [name] = (await readdir(join(home, 'binaries'))).filter((one) => one.endsWith('.blockmap'));
  const binary = join(home, 'binaries', name!);
  const stored = await readFile(binary);
  // whoever opens it waits until somebody writes there
  await rm(binary);
  execFileSync('mkfifo', [binary]);
  const backup = spawnTool('backup', { DATA_DIR: home }, join(folder, 'slow.tar'));
  try {
    await eventually(() => backup.output().includes('journal files\n'));
    await onInstallation(readConfig({ DATA_DIR: home }), { exclusive: false }, async (pool) => {
      const held = async () => {
        const { rows } = await pool.query<{ lock: string }>(`
          select coalesce(((classid::bigint << 32) | objid::bigint)::text, relation::regclass::text) as lock
            from pg_locks join pg_stat_activity using (pid)
           where application_name = 'lanyard backup' and locktype in ('advisory', 'relation')`);
        return rows.map(({ lock }) => lock);
      };
      await eventually(async () => expect(await held()).toEqual([String(locks.trashPurge)]));
      const { rowCount } = await pool.query(
        `select from pg_stat_activity where application_name = 'lanyard backup' and backend_xmin is not null`,
      );
      expect(rowCount, 'nothing is kept from the vacuum').toBe(0);
    });
  } finally {
    await writeFile(binary, '');
    const code = await backup.ended;
    await rm(binary);
    await writeFile(binary, stored);
    expect(code, backup.output()).toBe(0);
  }
});

test('a folder that is there and cannot be read fails a backup', async () => {
  const archive = await createArchive(join(await newDataDir(), 'a.tar'), new Date());
  onTestFinished(() => archive.abandon());
  const own = await newDataDir();
  expect(await addFiles('journal', own, archive)).toEqual([]);
  await writeFile(join(own, 'journal'), '');
  await expect(addFiles('journal', own, archive)).rejects.toThrow('ENOTDIR');
});

test('nothing starts on half a restore', async () => {
  const database = await createTestDatabase({ empty: true });
  const settings = { DATABASE_URL: database.url, DATA_DIR: await newDataDir() };
  const [holder, client] = [await openClient(database.url), await openClient(database.url)];
  // the restore waits for this lock halfway through
  await holder.query('begin; create table schema_migrations ()');
  const script = join(import.meta.dirname, '../dist/tools/restore.js');
  const env = { ...process.env, ...settings };
  const child = spawn(process.execPath, [script, file], { env, stdio: 'ignore' });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const restoring = async (and: string) =>
    (await client.query(`select from pg_stat_activity where application_name = 'lanyard restore' ${and}`))
      .rowCount;
  await eventually(async () => (await restoring(`and wait_event_type = 'Lock'`)) === 1);
  child.kill('SIGKILL');
  await ended;
  await holder.query('rollback');
  await eventually(async () => (await restoring('')) === 0);
  const tables = await client.query(`select from pg_class where relnamespace = 'public'::regnamespace`);
  expect(tables.rowCount).toBe(0);

  expect(await refusedStart(settings)).toBe(
    `The restore into ${settings.DATA_DIR} did not end, so a part is missing. Empty that folder, and what DATABASE_URL and STORAGE_URL name, where they are set. Then run npm run restore again.\n`,
  );
});

test('an embedded database of another major version says how to upgrade it', async () => {
  const version = join(home, 'postgres', 'PG_VERSION');
  await server.end('SIGTERM');
  const ours = await readFile(version, 'utf8');
  await writeFile(version, '17\n');
  // behind what a start says that takes long
  expect(await refusedStart({ DATA_DIR: home, LOG_LEVEL: 'warn' })).toMatch(
    /^(?:.*Still waiting for .*\n)*The database in \S+ was made by PostgreSQL 17, and the bundled one is \d+\. With the version of Lanyard that ran on it, and all its processes stopped: npm run backup -- FILE\. Then with this one, and DATA_DIR set to a new folder: npm run restore -- FILE\. Nothing was changed\.\n$/,
  );
  await writeFile(version, ours);
  const back = await startServer({ DATA_DIR: home, LOG_LEVEL: 'warn' });
  await back.end('SIGTERM');
});

test('limits of the role end neither a migration, nor a backup, nor a restore', async () => {
  const [database, target] = [
    await createTestDatabase({ empty: true }),
    await createTestDatabase({ empty: true }),
  ];
  const holder = await openClient(database.url);
  for (const { url } of [database, target])
    for (const limit of ['statement_timeout', 'transaction_timeout', 'idle_session_timeout'])
      await ask(url, `alter database ${new URL(url).pathname.slice(1)} set ${limit} = '1s'`);
  await holder.query('set idle_session_timeout = 0');
  /** Until the work has waited for a lock for longer than the limits, or is over. */
  const hasWaited = async (work: Promise<unknown>) => {
    let isOver = false;
    void work.finally(() => (isOver = true)).catch(() => undefined);
    const waited = `select from pg_locks join pg_database d on d.oid = database
      where datname = current_database() and clock_timestamp() - waitstart > interval '1200 ms'`;
    await eventually(async () => isOver || (await holder.query(waited)).rowCount! > 0);
  };
  const settings = { DATABASE_URL: database.url, DATA_DIR: await newDataDir(), LOG_LEVEL: 'warn' };
  await holder.query('select pg_advisory_lock($1)', [locks.migration]);
  const starting = startServer(settings);
  await hasWaited(starting);
  await holder.query('select pg_advisory_unlock($1)', [locks.migration]);
  await (await starting).end('SIGTERM');

  const limited = join(folder, 'limited.tar');
  await holder.query('begin; lock table customers in access exclusive mode');
  const backup = runTool('backup', settings, limited);
  await hasWaited(backup);
  await holder.query('commit');
  const { code, said } = await backup;
  expect(code, said).toBe(0);
  const restored = await runTool(
    'restore',
    { DATABASE_URL: target.url, DATA_DIR: await newDataDir() },
    limited,
  );
  expect(restored.code, restored.said).toBe(0);
});
