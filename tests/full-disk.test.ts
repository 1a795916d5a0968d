import { execFileSync } from 'node:child_process';
import { createPublicKey, verify } from 'node:crypto';
import { open, readFile, rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterEach, describe, expect, test } from 'vitest';
import { customers } from '../contract/customers.ts';
import { keys } from '../contract/keys.ts';
import { validation as calls } from '../contract/validation.ts';
import { createDb, createPool } from '../server/db/client.ts';
import { makeApiKey, makeLicense, validateOn } from './factories.ts';
import { createTestDatabase, eventually, patience, seconds, startTestServer } from './harness.ts';
import { isReady, newDataDir, refusedStart, startServer } from './server-process.ts';

/* A database that can read but not write: the errors of PostgreSQL on a full disk. */

const said: string[] = [];
const server = await startTestServer({
  config: { logLevel: 'info' },
  onLog: (line) => void said.push(line),
});
const staff = server.api((await server.signInAs('super_admin')).byCookie);

/** All writes fail, or none. */
async function setFull(isFull: boolean, db = server.db): Promise<void> {
  await sql`create or replace function disk_full() returns trigger language plpgsql as
    $$ begin raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$`.execute(
    db,
  );
  const change = isFull
    ? `create trigger disk_full before insert or update or delete on %s for each statement execute function disk_full()`
    : 'drop trigger disk_full on %s';
  await sql
    .raw(
      `do $$ declare place text; begin
        for place in select oid::regclass::text from pg_class
          where relkind in ('r', 'p') and not relispartition and relnamespace = 'public'::regnamespace
        loop execute format('${change}', place); end loop; end $$`,
    )
    .execute(db);
}

const metric = async (line: RegExp) => {
  const text = await (await fetch(`${server.url}/metrics`)).text();
  return Number(line.exec(text)?.[1]);
};

/** The values that raise the alert of records that wait, once they last. */
async function alerted(): Promise<number[]> {
  const rules = await readFile(join(import.meta.dirname, '../deploy/alerts.yml'), 'utf8');
  const [, rule] = /alert: LanyardRecordsUnwritten\n((?: {8}.*\n)+)/.exec(rules)!;
  const names = [...rule!.matchAll(/lanyard_\w+/g)].map(([name]) => name);
  const text = await (await fetch(`${server.url}/metrics`)).text();
  return names.flatMap((name) =>
    [...text.matchAll(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, 'gm'))].map(([, value]) => Number(value)),
  );
}

test('a machine that holds its seat is answered and signed; what needs a write is refused; records wait', async () => {
  const license = await makeLicense(staff, { maxActivations: 5 });
  await validateOn(server.api(await makeApiKey(staff)), license, 'seated');
  // a key that was not used in this hour, so its budget is not granted yet
  const desktop = server.api(await makeApiKey(staff));
  const [key] = await staff.ok(keys.published);
  const recorded = async () => {
    const { rows } = await sql<{ at: Date }>`
      select occurred_at as at from validations where machine_id = 'seated' order by 1`.execute(server.db);
    return rows;
  };
  await eventually(async () => (await recorded()).length === 1);
  const seated = () =>
    desktop.call(calls.validate, { body: { licenseKey: license.licenseKey, machineId: 'seated' } });

  await setFull(true);
  server.clock.advance(1000);
  const askedAt = server.clock.now();
  const answers = [await seated(), await seated(), await seated()];
  const newcomer = await desktop.call(calls.validate, {
    body: { licenseKey: license.licenseKey, machineId: 'newcomer' },
  });
  server.clock.advance(3000);
  for (const { status, body } of answers) {
    expect([status, body.data?.code]).toEqual([200, 'VALID']);
    const { signed, signature } = body.data;
    expect(
      verify(null, Buffer.from(signed), createPublicKey(key!.publicKeyPem), Buffer.from(signature, 'base64')),
    ).toBe(true);
  }
  expect(newcomer.status).toBe(503);
  expect(Number(newcomer.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(newcomer.body.error).toBe('The disk of the database is full. Try again later.');
  await eventually(() => said.some((line) => line.includes('Rows wait for the database')));
  expect(await metric(/^lanyard_unwritten_records\{queue="validations"\} (\d+)$/m)).toBe(3);
  expect(await metric(/^lanyard_journal_bytes (\d+)$/m)).toBe(0);
  expect(Math.max(...(await alerted())), 'though memory is not full').toBeGreaterThan(0);

  await setFull(false);
  await eventually(async () => {
    const rows = await recorded();
    return rows.length === 4 && rows.slice(1).every(({ at }) => at.getTime() === askedAt.getTime());
  });
  // the rows are visible before their writer is told
  await eventually(async () =>
    expect(await metric(/^lanyard_unwritten_records\{queue="validations"\} (\d+)$/m)).toBe(0),
  );
  expect(await metric(/^lanyard_dropped_records_total\{queue="validations"\} (\d+)$/m)).toBe(0);
  await eventually(async () => Math.max(...(await alerted())) === 0);
  expect(await validateOn(desktop, license, 'newcomer')).toMatchObject({ code: 'VALID' });
});

test('staff read what they want, and what they change is refused', async () => {
  await setFull(true);
  // the next call notes when the session was last used
  server.clock.advance(seconds(31));
  const [read, change] = [
    await staff.call(customers.list),
    await staff.call(customers.create, { body: { name: 'Clinic', country: 'DE' } }),
  ];
  await setFull(false);
  expect([read.status, change.status]).toEqual([200, 503]);
});

test('a start says at once that the disk is full', async () => {
  const dataDir = await newDataDir();
  const database = await createTestDatabase();
  const pool = createPool(database.url, 1);
  await setFull(true, createDb(pool));
  const from = performance.now();
  const refusal = await refusedStart({ DATABASE_URL: database.url, DATA_DIR: dataDir });
  expect(performance.now() - from).toBeLessThan(patience(10_000));
  expect(refusal).toContain('The disk is full: could not extend file: No space left on device. Free');
  await pool.end();
});

describe.skipIf(process.getuid?.() !== 0)('a small disk [needs root]', () => {
  /** The data directory, or the folder of the log. */
  let dataDir: string;
  const mount = async (size: string) => {
    dataDir = await newDataDir();
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size},mode=755`, 'tmpfs', dataDir]);
  };
  const fill = async () => {
    const { bavail, bsize } = await statfs(dataDir);
    const filler = join(dataDir, 'filler');
    // one block more than there is: the log takes some meanwhile
    await expect(writeFile(filler, Buffer.alloc((bavail + 1) * bsize))).rejects.toThrow('ENOSPC');
    return filler;
  };
  afterEach(async () => {
    execFileSync('umount', ['-l', dataDir]);
    await rm(dataDir, { recursive: true, force: true });
  });

  /** The output of a start that must fail immediately. */
  async function refusal(settings: Record<string, string> = {}): Promise<string> {
    const from = performance.now();
    const output = await refusedStart({ DATA_DIR: dataDir, ...settings });
    expect(performance.now() - from).toBeLessThan(patience(15_000));
    return output;
  }

  test('the first start says so at once', async () => {
    await mount('16m');
    expect(await refusal()).toMatch(/PostgreSQL could not create a database in .*No space left on device/s);
  });

  test('a start that cannot write its files names the one', async () => {
    await mount('4k');
    await writeFile(join(dataDir, 'filler'), 'x');
    const database = await createTestDatabase();
    expect(await refusal({ DATABASE_URL: database.url })).toMatch(
      new RegExp(`The disk is full: ENOSPC: no space left on device, write '${dataDir}/`),
    );
  });

  test('a later start says so at once, and works when there is room', async () => {
    await mount('200m');
    const settings = { DATA_DIR: dataDir, LOG_LEVEL: 'warn' };
    expect(await (await startServer(settings)).end('SIGTERM')).toBe(0);
    const filler = await fill();
    expect(await refusal()).toContain(`The disk of ${dataDir}/postgres is full: PostgreSQL cannot start.`);
    await rm(filler);
    expect(await (await startServer(settings)).end('SIGTERM')).toBe(0);
  });

  test.for(['1', '2'])('the service goes on without its log, and ends (WORKERS=%s)', async (WORKERS) => {
    await mount('64k');
    const file = join(dataDir, 'lanyard.log');
    const log = await open(file, 'a');
    const { url } = await createTestDatabase();
    const settings = { DATABASE_URL: url, DATA_DIR: await newDataDir(), LOG_LEVEL: 'debug', WORKERS };
    const running = await startServer(settings, { log: log.fd });
    const metrics = async () => (await fetch(`${running.url}/metrics`)).text();
    await eventually(async () => (await metrics()).includes(`\nlanyard_processes ${WORKERS}\n`));
    const filler = await fill();
    const before = (await readFile(file)).length;
    // more than fits beside what is there, and more than waits for room
    const callOnce = () => fetch(`${running.url}/healthz`, { signal: AbortSignal.timeout(patience(5000)) });
    for (let call = 0; call < 1000 * Number(WORKERS); call += 20)
      await Promise.all(Array.from({ length: 20 }, callOnce));
    await eventually(() => isReady(running.url));
    await rm(filler);
    await eventually(async () => {
      await fetch(`${running.url}/healthz`);
      return (await readFile(file)).length > before + 4096;
    });
    await fill();
    expect(await running.end('SIGTERM')).toBe(0);
    await log.close();
  });
});
