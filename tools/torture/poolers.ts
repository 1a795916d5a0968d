import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { createTestDatabase } from '../../tests/harness.ts';
import { counted, recovery, startLoad } from '../../tests/load.ts';
import { startPgBouncer } from '../../tests/pgbouncer.ts';
import { newDataDir, startServer } from '../../tests/server-process.ts';
import { startSwitch } from '../../tests/tcp-switch.ts';
import { addResult } from './table.ts';
import { lostCustomers, prepareWork } from '../../tests/work.ts';

const phaseMs = 15_000;
const limitMs = 10_000;

/** PgBouncer in that mode is restarted under load. */
export async function pooler(mode: 'session' | 'transaction'): Promise<void> {
  const database = await createTestDatabase({ empty: true });
  const dataDir = await newDataDir();
  const start = () => startPgBouncer(database.url, { pool_mode: mode, default_pool_size: '30' });
  let bouncer = await start();
  const line = await startSwitch(bouncer.url);
  const direct: Record<string, string> = mode === 'transaction' ? { DATABASE_DIRECT_URL: database.url } : {};
  const server = await startServer({
    DATABASE_URL: line.url,
    ...direct,
    DATA_DIR: dataDir,
    LOG_LEVEL: 'error',
  });
  const work = await prepareWork(server);
  const load = startLoad(work.calls);
  await sleep(phaseMs);
  load.phase('the pooler stopped');
  await bouncer.stop();
  bouncer = await start();
  line.pointTo(bouncer.url);
  load.phase('the pooler was back');
  const back = performance.now();
  await sleep(phaseMs);
  await load.stop();
  const lost = await lostCustomers(database.url, work.made);
  const figures = counted(load.seen);
  const gapMs = recovery(load.seen, back);
  const description = `PgBouncer in ${mode} mode is restarted; the gap is from its return until every kind of call works`;
  addResult({ scenario: `pooler: ${mode}`, description, ...figures, gapMs, lost });
  assert.deepEqual([figures.failed, lost], [[], []]);
  assert.ok(gapMs < limitMs, `all calls worked again after ${gapMs} ms`);
}
