import { sql } from 'kysely';
import type { Tx } from '../../db/client.ts';
import type { Answered } from './recorder.ts';

const dayOf = (row: Answered) => row.at.toISOString().slice(0, 10);

/**
 * Adds a batch to the counts of its UTC days: validations and time by code, and the machines, licenses and customers
 * that were valid for the first time that day. `machines` comes from the machines' own rows.
 */
export async function countDays(tx: Tx, rows: Answered[], machines: Map<string, number>): Promise<void> {
  await addTotals(tx, rows);
  const valid = rows.filter((row) => row.code === 'VALID');
  const licenses = await firstSeen(tx, 'license', valid, (row) => row.licenseId);
  const customers = await firstSeen(tx, 'customer', valid, (row) => row.customerId);
  const days = [...new Set(valid.map(dayOf))].toSorted();
  if (days.length === 0) return;
  const added = (counts: Map<string, number>) => days.map((day) => counts.get(day) ?? 0);
  await sql`
    insert into active_days as d (day, machines, licenses, customers)
    select * from unnest(${days}::date[], ${added(machines)}::bigint[], ${added(licenses)}::bigint[], ${added(customers)}::bigint[])
    on conflict (day) do update set machines = d.machines + excluded.machines,
      licenses = d.licenses + excluded.licenses, customers = d.customers + excluded.customers`.execute(tx);
}

async function addTotals(tx: Tx, rows: Answered[]): Promise<void> {
  const sums = new Map<string, { day: string; code: string; validations: number; durationUs: number }>();
  for (const row of rows) {
    const key = `${dayOf(row)} ${row.code}`;
    const sum = sums.get(key) ?? { day: dayOf(row), code: row.code, validations: 0, durationUs: 0 };
    sums.set(key, { ...sum, validations: sum.validations + 1, durationUs: sum.durationUs + row.durationUs });
  }
  // One order for every process: see refreshActivations.
  const ordered = [...sums].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, sum]) => sum);
  await sql`
    insert into validation_days as d (day, code, validations, duration_us)
    select * from unnest(${ordered.map((s) => s.day)}::date[], ${ordered.map((s) => s.code)}::text[],
                         ${ordered.map((s) => s.validations)}::bigint[], ${ordered.map((s) => s.durationUs)}::bigint[])
    on conflict (day, code) do update set validations = d.validations + excluded.validations,
      duration_us = d.duration_us + excluded.duration_us`.execute(tx);
}

async function firstSeen(
  tx: Tx,
  kind: 'license' | 'customer',
  rows: Answered[],
  idOf: (row: Answered) => string | null,
): Promise<Map<string, number>> {
  const keys = new Set(rows.filter(idOf).map((row) => `${dayOf(row)} ${idOf(row)}`));
  const seen = [...keys].toSorted().map((key) => key.split(' ') as [string, string]);
  if (seen.length === 0) return new Map();
  const { rows: days } = await sql<{ day: string; count: number }>`
    with added as (
      insert into counted_today (day, kind, id)
      select day, ${kind}, id from unnest(${seen.map(([day]) => day)}::date[], ${seen.map(([, id]) => id)}::uuid[]) as s (day, id)
      on conflict do nothing returning day)
    select to_char(day, 'YYYY-MM-DD') as day, count(*) as count from added group by 1`.execute(tx);
  return new Map(days.map(({ day, count }) => [day, count]));
}
