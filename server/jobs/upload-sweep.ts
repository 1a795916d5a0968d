import { locks, withSessionLock } from '../db/locks.ts';
import { cancelAbandoned, removeOrphans } from '../features/uploads/index.ts';
import type { CheckedTime } from '../checked-time.ts';
import type { Context } from '../context.ts';
import { tryEach } from '../try-each.ts';

type Swept = { cancelled: number; removed: number };

/**
 * Removes abandoned uploads and orphaned objects; undefined if another process is doing this. Listing the storage may
 * take long, so no transaction is held.
 */
export function sweepUploads(context: Omit<Context, 'clock'>, time: CheckedTime): Promise<Swept | undefined> {
  return withSessionLock(context.directUrl, locks.uploadSweep, async () => {
    const swept: Swept = { cancelled: 0, removed: 0 };
    await tryEach(
      [
        async () => (swept.cancelled = await cancelAbandoned(context, time)),
        async () => (swept.removed = await removeOrphans(context, time)),
      ],
      (part) => part(),
      (error) => context.log.error({ err: error }, 'A part of the sweep of uploads failed'),
    );
    return swept;
  });
}
