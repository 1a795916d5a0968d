import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { createTestDatabase, eventually } from '../../tests/harness.ts';
import { counted, longestGap, startLoad } from '../../tests/load.ts';
import { newDataDir, startServer } from '../../tests/server-process.ts';
import { addResult } from './table.ts';
import { ask, lostCustomers, prepareWork } from '../../tests/work.ts';

const warmUpMs = 60_000;
const soakMs = 180_000;
/** The factor by which the memory may grow after the first minute. */
const maxGrowth = 1.3;

const megabytesOf = async (url: string) => {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  return Number(/^process_resident_memory_bytes (\S+)$/m.exec(metrics)![1]) / 1e6;
};

/** Minutes of load: every validation is recorded exactly once, and the memory does not grow. */
export async function soak(): Promise<void> {
  const database = await createTestDatabase({ empty: true });
  const dataDir = await newDataDir();
  const server = await startServer({ DATABASE_URL: database.url, DATA_DIR: dataDir, LOG_LEVEL: 'warn' });
  const work = await prepareWork(server);
  const load = startLoad(work.calls, { pauseMs: 5 });
  await sleep(warmUpMs);
  const warm = await megabytesOf(server.url);
  await sleep(soakMs);
  const end = await megabytesOf(server.url);
  await load.stop();
  const figures = counted(load.seen);
  const answered = load.seen.filter(({ call, status }) => call.endsWith('machine') && status === 200).length;
  const recorded = async () =>
    (await ask<{ n: number }>(database.url, 'select count(*)::int as n from validations'))[0]!.n;
  await eventually(async () => (await recorded()) >= answered, 10_000).catch(() => undefined);
  const missing = answered - (await recorded());
  const lost = [
    ...(await lostCustomers(database.url, work.made)),
    ...Array.from({ length: Math.abs(missing) }, () => 'validation'),
  ];
  const description = `${(warmUpMs + soakMs) / 60_000} minutes of load; ${answered} validations; memory ${warm.toFixed(0)} MB after a minute, ${end.toFixed(0)} MB at the end`;
  addResult({ scenario: 'soak', description, ...figures, gapMs: longestGap(load.seen), lost });
  assert.deepEqual([figures.failed, figures.refused, lost], [[], 0, []]);
  assert.ok(end < warm * maxGrowth, `the memory grew from ${warm} MB to ${end} MB`);
}
