import { sql } from 'kysely';
import { dayMs, utcDay } from '../../../contract/durations.ts';
import type { ValidationCode, ValidationRequest } from '../../../contract/validation.ts';
import type { Change } from '../../change.ts';
import { clearBefore, type CheckedTime } from '../../checked-time.ts';
import type { Config } from '../../config.ts';
import type { Tx } from '../../db/client.ts';
import { rotateMonths, type RotatedMonths } from '../../db/monthly-partitions.ts';
import { inKeyOrder } from '../../db/key-order.ts';

/** One completed validation. `durationUs` is the duration of the decision, in microseconds. */
export type Answered = {
  at: Date;
  code: ValidationCode;
  durationUs: number;
  licenseId: string | null;
  customerId: string | null;
  activationId: string | null;
  apiKeyId: string | null;
  /** The machine proved itself; its sequence number, if it sent one. Missing in records of older versions. */
  token?: { sequence: number | null } | undefined;
  request: Omit<ValidationRequest, 'licenseKey' | 'nonce'>;
};

/** A UTC day as whole days since 1970: much cheaper than text, and this runs for every validation. */
export const dayNumber = (at: Date) => Math.floor(at.getTime() / dayMs);

const isoDay = (day: number) => utcDay(new Date(day * dayMs));

/**
 * Adds a batch to the counts of its UTC days: validations and time by code, and the machines, licenses and customers
 * that were valid for the first time that day. `firstOfMachine` holds a row of each machine that is new on its day:
 * only these can make a license or customer new. So a license that changes its owner counts for the new one from the
 * next day on.
 */
export async function countValidationDays(
  tx: Tx,
  rows: Answered[],
  firstOfMachine: Answered[],
): Promise<void> {
  await addTotals(tx, rows);
  if (firstOfMachine.length === 0) return;
  const machines = new Map<number, number>();
  for (const { at } of firstOfMachine) machines.set(dayNumber(at), (machines.get(dayNumber(at)) ?? 0) + 1);
  const licenses = await firstSeen(tx, 'license', firstOfMachine, (row) => row.licenseId);
  await noteSeen(tx, firstOfMachine);
  const customers = await firstSeen(tx, 'customer', firstOfMachine, (row) => row.customerId);
  const days = [...machines.keys()].toSorted((a, b) => a - b);
  await sql`
    insert into active_days as d (day, machines, licenses, customers)
    select * from unnest(${days.map(isoDay)}::date[], ${days.map((day) => machines.get(day))}::bigint[],
                         ${days.map((day) => licenses.get(isoDay(day)) ?? 0)}::bigint[],
                         ${days.map((day) => customers.get(isoDay(day)) ?? 0)}::bigint[])
    on conflict (day) do update set machines = d.machines + excluded.machines,
      licenses = d.licenses + excluded.licenses, customers = d.customers + excluded.customers`.execute(tx);
}

async function addTotals(tx: Tx, rows: Answered[]): Promise<void> {
  const sums = new Map<string, { day: string; code: string; validations: number; durationUs: number }>();
  for (const { at, code, durationUs } of rows) {
    const key = `${dayNumber(at)} ${code}`;
    let sum = sums.get(key);
    if (!sum) sums.set(key, (sum = { day: isoDay(dayNumber(at)), code, validations: 0, durationUs: 0 }));
    sum.validations += 1;
    sum.durationUs += durationUs;
  }
  const ordered = inKeyOrder(sums).map(([, sum]) => sum);
  await sql`
    insert into validation_days as d (day, code, validations, duration_us)
    select * from unnest(${ordered.map((s) => s.day)}::date[], ${ordered.map((s) => s.code)}::text[],
                         ${ordered.map((s) => s.validations)}::bigint[], ${ordered.map((s) => s.durationUs)}::bigint[])
    on conflict (day, code) do update set validations = d.validations + excluded.validations,
      duration_us = d.duration_us + excluded.duration_us`.execute(tx);
}

/** Counts the licenses or customers seen for the first time on each day, and records them. */
async function firstSeen(
  tx: Tx,
  kind: 'license' | 'customer',
  rows: Answered[],
  idOf: (row: Answered) => string | null,
): Promise<Map<string, number>> {
  const keys = new Set(rows.filter(idOf).map((row) => `${isoDay(dayNumber(row.at))} ${idOf(row)}`));
  const seen = [...keys].toSorted().map((key) => key.split(' ') as [string, string]);
  const { rows: days } = await sql<{ day: string; count: number }>`
    with added as (
      insert into counted_today (day, kind, id)
      select day, ${kind}, id from unnest(${seen.map(([day]) => day)}::date[], ${seen.map(([, id]) => id)}::uuid[]) as s (day, id)
      on conflict do nothing returning day)
    select to_char(day, 'YYYY-MM-DD') as day, count(*) as count from added group by 1`.execute(tx);
  return new Map(days.map(({ day, count }) => [day, count]));
}

/** Notes the last day on which each license was seen, if it is later than the one noted. */
async function noteSeen(tx: Tx, rows: Answered[]): Promise<void> {
  const last = new Map<string, number>();
  for (const { licenseId, at } of rows)
    if (licenseId) last.set(licenseId, Math.max(dayNumber(at), last.get(licenseId) ?? 0));
  // locked in a fixed order in all processes: see refreshActivations
  await sql`
    with later as materialized (
      select d.license_id, s.day
        from license_days d join unnest(${[...last.keys()]}::uuid[], ${[...last.values()].map(isoDay)}::date[])
          as s (license_id, day) using (license_id)
       where d.seen_day < s.day order by d.license_id for update of d)
    update license_days d set seen_day = greatest(d.seen_day, l.day)
      from later l where d.license_id = l.license_id`.execute(tx);
}

/** Removes the licenses and customers recorded for past days. */
export const clearFirstSeen = clearBefore('counted_today', 'day', 3 * dayMs);

/** Creates and drops the monthly partitions of single validations, by the policy (VALIDATIONS_KEEP). */
export const keepValidations = (
  { tx }: Change,
  time: CheckedTime,
  { validationsKeepMs }: Pick<Config, 'validationsKeepMs'>,
): Promise<RotatedMonths> => rotateMonths(tx, 'validations', time, validationsKeepMs);
