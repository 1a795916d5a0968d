import { sql } from 'kysely';
import type { Tx } from '../../db/client.ts';

type Counted = { timestamp: Date; event_type: string; user_email: string | null; success: boolean };

/** Adds entries to the daily counts; called once for each entry, when it is sealed. */
export async function countDays(tx: Tx, entries: Counted[]): Promise<void> {
  const cells = new Map<
    string,
    { day: string; event: string; email: string; entries: number; failed: number }
  >();
  for (const { timestamp, event_type, user_email, success } of entries) {
    const [day, email] = [timestamp.toISOString().slice(0, 10), user_email ?? ''];
    const key = JSON.stringify([day, event_type, email]);
    const cell = cells.get(key) ?? { day, event: event_type, email, entries: 0, failed: 0 };
    cell.entries += 1;
    if (!success) cell.failed += 1;
    cells.set(key, cell);
  }
  const all = [...cells.values()];
  await sql`insert into audit_days as d (day, event_type, user_email, entries, failed)
    select * from unnest(${all.map((c) => c.day)}::date[], ${all.map((c) => c.event)}::text[],
      ${all.map((c) => c.email)}::text[], ${all.map((c) => c.entries)}::int[], ${all.map((c) => c.failed)}::int[])
    on conflict (day, event_type, user_email)
      do update set entries = d.entries + excluded.entries, failed = d.failed + excluded.failed`.execute(tx);
}
