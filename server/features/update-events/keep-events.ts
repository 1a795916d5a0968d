import { systemChange, type ChangeParts } from '../../change.ts';
import type { CheckedTime } from '../../checked-time.ts';
import type { Context } from '../../context.ts';
import { locks, tryLock } from '../../db/locks.ts';
import { keepMonths, type MonthsKept } from '../../db/monthly-partitions.ts';

/** A machine that reports a batch again does so within days. */
const idsKeptMs = 7 * 86_400_000;

/**
 * Makes the partitions of this month and the next two, drops those that are older than the policy (EVENTS_KEEP), and
 * forgets the ids of reports after a week. One process of many does it. Returns the names of what it made and dropped.
 */
export const keepEvents = (
  context: ChangeParts & Pick<Context, 'config'>,
  time: CheckedTime,
): Promise<MonthsKept> =>
  systemChange(context, time.now, async ({ tx, now }) => {
    if (!(await tryLock(tx, locks.eventKeeping))) return { made: [], dropped: [] };
    const kept = await keepMonths(tx, 'update_events', time, context.config.eventsKeepMs);
    await tx
      .deleteFrom('update_event_ids')
      .where('seen_at', '<', new Date(now.getTime() - idsKeptMs))
      .execute();
    return kept;
  });
