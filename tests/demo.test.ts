import { expect, test } from 'vitest';
import { audit } from '../contract/audit.ts';
import { licenses } from '../contract/licenses.ts';
import { releases } from '../contract/releases.ts';
import { apiAt, createTestDatabase, eventually, openClient, signedInAt } from './harness.ts';
import { newDataDir, runTool, startServer } from './server-process.ts';

const database = await createTestDatabase({ empty: true });
const dataDir = await newDataDir();
const settings = { DATABASE_URL: database.url, DATA_DIR: dataDir, LOG_LEVEL: 'warn' };

test('the demo data has accounts that sign in and see licenses and releases, and is written once', async () => {
  // with fewer customers too few machines take the release that fails, on some days of the week
  const demo = await runTool('demo', settings, '--customers', '6');
  expect(demo.code, demo.said).toBe(0);
  const password = /with the password (\S+)/.exec(demo.said)![1]!;
  const email = /(\S+@\S+) +super_admin/.exec(demo.said)![1]!;
  const server = await startServer(settings);
  const staff = apiAt(server.url, await signedInAt(server.url, { email, password }));
  expect((await staff.ok(licenses.list)).length).toBeGreaterThan(0);
  expect(await staff.ok(audit.verify)).toMatchObject({ whole: true });
  // The guard of the service pauses the release that fails.
  await eventually(async () => {
    expect((await staff.ok(releases.list)).filter((one) => one.pausedAt)).toMatchObject([
      { version: '4.3.0-beta.4', pausedBy: null },
    ]);
  });
  expect(await server.end('SIGTERM')).toBe(0);
  // as if this version had one more: it belongs to an installation in use, which the demo data leaves alone
  const client = await openClient(database.url);
  await client.query('delete from schema_migrations where name = (select max(name) from schema_migrations)');
  const again = await runTool('demo', settings);
  expect([again.code, again.said]).toEqual([1, expect.stringContaining('already has customers')]);
});
