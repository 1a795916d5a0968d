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

/** A validation that may be the first of a seat on its UTC day; `machine`: the beginning of the hash of its record. */
export type Seen = Answered & { machine: string };

/** A UTC day as whole days since 1970: much cheaper than text, and this runs for every validation. */
export const dayNumber = (at: Date) => Math.floor(at.getTime() / dayMs);

const isoDay = (day: number) => utcDay(new Date(day * dayMs));

/**
 * Adds a batch to the counts of its UTC days: validations and time by code, and the machines, licenses and customers
 * that were valid for the first time that day. `firstOfSeats` holds a row of each seat that may be new on its day: only
 * these can make a machine, license or customer new. So a license that changes its owner counts for the new one from the
 * next day on, unless a row of the day arrives late. Returns the rows of the machines that were counted.
 */
export async function countValidationDays(tx: Tx, rows: Answered[], firstOfSeats: Seen[]): Promise<Seen[]> {
  await addTotals(tx, rows);
  if (firstOfSeats.length === 0) return [];
  const machines = await firstSeen(tx, 'machine', firstOfSeats, (row) => row.machine);
  const licenses = await firstSeen(tx, 'license', firstOfSeats, (row) => row.licenseId);
  await noteSeen(tx, firstOfSeats);
  const customers = await firstSeen(tx, 'customer', firstOfSeats, (row) => row.customerId);
  const days = [...new Set(firstOfSeats.map(({ at }) => dayNumber(at)))].toSorted((a, b) => a - b);
  const perDay = (seen: Seen[]) => days.map((day) => seen.filter(({ at }) => dayNumber(at) === day).length);
  await sql`
    insert into active_days as d (day, machines, licenses, customers)
    select * from unnest(${days.map(isoDay)}::date[], ${perDay(machines)}::bigint[],
                         ${perDay(licenses)}::bigint[], ${perDay(customers)}::bigint[])
    on conflict (day) do update set machines = d.machines + excluded.machines,
      licenses = d.licenses + excluded.licenses, customers = d.customers + excluded.customers`.execute(tx);
  return machines;
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

/** Records what is seen for the first time on each day, and returns a row of each. */
async function firstSeen(
  tx: Tx,
  kind: 'machine' | 'license' | 'customer',
  rows: Seen[],
  idOf: (row: Seen) => string | null,
): Promise<Seen[]> {
  const byKey = new Map<string, Seen>(
    rows.filter(idOf).map((row) => [`${isoDay(dayNumber(row.at))} ${idOf(row)}`, row]),
  );
  const keys = inKeyOrder(byKey).map(([key]) => key.split(' '));
  const { rows: added } = await sql<{ key: string }>`
    insert into counted_today (day, kind, id)
    select day, ${kind}, id from unnest(${keys.map(([day]) => day)}::date[], ${keys.map(([, id]) => id)}::uuid[]) as s (day, id)
    on conflict do nothing returning to_char(day, 'YYYY-MM-DD ') || id as key`.execute(tx);
  return added.flatMap(({ key }) => byKey.get(key) ?? []);
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

const keptMs = 3 * dayMs;

/** What is older may be of a day whose machines are not recorded anymore. */
export const countedSince = (now: Date) => new Date(now.getTime() - keptMs + dayMs);

/** Removes the machines, licenses and customers recorded for past days. */
export const clearFirstSeen = clearBefore('counted_today', 'day', keptMs);

/** Creates and drops the monthly partitions of single validations, by the policy (VALIDATIONS_KEEP). */
export const keepValidations = (
  { tx }: Change,
  time: CheckedTime,
  { validationsKeepMs }: Pick<Config, 'validationsKeepMs'>,
): Promise<RotatedMonths> => rotateMonths(tx, 'validations', time, validationsKeepMs);
