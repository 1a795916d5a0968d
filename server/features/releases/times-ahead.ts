import { sql } from 'kysely';
import type { Change } from '../../change.ts';
import { aheadOf, type CheckedTime } from '../../checked-time.ts';

/**
 * Sets to now what a clock that was ahead left in the future: until then the guard would count no failure, a plan would
 * take no step, a deferral would not begin, and a file would not be checked.
 */
export async function endReleaseTimesAhead({ tx, announce }: Change, time: CheckedTime): Promise<void> {
  const [{ now }, ahead] = [time, aheadOf(time)];
  const inTime = (column: string) => {
    const at = sql.ref(column);
    return sql<Date>`case when ${at} > ${ahead}::timestamptz then ${now}::timestamptz else ${at} end`;
  };
  // a step begins at the start of its plan, which may be in the future
  const isStarted = sql<boolean>`coalesce(plan_starts_at <= ${now}::timestamptz, true)`;
  const corrected = await tx
    .updateTable('releases')
    .set({
      failures_from: inTime('failures_from'),
      full_at: inTime('full_at'),
      verified_at: inTime('verified_at'),
      step_started_at: sql`case when ${isStarted} then ${inTime('step_started_at')} else step_started_at end`,
    })
    .where('release_id', 'in', (eb) =>
      eb
        .selectFrom('releases')
        .select('release_id')
        .where(
          sql<boolean>`greatest(failures_from, full_at, verified_at, case when ${isStarted} then step_started_at end)
            > ${ahead}::timestamptz`,
        )
        .forUpdate()
        .skipLocked(),
    )
    .returning('release_id')
    .execute();
  if (corrected.length > 0) await announce('releases');
}
