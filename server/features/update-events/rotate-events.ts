import { dayMs } from '../../../contract/durations.ts';
import { systemChange, type ChangeParts } from '../../change.ts';
import type { CheckedTime } from '../../checked-time.ts';
import type { Context } from '../../context.ts';
import type { Tx } from '../../db/client.ts';
import { locks, tryLock } from '../../db/locks.ts';
import { rotateMonths, type RotatedMonths } from '../../db/monthly-partitions.ts';

/** Machines repeat a batch within days. */
const idsKeptMs = 7 * dayMs;

const atOnce = 20_000;

/**
 * Creates the partitions of this month and the next two, drops those older than the policy (EVENTS_KEEP), and removes
 * the ids of reports after a week. Returns the names of created and dropped partitions; undefined if another process is
 * doing this.
 */
export async function rotateEvents(
  context: ChangeParts & Pick<Context, 'config'>,
  time: CheckedTime,
): Promise<RotatedMonths | undefined> {
  const alone = <T>(work: (tx: Tx) => Promise<T>): Promise<T | undefined> =>
    systemChange(context, time.now, async ({ tx }) =>
      (await tryLock(tx, locks.eventRotation)) ? work(tx) : undefined,
    );
  const months = await alone((tx) => rotateMonths(tx, 'update_events', time, context.config.eventsKeepMs));
  if (!months) return undefined;
  // Not with the months, whose lock everyone waits for; in parts, as there are days of ids after this did not run.
  while ((await alone((tx) => removeIds(tx, time))) === atOnce);
  return months;
}

async function removeIds(tx: Tx, { now }: CheckedTime): Promise<number> {
  const old = tx
    .selectFrom('update_event_ids')
    .select('event_id')
    .where('seen_at', '<', new Date(now.getTime() - idsKeptMs))
    .limit(atOnce);
  const { numDeletedRows } = await tx
    .deleteFrom('update_event_ids')
    .where('event_id', 'in', old)
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}
