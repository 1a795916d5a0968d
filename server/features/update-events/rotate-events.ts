import { dayMs } from '../../../contract/durations.ts';
import { systemChange, type Change, type ChangeParts } from '../../change.ts';
import { clearBefore, clearedAtOnce, type CheckedTime } from '../../checked-time.ts';
import type { Context } from '../../context.ts';
import { locks, tryLock } from '../../db/locks.ts';
import { rotateMonths, type RotatedMonths } from '../../db/monthly-partitions.ts';

/** Machines repeat a batch within days. */
const idsKeptMs = 7 * dayMs;

const removeIds = clearBefore('update_event_ids', 'seen_at', idsKeptMs);

/**
 * Creates the partitions of this month and the next two, drops those older than the policy (EVENTS_KEEP), and removes
 * the ids of reports after a week. Returns the names of created and dropped partitions; undefined if another process is
 * doing this.
 */
export async function rotateEvents(
  context: ChangeParts & Pick<Context, 'config'>,
  time: CheckedTime,
): Promise<RotatedMonths | undefined> {
  const alone = <T>(work: (change: Change) => Promise<T>): Promise<T | undefined> =>
    systemChange(context, time.now, async (change) =>
      (await tryLock(change.tx, locks.eventRotation)) ? work(change) : undefined,
    );
  const months = await alone(({ tx }) =>
    rotateMonths(tx, 'update_events', time, context.config.eventsKeepMs),
  );
  if (!months) return undefined;
  // Not with the months, whose lock everyone waits for; in parts, as there are days of ids after this did not run.
  while ((await alone((change) => removeIds(change, time))) === clearedAtOnce);
  return months;
}
