import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chown, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { unprivilegedAccount } from '../../server/db/embedded-account.ts';
import { eventually } from '../../tests/harness.ts';
import { counted, longestGap, startLoad } from '../../tests/load.ts';
import { openPostgres } from '../../tests/postgres.ts';
import { newDataDir, startServer, type ServerProcess } from '../../tests/server-process.ts';
import { addResult } from './table.ts';
import { ask, lostCustomers, prepareWork } from '../../tests/work.ts';

const fullMs = 20_000;
const run = promisify(execFile);

/** Fills a disk; returns a function that frees the space again. */
async function fill(disk: string): Promise<() => Promise<void>> {
  const file = join(disk, 'ballast');
  await run('dd', ['if=/dev/zero', `of=${file}`, 'bs=64k']).catch(() => undefined);
  return () => rm(file);
}

/** The disk of the database is full, then also that of the journal; then both have space again. */
export async function fullDisks(): Promise<void> {
  const folder = await newDataDir();
  const [disk, dataDir] = [join(folder, 'database'), join(folder, 'data')];
  const account = await unprivilegedAccount();
  const database = await openPostgres(join(disk, 'cluster'), {
    options: '-c max_wal_size=64MB -c min_wal_size=64MB',
    log: join(folder, 'log', 'postgres'),
  });
  const { url } = database;
  let server: ServerProcess | undefined;
  try {
    for (const [place, size] of [
      [disk, '200m'],
      [dataDir, '8m'],
    ] as const) {
      await mkdir(place);
      await run('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', place]);
    }
    await mkdir(join(folder, 'log'));
    for (const place of [disk, join(folder, 'log')])
      if (account) await chown(place, account.uid, account.gid);
    await database.make();
    await database.start();
    server = await startServer({ DATABASE_URL: url, DATA_DIR: dataDir, LOG_LEVEL: 'fatal' });
    const work = await prepareWork(server);
    const load = startLoad(work.calls, { pauseMs: 50 });
    await sleep(5000);
    const freeDisk = await fill(disk);
    load.phase('the disk of the database was full');
    await sleep(fullMs);
    const freeJournal = await fill(dataDir);
    load.phase('the disk of the journal was also full');
    await sleep(fullMs);
    await Promise.all([freeDisk(), freeJournal()]);
    // PostgreSQL exits if there is no space for its WAL; its supervisor restarts it
    const isRunning = await database.control('status').then(
      () => true,
      () => false,
    );
    if (!isRunning) await database.start();
    load.phase('there was space again');
    await sleep(8000);
    await load.stop();

    const figures = counted(load.seen);
    const validated = load.seen.filter(
      ({ call, status }) => call.endsWith('machine') && status === 200,
    ).length;
    const recorded = async () =>
      (await ask<{ n: number }>(url, 'select count(*)::int as n from validations'))[0]!.n;
    await eventually(async () => (await recorded()) >= validated, 10_000).catch(() => undefined);
    const lost = [
      ...(await lostCustomers(url, work.made)),
      ...Array.from({ length: Math.abs(validated - (await recorded())) }, () => 'validation'),
    ];
    const known = load.seen.filter(({ call }) => call === 'known machine');
    const description = `the disk of the database is full for ${(2 * fullMs) / 1000} s${isRunning ? '' : ', PostgreSQL exits'}, that of the journal for the second half; the gap is for machines that hold a seat`;
    addResult({ scenario: 'full disks', description, ...figures, gapMs: longestGap(known), lost });
    assert.deepEqual([figures.failed, lost], [[], []]);
    assert.equal(server.process.exitCode, null, server.output().slice(-4000));
  } finally {
    await server?.end('SIGKILL');
    await database.stop().catch(() => undefined);
    for (const place of [disk, dataDir]) await run('umount', ['-l', place]).catch(() => undefined);
    await rm(folder, { recursive: true, force: true });
  }
}
