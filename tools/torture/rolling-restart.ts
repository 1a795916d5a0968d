import assert from 'node:assert/strict';
import { startEmbedded } from '../../server/db/embedded.ts';
import { counted, longestGap } from '../../tests/load.ts';
import { restartRolling } from '../../tests/rolling-restart.ts';
import { newDataDir, removeDataDir } from '../../tests/server-process.ts';
import { tell } from './table.ts';

const rounds = 9;

/** Nine rounds of a rolling restart behind nginx, as the docs set it up, with the drain that is the default there. */
export async function rollingRestart(): Promise<void> {
  const dataDir = await newDataDir();
  try {
    const { url } = await startEmbedded(dataDir, { exclusive: false, log: () => undefined });
    const { seen, lost, said } = await restartRolling(url, rounds);
    const ordeal = `${rounds} rounds, two processes behind nginx; three of four calls are POSTs`;
    const { answered, refused, failed } = counted(seen);
    const gapMs = longestGap(seen);
    tell({ scenario: 'rolling restarts', ordeal, answered, refused, failed, gapMs, lost });
    const trouble = seen.map((one) => one.trouble).filter(Boolean);
    assert.deepEqual([trouble, lost], [[], []], said.slice(-4000));
  } finally {
    await removeDataDir(dataDir);
  }
}
