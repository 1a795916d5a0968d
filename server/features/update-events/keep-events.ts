import { dayMs } from '../../../contract/durations.ts';
import { systemChange, type ChangeParts } from '../../change.ts';
import type { CheckedTime } from '../../checked-time.ts';
import type { Context } from '../../context.ts';
import { locks, tryLock } from '../../db/locks.ts';
import { keepMonths, type MonthsKept } from '../../db/monthly-partitions.ts';

/** Machines repeat a batch within days. */
const idsKeptMs = 7 * dayMs;

/**
 * Creates the partitions of this month and the next two, drops those older than the policy (EVENTS_KEEP), and removes
 * the ids of reports after a week. Runs in one process at a time. Returns the names of created and dropped partitions.
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
