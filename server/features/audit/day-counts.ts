import { sql } from 'kysely';
import type { Tx } from '../../db/client.ts';

/** Adds entries to the daily counts; called once for each entry, when it is sealed. */
export const countDays = (tx: Tx, entries: { audit_id: string }[]) =>
  sql`insert into audit_days as d (day, event_type, user_email, entries, failed)
    select (timestamp at time zone 'UTC')::date, event_type, coalesce(user_email, ''),
           count(*), count(*) filter (where not success)
      from audit_entries where audit_id = any(${entries.map((e) => e.audit_id)}::uuid[]) group by 1, 2, 3
    on conflict (day, event_type, user_email)
      do update set entries = d.entries + excluded.entries, failed = d.failed + excluded.failed`.execute(tx);
