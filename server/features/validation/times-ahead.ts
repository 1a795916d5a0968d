import { sql } from 'kysely';
import type { Change } from '../../change.ts';
import { aheadOf, type CheckedTime } from '../../checked-time.ts';
import { activationsWithHash } from '../../db/sql.ts';

/** Machines corrected at once; the next hour has the rest. */
const most = 10_000;

/**
 * Sets to now what a clock that was ahead left in the future of machines: until then they would be heard of without a
 * sign of life, in no count of a day, and no clone of them would be noticed. With the days of their licenses, which may
 * not be later than those of their machines.
 */
export async function endMachineTimesAhead({ tx }: Change, time: CheckedTime): Promise<void> {
  const now = sql`${time.now}::timestamptz`;
  const ahead = sql`${aheadOf(time)}::timestamptz`;
  const inTime = (column: string) =>
    sql`${sql.ref(column)} = case when ${sql.ref(column)} > ${ahead} then ${now} else ${sql.ref(column)} end`;
  const dayInTime = (column: string) =>
    sql`${sql.ref(column)} = case when ${sql.ref(column)} > (${ahead} at time zone 'UTC')::date
      then (${now} at time zone 'UTC')::date else ${sql.ref(column)} end`;
  const { rows } = await sql<{ hash: Buffer }>`
    select machine_hash as hash from machines where greatest(last_seen, validated_at) > ${ahead}
     order by greatest(last_seen, validated_at) desc limit ${most}`.execute(tx);
  if (rows.length === 0) return;
  const hashes = sql`any(${rows.map(({ hash }) => hash)}::bytea[])`;
  // in the order in which the recorder of validations locks them
  await sql`
    with seats as materialized (
      select activation_id, license_id from activations
       where activation_id in (${activationsWithHash(hashes)})
       order by activation_id for update),
    days as materialized (
      select license_id from license_days
       where license_id in (select license_id from seats) and seen_day > (${now} at time zone 'UTC')::date
       order by license_id for update),
    seen as (
      update license_days set seen_day = (${now} at time zone 'UTC')::date
       where license_id in (select license_id from days)),
    signs as (
      update machine_credentials set ${inTime('seen_at')}, ${inTime('moved_back_at')}, ${inTime('facts_changed_at')}
       where activation_id in (select activation_id from seats))
    update activations set ${inTime('last_checked_at')}, ${inTime('answered_at')}, ${dayInTime('counted_day')}
     where activation_id in (select activation_id from seats)`.execute(tx);
  await sql`
    with found as materialized (
      select machine_hash from machines where machine_hash = ${hashes} order by machine_hash for update)
    update machines set ${inTime('first_check')}, ${inTime('last_seen')}, ${inTime('validated_at')},
           ${dayInTime('last_check_day')}
     where machine_hash in (select machine_hash from found)`.execute(tx);
}

/**
 * Sets to now the refusals of machines that a clock that was ahead left in the future: until then they would pass for the
 * last thing that became of their machines.
 */
export async function endRefusalTimesAhead({ tx }: Change, time: CheckedTime): Promise<void> {
  // in the order in which the recorder of validations locks them
  await sql`
    with found as materialized (
      select license_id, machine_id from refusals where refused_at > ${aheadOf(time)}
       order by license_id, machine_id for update)
    update refusals r set refused_at = ${time.now}, since = least(since, ${time.now}::timestamptz)
      from found f where r.license_id = f.license_id and r.machine_id = f.machine_id`.execute(tx);
}
