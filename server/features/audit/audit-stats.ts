import { sql } from 'kysely';
import { utcDay } from '../../../contract/durations.ts';
import type { audit as calls } from '../../../contract/audit.ts';
import type { RouteAnswer } from '../../../contract/route.ts';
import type { Db } from '../../db/client.ts';
import { onlyRow } from '../../invariants.ts';

const mostNamed = 20;

/** Entries of the last `days` days (UTC, including today) by day, event and user, including unsealed ones. */
export async function statsOf(db: Db, days: number, now: Date): Promise<RouteAnswer<typeof calls.stats>> {
  const today = utcDay(now);
  const { rows } = await sql<{
    total: number;
    failed: number;
    by_day: { date: string; count: number }[];
    by_event: { event_type: string; count: number }[];
    by_user: { user_email: string; count: number }[];
  }>`
    with counted as (
      select day, event_type, user_email, entries, failed from audit_days
        where day between ${today}::date - ${days - 1}::int and ${today}::date
      union all
      select (e.timestamp at time zone 'UTC')::date, e.event_type, coalesce(e.user_email, ''), 1,
             case when e.success then 0 else 1 end
        from audit_pending p join audit_entries e using (audit_id)
        where not exists (select from audit_seals s where s.audit_id = p.audit_id)
          and (e.timestamp at time zone 'UTC')::date between ${today}::date - ${days - 1}::int and ${today}::date
    ), days as (
      select to_char(at, 'YYYY-MM-DD') as date, coalesce(sum(entries), 0)::int as count
        from generate_series(${today}::date - ${days - 1}::int, ${today}::date, interval '1 day') as at
        left join counted on day = at::date group by at order by at
    ), events as (
      select event_type, sum(entries)::int as count from counted
        group by event_type order by count desc, event_type limit ${mostNamed}
    ), people as (
      select user_email, sum(entries)::int as count from counted
        where user_email <> '' group by user_email order by count desc, user_email limit ${mostNamed}
    )
    select (select coalesce(sum(entries), 0)::int from counted) as total,
           (select coalesce(sum(failed), 0)::int from counted) as failed,
           (select coalesce(json_agg(d), '[]') from days d) as by_day,
           (select coalesce(json_agg(e), '[]') from events e) as by_event,
           (select coalesce(json_agg(p), '[]') from people p) as by_user`.execute(db);
  const { total, failed, by_day, by_event, by_user } = onlyRow({ rows });
  return { days, total, failed, byDay: by_day, byEvent: by_event, byUser: by_user };
}

/**
 * The values for the filters: all users, kinds of records and events in the log. Each value takes one index lookup, so
 * the time does not depend on the size of the log.
 */
export async function choicesOf(db: Db): Promise<RouteAnswer<typeof calls.choices>> {
  const { rows } = await sql<{
    users: { user_id: string; user_email: string }[];
    resource_types: string[];
    event_types: string[];
  }>`
    with recursive person as (
      (select user_id from audit_entries where user_id is not null order by user_id limit 1)
      union all
      select (select e.user_id from audit_entries e where e.user_id > p.user_id order by e.user_id limit 1)
        from person p where p.user_id is not null
    ), kind as (
      (select resource_type as name from audit_entries order by resource_type limit 1)
      union all
      select (select e.resource_type from audit_entries e where e.resource_type > k.name
        order by e.resource_type limit 1) from kind k where k.name is not null
    ), event as (
      (select event_type as name from audit_entries order by event_type limit 1)
      union all
      select (select e.event_type from audit_entries e where e.event_type > v.name order by e.event_type limit 1)
        from event v where v.name is not null
    ), known as (
      select user_id, (select e.user_email from audit_entries e where e.user_id = person.user_id
        order by e.timestamp desc, e.audit_id desc limit 1) as user_email from person where user_id is not null
    )
    select (select coalesce(json_agg(k order by user_email, user_id), '[]') from known k where user_email is not null) as users,
           (select coalesce(json_agg(name order by name), '[]') from kind where name is not null) as resource_types,
           (select coalesce(json_agg(name order by name), '[]') from event where name is not null) as event_types`.execute(
    db,
  );
  const { users, resource_types, event_types } = onlyRow({ rows });
  return { users, resourceTypes: resource_types, eventTypes: event_types };
}
