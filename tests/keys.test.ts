import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { keys } from '../contract/keys.ts';
import { knownMigrations, makeSchema } from '../server/db/migrate.ts';
import { newSigningKey } from '../server/signer.ts';
import { apiAt, createTestDatabase, openClient, type TestDatabase } from './harness.ts';
import { freePort, newDataDir, refusedStart, runTool, startServer } from './server-process.ts';
import { ask } from './work.ts';

/* Errors of a start on a database without the keys that belong to it. */

let database: TestDatabase;
let [home, elsewhere] = ['', ''];
beforeEach(async () => {
  database = await createTestDatabase({ empty: true });
  [home, elsewhere] = [await newDataDir(), await newDataDir()];
});

const settings = (dataDir: string, more: Record<string, string> = {}) => ({
  DATABASE_URL: database.url,
  DATA_DIR: dataDir,
  LOG_LEVEL: 'warn',
  ...more,
});

/** Starts and stops a server, and returns the key that it signed with. */
async function serveOnce(dataDir: string, more: Record<string, string> = {}): Promise<string> {
  const server = await startServer(settings(dataDir, more));
  const [key] = await apiAt(server.url).ok(keys.published);
  expect(await server.end('SIGTERM')).toBe(0);
  return key!.keyId;
}

test('a start without the keys of its database is refused, names the file, and makes no other', async () => {
  const keyId = await serveOnce(home);
  const said = await refusedStart(settings(elsewhere));
  expect(said).toContain(
    `belongs to the signing key ${keyId}, and ${elsewhere}/signing-key.pem does not hold it`,
  );
  expect(await readdir(elsewhere)).toEqual([]);
  await rename(join(home, 'secrets-key'), join(elsewhere, 'secrets-key'));
  expect(await refusedStart(settings(home))).toContain(`${home}/secrets-key does not hold it`);
  expect(await readdir(home)).not.toContain('secrets-key');
});

test('a start on an empty database is refused where the data directory belongs to another one', async () => {
  const keyId = await serveOnce(home);
  const empty = await createTestDatabase({ empty: true });
  const said = await refusedStart({ ...settings(home), DATABASE_URL: empty.url });
  expect(said).toContain(`The database is empty, and ${home}/audit-head.json belongs to another one`);
  expect(await refusedStart({ DATA_DIR: home })).toContain('The database is empty');
  expect(await readFile(join(home, 'locations.txt'), 'utf8')).toContain(new URL(database.url).pathname);
  await rm(join(home, 'audit-head.json'));
  database = empty;
  expect(await serveOnce(home)).toBe(keyId);
});

test('nor does it bring the schema up to date: the version before still starts on the database', async () => {
  await serveOnce(home);
  const newest = (await knownMigrations()).at(-1)!;
  await ask(database.url, `delete from schema_migrations where name = '${newest}'`);
  await ask(database.url, 'alter table machines drop column first_check');
  expect(await refusedStart(settings(elsewhere))).toContain('This database belongs to the signing key');
  expect((await runTool('keys', settings(elsewhere), 'rotate')).said).toContain('This database belongs to');
  expect((await runTool('demo', settings(elsewhere))).said).toContain('This database belongs to');
  const applied = () => ask(database.url, `select from schema_migrations where name = '${newest}'`);
  expect(await applied()).toHaveLength(0);
  await serveOnce(home);
  expect(await applied()).toHaveLength(1);
});

test.each(['0016', '0022'])('also on a database of before %s, which names no keys', async (next) => {
  const earlier = (await knownMigrations()).filter((name) => name < next);
  await makeSchema(await openClient(database.url), earlier);
  await ask(
    database.url,
    `insert into users (user_id, email, name, password_hash, created_at, updated_at)
       values (gen_random_uuid(), 'a@lanyard.test', 'A', 'x', now(), now())`,
  );
  expect(await refusedStart(settings(elsewhere))).toContain(
    `This database belongs to the signing key, and ${elsewhere}/signing-key.pem does not hold it`,
  );
  if (next === '0022') {
    await ask(database.url, `insert into audit_switch (opened_by) values ('by another key')`);
    await writeFile(join(elsewhere, 'signing-key.pem'), newSigningKey());
    expect(await refusedStart(settings(elsewhere))).toContain('holds another signing key');
  }
  expect(await ask(database.url, 'select from schema_migrations')).toHaveLength(earlier.length);
});

test('a container brings its keys in the environment, and needs no file', async () => {
  const keyId = await serveOnce(home);
  const pem = await readFile(join(home, 'signing-key.pem'), 'utf8');
  const more = {
    SIGNING_KEY: pem.replaceAll('\n', '\\n'),
    SECRETS_KEY: `file:${join(home, 'secrets-key')}`,
  };
  expect(await serveOnce(elsewhere, more)).toBe(keyId);
  expect((await readdir(elsewhere)).filter((name) => name.includes('key'))).toEqual([]);
});

test('what is accepted is said, and where the head of the audit log could not be kept', async () => {
  const keyId = await serveOnce(home);
  const closed = settings(home, { AUDIT_ANCHOR_URL: `http://127.0.0.1:${await freePort()}` });
  const notKept =
    /^The head of the audit log could not be kept in the receiver of AUDIT_ANCHOR_URL: .*cannot be reached/m;
  await rm(join(home, 'signing-key.pem'));
  const lost = await runTool('keys', closed, 'accept-new', '--reason', 'The disk failed');
  expect(lost.said).toContain(`Accepted as lost: ${keyId}. New: `);
  expect(lost.said).toMatch(notKept);
  await writeFile(join(home, 'audit-head.json'), 'of another installation');
  const missing = await runTool('audit-verify', closed, '--accept', 'Restored');
  expect(missing.said).toContain('accepted that entries are missing (none): Restored');
  expect(missing.said).toMatch(notKept);
  expect(missing.said).toContain('The audit log is whole');
  for (const { code, said } of [lost, missing]) {
    expect(code).toBe(1);
    expect(said).not.toMatch(/^\s+at /m);
  }
});
