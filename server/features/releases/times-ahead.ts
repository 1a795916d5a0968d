import { sql } from 'kysely';
import type { Change } from '../../change.ts';
import { aheadOf, type CheckedTime } from '../../checked-time.ts';

/**
 * Sets to now what a clock that was ahead left in the future: until then the guard would count no failure, a plan would
 * take no step, a deferral would not begin, a pause would not count as one, nor the time of a damaged file, a file would
 * not be checked, the recycle bin would keep a release until then, and the guard would find no machine that could take it
 * since a step. Each step is dated by the version of the release, which is later than the version before it.
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
      updated_at: inTime('updated_at'),
      step_started_at: sql`case when ${isStarted} then ${inTime('step_started_at')} else step_started_at end`,
    })
    .where('release_id', 'in', (eb) =>
      eb
        .selectFrom('releases')
        .select('release_id')
        .where(
          sql<boolean>`greatest(failures_from, full_at, verified_at, paused_at, damaged_at, release_date, created_at, updated_at, deleted_at,
              case when ${isStarted} then step_started_at end)
            > ${ahead}::timestamptz`,
        )
        .forUpdate()
        .skipLocked(),
    )
    .returning('release_id')
    .execute();
  // in their order
  await sql`
    with wrong as (
      select release_id, at, row_number() over (partition by release_id order by at) as nth
        from rollout_steps where at > ${ahead})
    update rollout_steps s
       set at = w.nth * interval '1 millisecond' + greatest(${now}::timestamptz, (
         select max(r.at) from rollout_steps r where r.release_id = w.release_id and r.at <= ${ahead}))
      from wrong w where s.release_id = w.release_id and s.at = w.at`.execute(tx);
  if (corrected.length > 0) await announce('releases');
}
