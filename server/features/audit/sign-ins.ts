import { sql } from 'kysely';
import { daysFrom, utcDay } from '../../../contract/durations.ts';
import { mostSignIns } from '../../../contract/today-needs.ts';
import { todayLimits } from '../../../contract/today.ts';
import { isWithin } from '../../checked-time.ts';
import type { Db } from '../../db/client.ts';
import { onlyRow } from '../../invariants.ts';

/** The whole days that say what is usual: those before the counted hours began, of a young log fewer. */
const usualDays = 14;
/** So many refused sign-ins, or three times the usual number, are nothing to look at. */
const always = 10;
const aboveUsual = 3;

/** Entries about refused sign-ins of the last hours, if they are clearly more than usual; of more than `most`, one more. */
export async function signInsForToday(
  db: Db,
  now: Date,
  most = mostSignIns,
): Promise<{ count: number; since: string; usual: number }> {
  const since = daysFrom(now, -todayLimits.signInsHours / 24);
  const firstDay = utcDay(daysFrom(since, -usualDays));
  const lastDay = utcDay(since);
  const { rows } = await sql<{ count: number; before: number; days: number }>`
    select (select count(*) from (select from audit_entries
              where event_type = 'session.login_failed' and ${isWithin('timestamp', since, now)} limit ${most + 1}) e) as count,
           (select coalesce(sum(entries), 0)::int from audit_days
              where day >= ${firstDay}::date and day < ${lastDay}::date
                and event_type = 'session.login_failed') as before,
           (select greatest(1, least(${usualDays}, ${lastDay}::date - min(day))) from audit_days) as days`.execute(
    db,
  );
  const { count, before, days } = onlyRow({ rows });
  const usual = before / days;
  const isAbove = count > Math.max(always, aboveUsual * usual);
  return { count: isAbove ? count : 0, since: since.toISOString(), usual: Math.round(usual) };
}
