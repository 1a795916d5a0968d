import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { validation } from '../../contract/validation.ts';
import { makeLicense, unique } from '../../tests/factories.ts';
import { apiAt, createTestDatabase, openClient } from '../../tests/harness.ts';
import { counted, longestGap, startLoad } from '../../tests/load.ts';
import { newDataDir, startServer } from '../../tests/server-process.ts';
import { addResult } from './table.ts';
import { lostCustomers, prepareWork } from '../../tests/work.ts';

const machines = 30;
const rounds = 6;
const lockedMs = 8000;

/** The row of a license is locked repeatedly while thirty machines request seats on it; all other calls must continue. */
export async function locks(): Promise<void> {
  const database = await createTestDatabase({ empty: true });
  const dataDir = await newDataDir();
  const server = await startServer({ DATABASE_URL: database.url, DATA_DIR: dataDir, LOG_LEVEL: 'error' });
  const holder = await openClient(database.url);
  const work = await prepareWork(server);
  const { licenseKey } = await makeLicense(work.staff, { maxActivations: 1_000_000 });
  const desktop = apiAt(server.url, work.key);
  const newcomer = () =>
    desktop.call(validation.validate, { body: { licenseKey, machineId: unique('newcomer') } });
  const others = startLoad(work.calls);
  const newcomers = startLoad({ 'seat on the locked license': newcomer }, { lanes: machines, pauseMs: 100 });
  for (let round = 0; round < rounds; round++) {
    await sleep(2000);
    await holder.query('begin');
    await holder.query('select 1 from licenses where license_key = $1 for update', [licenseKey]);
    await sleep(lockedMs);
    await holder.query('rollback');
  }
  await sleep(2000);
  await Promise.all([others.stop(), newcomers.stop()]);

  const lost = await lostCustomers(database.url, work.made);
  const description = `a license row is locked for ${lockedMs / 1000} s, ${rounds} times, while ${machines} machines request seats on it`;
  const ofOthers = counted(others.seen);
  const ofNewcomers = counted(newcomers.seen);
  const gapMs = longestGap(others.seen);
  addResult({ scenario: 'locks: all other calls', description, ...ofOthers, gapMs, lost });
  addResult({
    scenario: 'locks: these machines',
    description: 'as above',
    ...ofNewcomers,
    gapMs: longestGap(newcomers.seen),
    lost: [],
  });
  assert.deepEqual([ofOthers.failed, ofOthers.refused, ofNewcomers.failed, lost], [[], 0, [], []]);
}
