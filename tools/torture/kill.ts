import assert from 'node:assert/strict';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { databaseName, readPassword } from '../../server/db/embedded-cluster.ts';
import { findPostmaster } from '../../server/db/embedded-postmaster.ts';
import { startEmbedded } from '../../server/db/embedded.ts';
import { eventually } from '../../tests/harness.ts';
import { counted, longestGap, startLoad } from '../../tests/load.ts';
import { restartRolling } from '../../tests/rolling-restart.ts';
import { familyOf, isReady, newDataDir, signal, startServer } from '../../tests/server-process.ts';
import { addResult } from './table.ts';
import { lostCustomers, prepareWork } from '../../tests/work.ts';

const serverRounds = 8;
const databaseRounds = 8;

/** Alternating `kill -9` of two processes behind nginx: the other one serves the calls without a response. */
export async function killServers(): Promise<void> {
  const dataDir = await newDataDir();
  const { url } = await startEmbedded(dataDir, { exclusive: false, log: () => undefined });
  const { seen, lost, said } = await restartRolling(url, serverRounds, { by: 'SIGKILL' });
  const description = `alternating kill -9 of two processes behind nginx, ${serverRounds} times each`;
  const figures = counted(seen);
  addResult({ scenario: 'killed processes', description, ...figures, gapMs: longestGap(seen), lost });
  assert.deepEqual([figures.failed, lost], [[], []], said.slice(-4000));
}

/** `kill -9` of all processes of the embedded PostgreSQL, which the server restarts. */
export async function killDatabase(): Promise<void> {
  const dataDir = await newDataDir();
  const cluster = join(dataDir, 'postgres');
  const server = await startServer({ DATA_DIR: dataDir, LOG_LEVEL: 'warn' });
  const work = await prepareWork(server);
  const load = startLoad(work.calls);
  for (let round = 0; round < databaseRounds; round++) {
    await sleep(2000);
    load.phase(`kill ${round}`);
    const { pid } = (await findPostmaster(cluster))!;
    for (const one of familyOf(pid)) signal(one, 'SIGKILL');
    await eventually(async () => ((await findPostmaster(cluster))?.pid ?? pid) !== pid, 20_000);
    await eventually(() => isReady(server.url), 20_000);
  }
  await sleep(2000);
  await load.stop();
  const { port } = (await findPostmaster(cluster))!;
  const url = `postgres://${databaseName}:${await readPassword(cluster)}@127.0.0.1:${port}/${databaseName}`;
  const lost = await lostCustomers(url, work.made);
  const description = `kill -9 of all processes of the embedded PostgreSQL, ${databaseRounds} times`;
  const figures = counted(load.seen);
  addResult({ scenario: 'killed database', description, ...figures, gapMs: longestGap(load.seen), lost });
  assert.deepEqual([figures.failed, lost], [[], []]);
  assert.equal(server.process.exitCode, null, server.output().slice(-4000));
}
