import { randomUUID } from 'node:crypto';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { updates } from '../contract/updates.ts';
import { makeApiKey } from './factories.ts';
import { apiAt, createTestDatabase, eventually, type TestDatabase } from './harness.ts';
import { newDataDir, signInAdministrator, startServer, type ServerProcess } from './server-process.ts';

/* The built server is killed while rows wait in its journal. */

let database: TestDatabase;
let dataDir: string;
let client: pg.Client;
let server: ServerProcess;
beforeAll(async () => {
  database = await createTestDatabase({ empty: true });
  dataDir = await newDataDir();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
  server = await start();
});
afterAll(async () => {
  await server.end('SIGKILL');
  await client.end();
  await database.drop();
  await rm(dataDir, { recursive: true, force: true });
});

const start = () => startServer({ DATABASE_URL: database.url, DATA_DIR: dataDir, LOG_LEVEL: 'warn' });
const journal = () => join(dataDir, 'journal');
const files = () => readdir(journal()).catch(() => []);

/** The numbers that were given to the events, as they stand in the database. */
async function stored(): Promise<number[]> {
  const { rows } = await client.query<{ n: number }>(
    `select from_version::int as n from update_events order by 1`,
  );
  return rows.map(({ n }) => n);
}

test(
  'what lies in the journal is written once by the next start, also when the files come back',
  { timeout: 90_000 },
  async () => {
    const desktop = apiAt(
      server.url,
      await makeApiKey(await signInAdministrator(server), { scopes: ['updates'] }),
    );
    await client.query('begin');
    await client.query('lock table update_events in exclusive mode');
    for (let from = 0; from < 15_000; from += 500) {
      const events = Array.from({ length: 500 }, (_, i) => ({
        eventId: randomUUID(),
        machineId: 'workstation',
        eventType: 'install_complete' as const,
        fromVersion: String(from + i),
      }));
      expect(await desktop.ok(updates.report, { body: { events } })).toEqual({ accepted: 500 });
    }
    const kept = await eventually(async () => {
      const names = (await files()).filter((name) => /^update-events-.*\.json$/.test(name));
      return names.length >= 2 && names;
    }, 10_000);
    await server.end('SIGKILL');
    const texts = await Promise.all(
      kept.map(async (name) => [name, await readFile(join(journal(), name), 'utf8')] as const),
    );
    const journaled = texts
      .flatMap(([, text]) => JSON.parse(text) as { happening: { fromVersion: string } }[])
      .map(({ happening }) => Number(happening.fromVersion))
      .toSorted((a, b) => a - b);
    // memory held the oldest
    const first = journaled[0]!;
    expect(first).toBeGreaterThanOrEqual(10_000);
    expect(journaled).toEqual(journaled.map((_, at) => first + at));
    expect(await stored()).toEqual([]);

    // killed once more before the table is free
    server = await start();
    await server.end('SIGKILL');
    expect((await files()).toSorted()).toEqual(kept.toSorted());
    await client.query('rollback');

    server = await start();
    await eventually(async () => expect(await files()).toEqual([]), 10_000);
    expect(await stored()).toEqual(journaled);

    await server.end('SIGKILL');
    for (const [name, text] of texts) await writeFile(join(journal(), name), text);
    server = await start();
    await eventually(async () => expect(await files()).toEqual([]), 10_000);
    expect(await stored()).toEqual(journaled);
    expect(await server.end('SIGTERM')).toBe(0);
  },
);
