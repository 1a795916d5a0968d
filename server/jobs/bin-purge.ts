import { locks, tryLock } from '../db/locks.ts';
import { transact } from '../db/signals.ts';
import { purgeBin } from '../features/releases/releases.ts';
import type { CheckedTime } from '../checked-time.ts';
import type { Context } from '../context.ts';

/** What goes in one transaction: a release takes the record of its downloads along, which may be long. */
const atOnce = 5;

/**
 * Empties the recycle bin of what has lain there for 30 days. Answers how many releases this process removed; while
 * another process is at it, none.
 */
export async function runBinPurge(
  context: Pick<Context, 'db' | 'signals' | 'storage' | 'log'>,
  time: CheckedTime,
): Promise<number> {
  for (let removed = 0; ;) {
    const batch = await transact(context.db, context.signals, async (tx) => {
      if (!(await tryLock(tx, locks.binPurge))) return 0;
      return purgeBin(tx, time, context, atOnce);
    });
    removed += batch;
    if (batch < atOnce) return removed;
  }
}
