import { locks, withSessionLock } from '../db/locks.ts';
import { cancelAbandoned, removeOrphans } from '../features/uploads/index.ts';
import type { CheckedTime } from '../checked-time.ts';
import type { Context } from '../context.ts';

type Swept = { cancelled: number; removed: number };

/**
 * Removes abandoned uploads and orphaned objects; undefined if another process is doing this. Listing the storage may
 * take long, so no transaction is held.
 */
export function sweepUploads(context: Omit<Context, 'clock'>, time: CheckedTime): Promise<Swept | undefined> {
  return withSessionLock(context.directUrl, locks.uploadSweep, async () => {
    const cancelled = await cancelAbandoned(context, time);
    return { cancelled, removed: await removeOrphans(context, time) };
  });
}
