import type { Context } from '../context.ts';
import { locks, tryLock } from '../db/locks.ts';
import type { CheckedTime } from '../checked-time.ts';
import { keepMonths, type MonthsKept } from './months.ts';

const dayMs = 86_400_000;
/** A machine that reports a batch again does so within days. */
const idsKeptMs = 7 * dayMs;

/**
 * Makes the partitions of this month and the next two, drops those that are older than the policy (EVENTS_KEEP), and
 * forgets the ids of reports after a week. One process of many does it. Answers the names of what it made and dropped.
 */
export async function keepEvents(
  { db, config }: Pick<Context, 'db' | 'config'>,
  time: CheckedTime,
): Promise<MonthsKept> {
  return db.transaction().execute(async (tx) => {
    if (!(await tryLock(tx, locks.eventKeeping))) return { made: [], dropped: [] };
    const kept = await keepMonths(tx, 'update_events', time, config.eventsKeepMs);
    await tx
      .deleteFrom('update_event_ids')
      .where('seen_at', '<', new Date(time.now.getTime() - idsKeptMs))
      .execute();
    return kept;
  });
}
