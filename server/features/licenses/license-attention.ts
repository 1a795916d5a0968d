import { sql, type RawBuilder } from 'kysely';
import { daysFrom } from '../../../contract/durations.ts';
import type { LicenseAttention } from '../../../contract/licenses.ts';
import { todayLimits } from '../../../contract/today.ts';
import type { Db } from '../../db/client.ts';

type Condition = RawBuilder<boolean>;

/** Active licenses `l` whose `valid_until` lies in this span, both ends included. */
export const endsBetween = (from: Date, to: Date): Condition =>
  sql`(l.status = 'active' and l.valid_until >= ${from} and l.valid_until <= ${to})`;

/** The machines of other customers are refused whatever their licenses are. */
export const isOfActiveCustomer: Condition = sql`exists (select from customers o
  where o.customer_id = l.customer_id and o.deleted_at is null and o.status = 'active')`;

/** Refusals `r` of `l` for want of a seat that the machine has not had since. */
const waiting = sql`refusals r where r.license_id = l.license_id and r.code = 'TOO_MANY_ACTIVATIONS' and not exists (
  select from activations a where a.license_id = r.license_id and a.machine_id = r.machine_id
     and (a.status = 'active' or a.updated_at > r.refused_at))`;

/** When `l` last refused a seat. */
const lastRefused = sql<Date>`(select f.last_at from license_refusals f
  where f.license_id = l.license_id and f.code = 'TOO_MANY_ACTIVATIONS')`;

/**
 * Licenses with a machine that was refused a seat at `since` or later, and waits; also one that is not among the refused
 * machines which are kept of a license.
 */
const refusedSeat = (since: Date): Condition => sql`(l.license_id in (select license_id from license_refusals
  where code = 'TOO_MANY_ACTIVATIONS' and last_at >= ${since})
  and (exists (select from ${waiting} and r.refused_at >= ${since})
    or ${lastRefused} > coalesce((select max(o.refused_at) from refusals o where o.license_id = l.license_id), '-infinity')))`;

const isActive = (now: Date): Condition => sql`(l.status = 'active' and l.valid_until >= ${now})`;

/** The filter `attention` of the list, for the license `l`. */
export const attentionConditions: Record<LicenseAttention, (now: Date) => Condition> = {
  ended: (now) => {
    const since = daysFrom(now, -todayLimits.licensesEndedDays);
    // a refusal before the end was that of an earlier end
    return sql`(l.status = 'active' and l.valid_until >= ${since} and l.valid_until < ${now}
      and exists (select from license_refusals f where f.license_id = l.license_id and f.code = 'EXPIRED'
                     and f.last_at >= l.valid_until) and ${isOfActiveCustomer})`;
  },
  full: (now) => sql`(${isActive(now)} and l.current_activations >= l.max_activations
    and ${refusedSeat(daysFrom(now, -todayLimits.refusedWithinDays))} and ${isOfActiveCustomer})`,
  offline: (now) => sql`(${isActive(now)} and l.license_id in (select license_id from activations
    where status = 'active' and offline_until >= ${now} and offline_until <= ${daysFrom(now, todayLimits.offlineEndingDays)})
    and ${isOfActiveCustomer})`,
};

/** How many licenses match, and the one that comes first, with the time that makes it the first. */
export type Found = { count: number; next: { id: string; name: string; at: string | null } | null };

/** Licenses that need a person: those that end soon, and those of each `attention` of the list. */
export async function licensesForToday(
  db: Db,
  now: Date,
): Promise<Record<LicenseAttention | 'ending', Found>> {
  const soon = daysFrom(now, todayLimits.licensesEndingDays);
  const [ending, ended, full, offline] = await Promise.all([
    find(db, sql`${endsBetween(now, soon)} and ${isOfActiveCustomer}`, sql`l.valid_until`),
    find(db, attentionConditions.ended(now), sql`l.valid_until`, 'desc'),
    find(
      db,
      attentionConditions.full(now),
      sql`coalesce((select max(r.refused_at) from ${waiting}), ${lastRefused})`,
      'desc',
    ),
    find(
      db,
      attentionConditions.offline(now),
      sql`(select min(offline_until) from activations a where a.license_id = l.license_id and a.status = 'active'
             and a.offline_until >= ${now})`,
    ),
  ]);
  return { ending, ended, full, offline };
}

async function find(
  db: Db,
  condition: Condition,
  at: RawBuilder<unknown>,
  direction: 'asc' | 'desc' = 'asc',
): Promise<Found> {
  const { rows } = await sql<{ id: string; name: string; at: Date; count: number }>`
    select l.license_id as id, c.name, ${at} as at, count(*) over () as count
      from licenses l join customers c on c.customer_id = l.customer_id
     where ${condition} order by at ${sql.raw(direction)}, l.license_id limit 1`.execute(db);
  const [first] = rows;
  if (!first) return { count: 0, next: null };
  return {
    count: first.count,
    next: { id: first.id, name: first.name, at: first.at.toISOString() },
  };
}
