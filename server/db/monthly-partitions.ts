import { sql } from 'kysely';
import type { CheckedTime } from '../checked-time.ts';
import type { Db, Tx } from './client.ts';

const monthsAhead = 2;

/** The names of the partitions that were created and dropped. */
export type RotatedMonths = { made: string[]; dropped: string[] };

/**
 * Maintains the UTC months of `occurred_at` as partitions named `<table>_2026_11`, with `<table>_other` as the default:
 * creates this month and the next two, and drops months that ended more than `keepMs` ago.
 */
export async function rotateMonths(
  tx: Tx,
  table: string,
  { now }: CheckedTime,
  keepMs: number,
): Promise<RotatedMonths> {
  // Writers queue behind this lock, so fail rather than make them wait long.
  await sql`set local lock_timeout = '3s'`.execute(tx);
  const there = await listMonths(tx, table);
  const oldest = new Date(now.getTime() - keepMs);
  const dropped = there.filter((name) => name < nameOf(table, monthOf(oldest, 0)));
  for (const name of dropped) await sql`drop table ${sql.table(name)}`.execute(tx);
  await sql`delete from ${sql.table(`${table}_other`)} where occurred_at < ${oldest}`.execute(tx);
  const undivided = await undividedUntil(tx, table);
  const made: string[] = [];
  for (let ahead = 0; ahead <= monthsAhead; ahead++) {
    const name = nameOf(table, monthOf(now, ahead));
    if (there.includes(name) || name < undivided) continue;
    await makeMonth(tx, table, name, { from: monthOf(now, ahead), to: monthOf(now, ahead + 1) });
    made.push(name);
  }
  return { made, dropped };
}

/** The start of the UTC month `ahead` months after that of `at`. */
const monthOf = (at: Date, ahead: number): Date =>
  new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + ahead));

/** The names of a table sort by time. */
const nameOf = (table: string, month: Date): string =>
  `${table}_${month.toISOString().slice(0, 7).replace('-', '_')}`;

/** Since when all rows are kept; undefined before the first rotation. */
export async function keptSince(db: Db, table: string): Promise<Date | undefined> {
  const [oldest] = await listMonths(db, table);
  return oldest === undefined ? undefined : new Date(oldest.slice(-7).replace('_', '-'));
}

async function listMonths(db: Db, table: string): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = ${table}::regclass and c.relname ~ '_[0-9]{4}_[0-9]{2}$'
     order by c.relname`.execute(db);
  return rows.map((row) => row.name);
}

/** The partition of all rows from before the table had months, named after the last of them; empty if there is none. */
async function undividedUntil(db: Db, table: string): Promise<string> {
  const { rows } = await sql<{ name: string }>`
    select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = ${table}::regclass and pg_get_expr(c.relpartbound, c.oid) like '%MINVALUE%'`.execute(
    db,
  );
  return rows[0]?.name ?? '';
}

/** Rows that arrived before the partition existed are in the default partition, and are moved. */
async function makeMonth(
  tx: Tx,
  table: string,
  name: string,
  { from, to }: { from: Date; to: Date },
): Promise<void> {
  const [whole, other, month] = [sql.table(table), sql.table(`${table}_other`), sql.table(name)];
  await sql`lock table ${whole} in share row exclusive mode`.execute(tx);
  await sql`create table ${month} (like ${whole} including defaults)`.execute(tx);
  await sql`
    with moved as (delete from ${other} where occurred_at >= ${from} and occurred_at < ${to} returning *)
    insert into ${month} select * from moved`.execute(tx);
  await sql`alter table ${whole} attach partition ${month}
              for values from (${sql.lit(from.toISOString())}) to (${sql.lit(to.toISOString())})`.execute(tx);
}
