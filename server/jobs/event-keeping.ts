import { sql } from 'kysely';
import type { Context } from '../context.ts';
import type { Tx } from '../db/client.ts';
import { locks, tryLock } from '../db/locks.ts';

const dayMs = 86_400_000;
/** A machine that reports a batch again does so within days. */
const idsKeptMs = 7 * dayMs;
const monthsAhead = 2;

/**
 * Makes the partitions of this month and the next two, drops those that are older than the policy (EVENTS_KEEP), and
 * forgets the ids of reports after a week. One process of many does it. Answers the names of what it made and dropped.
 */
export async function keepEvents({
  db,
  clock,
  config,
}: Pick<Context, 'db' | 'clock' | 'config'>): Promise<{ made: string[]; dropped: string[] }> {
  const now = clock();
  return db.transaction().execute(async (tx) => {
    if (!(await tryLock(tx, locks.eventKeeping))) return { made: [], dropped: [] };
    // Those who write events wait for what is done here, so it rather fails than waits for them long.
    await sql`set local lock_timeout = '3s'`.execute(tx);
    const there = await listPartitions(tx);
    const made: string[] = [];
    for (let ahead = 0; ahead <= monthsAhead; ahead++) {
      const month = monthOf(now, ahead);
      if (there.includes(nameOf(month))) continue;
      await makePartition(tx, month, monthOf(now, ahead + 1));
      made.push(nameOf(month));
    }
    const oldest = new Date(now.getTime() - config.eventsKeepMs);
    const dropped = there.filter((name) => name < nameOf(monthOf(oldest, 0)));
    for (const name of dropped) await sql`drop table ${sql.table(name)}`.execute(tx);
    await sql`delete from update_events_other where occurred_at < ${oldest}`.execute(tx);
    await tx
      .deleteFrom('update_event_ids')
      .where('seen_at', '<', new Date(now.getTime() - idsKeptMs))
      .execute();
    return { made, dropped };
  });
}

/** The first moment of the UTC month that lies `ahead` months after that of `at`. */
const monthOf = (at: Date, ahead: number): Date =>
  new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + ahead));

/** `update_events_2026_11`; sorts by time. */
const nameOf = (month: Date): string => `update_events_${month.toISOString().slice(0, 7).replace('-', '_')}`;

async function listPartitions(tx: Tx): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = 'update_events'::regclass and c.relname ~ '^update_events_[0-9]{4}_[0-9]{2}$'
     order by c.relname`.execute(tx);
  return rows.map((row) => row.name);
}

/** What came before its partition was there lies in the default one, and moves. */
async function makePartition(tx: Tx, from: Date, to: Date): Promise<void> {
  const [table, start, end] = [
    sql.table(nameOf(from)),
    sql.lit(from.toISOString()),
    sql.lit(to.toISOString()),
  ];
  await sql`lock table update_events in share row exclusive mode`.execute(tx);
  await sql`create table ${table} (like update_events including defaults)`.execute(tx);
  await sql`
    with moved as (
      delete from update_events_other where occurred_at >= ${from} and occurred_at < ${to} returning *)
    insert into ${table} select * from moved`.execute(tx);
  await sql`alter table update_events attach partition ${table} for values from (${start}) to (${end})`.execute(
    tx,
  );
}
