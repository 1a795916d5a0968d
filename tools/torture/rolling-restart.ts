import assert from 'node:assert/strict';
import { startEmbedded } from '../../server/db/embedded.ts';
import { counted, longestGap } from '../../tests/load.ts';
import { restartRolling } from '../../tests/rolling-restart.ts';
import { newDataDir } from '../../tests/server-process.ts';
import { addResult } from './table.ts';

const rounds = 9;

/** Nine rolling restarts behind nginx, with the configuration in the docs and its default drain. */
export async function rollingRestart(): Promise<void> {
  const dataDir = await newDataDir();
  const { url } = await startEmbedded(dataDir, { exclusive: false, log: () => undefined });
  const { seen, lost, said } = await restartRolling(url, rounds);
  const description = `${rounds} rounds, two processes behind nginx; three of four calls are POSTs`;
  const { answered, refused, failed } = counted(seen);
  const gapMs = longestGap(seen);
  addResult({ scenario: 'rolling restarts', description, answered, refused, failed, gapMs, lost });
  const trouble = seen.map((one) => one.trouble).filter(Boolean);
  assert.deepEqual([trouble, lost], [[], []], said.slice(-4000));
}
