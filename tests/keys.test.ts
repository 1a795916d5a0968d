import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { keys } from '../contract/keys.ts';
import { knownMigrations } from '../server/db/migrate.ts';
import { apiAt, createTestDatabase, startTestServer, type TestDatabase } from './harness.ts';
import { freePort, newDataDir, refusedStart, runTool, startServer } from './server-process.ts';
import { ask } from './work.ts';

/* Starts and tools on a database without the keys that belong to it. */

let database: TestDatabase;
let [home, elsewhere] = ['', ''];
beforeEach(async () => {
  database = await createTestDatabase();
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

test('without the keys nothing starts, migrates or makes others; a container brings them in the environment', async () => {
  const keyId = await serveOnce(home);
  // the version before still starts on the database
  const newest = (await knownMigrations()).at(-1)!;
  await ask(database.url, `delete from schema_migrations where name = '${newest}'`);
  const applied = () => ask(database.url, `select from schema_migrations where name = '${newest}'`);
  const sentence = `This database belongs to the signing key ${keyId}, and ${elsewhere}/signing-key.pem does not hold it`;
  expect(await refusedStart(settings(elsewhere))).toContain(sentence);
  for (const [tool, ...args] of [['keys', 'rotate'], ['demo']] as const)
    expect((await runTool(tool, settings(elsewhere), ...args)).said).toContain(sentence);
  expect(await applied()).toHaveLength(0);
  expect(await readdir(elsewhere)).toEqual([]);

  const pem = await readFile(join(home, 'signing-key.pem'), 'utf8');
  const more = {
    SIGNING_KEY: pem.replaceAll('\n', '\\n'),
    SECRETS_KEY: `file:${join(home, 'secrets-key')}`,
  };
  expect(await serveOnce(elsewhere, more)).toBe(keyId);
  expect((await readdir(elsewhere)).filter((name) => name.includes('key'))).toEqual([]);
  expect(await applied()).toHaveLength(1);

  const former = new URL(database.url).pathname;
  database = await createTestDatabase();
  for (const empty of [settings(home), { DATA_DIR: home }])
    expect(await refusedStart(empty)).toContain(
      `The database is empty, and ${home}/audit-head.json belongs to another one`,
    );
  expect(await readFile(join(home, 'locations.txt'), 'utf8'), 'where it was').toContain(former);
  await rm(join(home, 'audit-head.json'));
  expect(await serveOnce(home)).toBe(keyId);
});

test('what is accepted is said, and where the head of the audit log could not be kept', async () => {
  const storage = { kind: 'disk', folder: join(home, 'binaries') } as const;
  const config = { dataDir: home, signingKey: undefined, secretsKey: undefined, storage };
  const server = await startTestServer({ database, config });
  const { keyId } = server.auditKeys.current.signer;
  await server.createPerson('super_admin');
  await server.close();
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
