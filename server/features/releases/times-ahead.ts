import { sql } from 'kysely';
import type { Change } from '../../change.ts';
import { aheadOf, type CheckedTime } from '../../checked-time.ts';

/**
 * Sets to now what a clock that was ahead left in the future: until then the guard would count no failure, a plan would
 * take no step, a deferral would not begin, a pause would not count as one, nor the time of a damaged file, a file would
 * not be checked, and the recycle bin would keep a release until then.
 */
export async function endReleaseTimesAhead({ tx, announce }: Change, time: CheckedTime): Promise<void> {
  const [{ now }, ahead] = [time, aheadOf(time)];
  const inTime = (column: string) => {
    const at = sql.ref(column);
    return sql<Date>`case when ${at} > ${ahead}::timestamptz then ${now}::timestamptz else ${at} end`;
  };
  // A release that was published and is a draft again has failures_from after created_at (`wasPublished`).
  const createdInTime = sql<Date>`case when created_at > ${ahead}::timestamptz
    then ${now}::timestamptz - case when failures_from > created_at then interval '1 millisecond' else interval '0' end
    else created_at end`;
  // a step begins at the start of its plan, which may be in the future
  const isStarted = sql<boolean>`coalesce(plan_starts_at <= ${now}::timestamptz, true)`;
  const corrected = await tx
    .updateTable('releases')
    .set({
      failures_from: inTime('failures_from'),
      full_at: inTime('full_at'),
      verified_at: inTime('verified_at'),
      paused_at: inTime('paused_at'),
      damaged_at: inTime('damaged_at'),
      release_date: inTime('release_date'),
      deleted_at: inTime('deleted_at'),
      created_at: createdInTime,
      step_started_at: sql`case when ${isStarted} then ${inTime('step_started_at')} else step_started_at end`,
    })
    .where('release_id', 'in', (eb) =>
      eb
        .selectFrom('releases')
        .select('release_id')
        .where(
          sql<boolean>`greatest(failures_from, full_at, verified_at, paused_at, damaged_at, release_date, created_at, deleted_at,
              case when ${isStarted} then step_started_at end)
            > ${ahead}::timestamptz`,
        )
        .forUpdate()
        .skipLocked(),
    )
    .returning('release_id')
    .execute();
  if (corrected.length > 0) await announce('releases');
}
