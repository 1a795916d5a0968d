import { randomUUID } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { updateEvents } from '../contract/update-events.ts';
import { makeApiKey, makeLicense, validateOn } from './factories.ts';
import { apiAt, createTestDatabase, eventually, openClient } from './harness.ts';
import { newDataDir, signInAdministrator, startServer } from './server-process.ts';

/* The built server is killed while rows wait in its journal. */

const database = await createTestDatabase();
const dataDir = await newDataDir();
const client = await openClient(database.url);
const start = () => startServer({ DATABASE_URL: database.url, DATA_DIR: dataDir, LOG_LEVEL: 'warn' });
let server = await start();
const journal = () => join(dataDir, 'journal');
const readJournal = (names: string[]) =>
  Promise.all(names.map(async (name) => [name, await readFile(join(journal(), name), 'utf8')] as const));
const files = () => readdir(journal()).catch(() => []);

/** The journal of both tests, which comes back in the second. */
const returning: Awaited<ReturnType<typeof readJournal>> = [];

/** The sequence numbers of the events in the database. */
async function stored(): Promise<number[]> {
  const { rows } = await client.query<{ n: number }>(
    `select from_version::int as n from update_events order by 1`,
  );
  return rows.map(({ n }) => n);
}

test('what lies in the journal is written once by the next start', async () => {
  const desktop = apiAt(
    server.url,
    await makeApiKey(await signInAdministrator(server), { scopes: ['updates'] }),
  );
  await client.query('begin');
  await client.query('lock table update_events in exclusive mode');
  // memory holds 10,000 to 11,999 of them, so two files of 2000 are full, and there is no third
  for (let from = 0; from < 15_999; from += 500) {
    const events = Array.from({ length: Math.min(500, 15_999 - from) }, (_, i) => ({
      eventId: randomUUID(),
      machineId: 'workstation',
      eventType: 'install_complete' as const,
      fromVersion: String(from + i),
    }));
    expect(await desktop.ok(updateEvents.report, { body: { events } })).toEqual({
      accepted: events.length,
    });
  }
  const kept = await eventually(async () => {
    const names = (await files()).filter((name) => /^update-events-.*\.json$/.test(name));
    return names.length >= 2 && names;
  });
  await server.end('SIGKILL');
  const texts = await readJournal(kept);
  const journaled = texts
    .flatMap(([, text]) => JSON.parse(text) as { happening: { fromVersion: string } }[])
    .map(({ happening }) => Number(happening.fromVersion))
    .toSorted((a, b) => a - b);
  // memory held the oldest
  const first = journaled[0]!;
  expect(first).toBeGreaterThanOrEqual(10_000);
  expect(journaled).toEqual(journaled.map((_, at) => first + at));
  expect(await stored()).toEqual([]);

  // killed again before the table is unlocked
  server = await start();
  await server.end('SIGKILL');
  expect((await files()).toSorted()).toEqual(kept.toSorted());
  await client.query('rollback');

  server = await start();
  await eventually(async () => expect(await files()).toEqual([]));
  expect(await stored()).toEqual(journaled);

  returning.push(...texts);
});

test('files that come back are written once, also validations, which have no ids of their own', async () => {
  server = await start();
  const staff = await signInAdministrator(server);
  const license = await makeLicense(staff);
  const desktop = apiAt(server.url, await makeApiKey(staff));
  await validateOn(desktop, license, 'workstation');
  const count = async () => {
    const { rows } = await client.query<{ n: number }>('select count(*)::int as n from validations');
    return rows[0]!.n;
  };
  await eventually(async () => expect(await count()).toBe(1));
  await client.query('begin');
  await client.query('lock table validations in exclusive mode');
  for (let n = 0; n < 50; n++) await validateOn(desktop, license, 'workstation');
  const ending = server.end('SIGTERM');
  await eventually(async () =>
    expect(await files()).toContainEqual(expect.stringMatching(/^validations-.*\.json$/)),
  );
  // the stop would wait for the connection of the write, for most of the time that it has
  await client.query('rollback');
  expect(await ending).toBe(0);
  returning.push(...(await readJournal(await files())));
  expect(returning.some(([name]) => name.startsWith('validations-'))).toBe(true);

  const events = await stored();
  for (const round of ['replayed', 'killed before the files were removed']) {
    for (const [name, text] of returning) await writeFile(join(journal(), name), text);
    server = await start();
    await eventually(async () => expect(await files()).toEqual([]));
    expect(await count(), round).toBe(51);
    expect(await stored(), round).toEqual(events);
    await server.end('SIGKILL');
  }
});
