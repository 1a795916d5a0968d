import { dayMs } from '../../../contract/durations.ts';
import { systemChange, type ChangeParts } from '../../change.ts';
import type { CheckedTime } from '../../checked-time.ts';
import type { Context } from '../../context.ts';
import { locks, tryLock } from '../../db/locks.ts';
import { rotateMonths, type RotatedMonths } from '../../db/monthly-partitions.ts';

/** Machines repeat a batch within days. */
const idsKeptMs = 7 * dayMs;

/**
 * Creates the partitions of this month and the next two, drops those older than the policy (EVENTS_KEEP), and removes
 * the ids of reports after a week. Runs in one process at a time. Returns the names of created and dropped partitions.
 */
export const rotateEvents = (
  context: ChangeParts & Pick<Context, 'config'>,
  time: CheckedTime,
): Promise<RotatedMonths> =>
  systemChange(context, time.now, async ({ tx, now }) => {
    if (!(await tryLock(tx, locks.eventRotation))) return { made: [], dropped: [] };
    const months = await rotateMonths(tx, 'update_events', time, context.config.eventsKeepMs);
    await tx
      .deleteFrom('update_event_ids')
      .where('seen_at', '<', new Date(now.getTime() - idsKeptMs))
      .execute();
    return months;
  });
