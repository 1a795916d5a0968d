import { sql } from 'kysely';
import type { ChangeParts } from '../../change.ts';
import type { Context } from '../../context.ts';
import type { BatchWriter, WriteBehind } from '../../db/write-behind.ts';
import { isDatabaseUnreachable, type Tx } from '../../db/client.ts';
import { recordHash } from '../../db/sql.ts';
import { present } from '../../invariants.ts';
import { addFigures, type Counted } from '../analytics/index.ts';
import { noteSigns, tellClones } from './clones.ts';
import { noteMachines } from './note-machines.ts';
import { countValidationDays, dayNumber, countedSince, type Answered, type Seen } from './day-counts.ts';
import { noteRefusals } from './license-refusals.ts';

export type ValidationRecorder = BatchWriter<Answered>;

/**
 * Records validations, when each machine was last seen, and the counts of the day, in batches after the responses: a
 * response never waits for it, and a crash loses none older than a second.
 */
export function createValidationRecorder(
  context: ChangeParts & Pick<Context, 'log' | 'clock'>,
  behind: WriteBehind,
): ValidationRecorder {
  return behind.queue('validations', async (rows, once) => {
    const clones = await once(async (tx) => {
      await insertValidations(tx, rows);
      const firstOfSeats = await refreshActivations(tx, latestPerActivation(rows), context.clock());
      const firstOfMachines = await countValidationDays(tx, rows, firstOfSeats);
      await noteRefusals(tx, rows);
      await addFigures(tx, figuresIn(rows, firstOfMachines), context.clock());
      await noteMachines(tx, rows);
      return noteSigns(tx, rows);
    });
    if (!clones) return;
    // The validations are already written, so a failure here must not cause a second write.
    await tellClones(context, clones).catch((error: unknown) => {
      if (!isDatabaseUnreachable(error)) context.log.error({ err: error }, 'Clones could not be told');
    });
  });
}

/** A machine is seen when it is valid for the first time that day, as in the counts of the day. */
function figuresIn(rows: Answered[], firstOfMachines: Answered[]): Counted[] {
  const earliest = new Map<string, Date>();
  for (const row of rows.filter(({ code }) => code === 'VALID')) {
    const known = earliest.get(seatDay(row));
    if (!known || row.at < known) earliest.set(seatDay(row), row.at);
  }
  return [
    ...rows.map(({ at }) => ({ at, figure: 'validations' as const })),
    ...rows.filter(({ code }) => code !== 'VALID').map(({ at }) => ({ at, figure: 'refused' as const })),
    ...firstOfMachines.map((row) => ({
      at: earliest.get(seatDay(row)) ?? row.at,
      figure: 'machines' as const,
    })),
  ];
}

async function insertValidations(tx: Tx, rows: Answered[]): Promise<void> {
  await sql`
    insert into validations
      (occurred_at, code, duration_us, license_id, customer_id, machine_id, api_key_id, app_version)
    select * from unnest(
      ${rows.map((r) => r.at)}::timestamptz[], ${rows.map((r) => r.code)}::text[],
      ${rows.map((r) => r.durationUs)}::int[], ${rows.map((r) => r.licenseId)}::uuid[],
      ${rows.map((r) => r.customerId)}::uuid[], ${rows.map((r) => r.request.machineId)}::text[],
      ${rows.map((r) => r.apiKeyId)}::uuid[], ${rows.map((r) => r.request.appVersion ?? null)}::text[])`.execute(
    tx,
  );
}

/** One row per seat and day: a machine seen on two days in one batch counts on both. */
function latestPerActivation(rows: Answered[]): Answered[] {
  const latest = new Map<string, Answered>();
  for (const row of rows) {
    if (!row.activationId || row.code !== 'VALID') continue;
    const key = seatDay(row);
    const known = latest.get(key);
    if (!known || known.at < row.at) latest.set(key, row);
  }
  return [...latest.values()];
}

const seatDay = (row: Answered) => `${row.activationId} ${dayNumber(row.at)}`;

/**
 * Updates the activations, and returns the rows that may be the first of their seats on their UTC day, with the machine.
 * A row older than the latest check says nothing new of its machine, and may be of a day that was not counted: after an
 * outage, the records of several processes arrive in any order. All processes lock machines in the same order, so that
 * batches cannot deadlock.
 */
async function refreshActivations(tx: Tx, rows: Answered[], now: Date): Promise<Seen[]> {
  if (rows.length === 0) return [];
  const fact = (name: 'hostname' | 'platform' | 'architecture' | 'osVersion' | 'appVersion') =>
    rows.map((r) => r.request[name] ?? null);
  const { rows: first } = await sql<{ place: number; machine: string }>`
    with seen as (
      select * from unnest(
        ${rows.map((r) => r.activationId)}::uuid[], ${rows.map((r) => r.at)}::timestamptz[],
        ${fact('hostname')}::text[], ${fact('platform')}::text[], ${fact('architecture')}::text[],
        ${fact('osVersion')}::text[], ${fact('appVersion')}::text[])
        with ordinality as s (id, at, hostname, platform, architecture, os_version, app_version, place)),
    locked as materialized (
      select activation_id, machine_id, counted_day, last_checked_at from activations
       where activation_id in (select id from seen) order by activation_id for update),
    latest as (select distinct on (id) * from seen order by id, at desc),
    facts as (
      select l.* from latest l join locked k on k.activation_id = l.id
       where k.last_checked_at is null or k.last_checked_at <= l.at),
    refreshed as (
      update activations a
         set last_checked_at = greatest(a.last_checked_at, l.at),
             counted_day = greatest(a.counted_day, (l.at at time zone 'UTC')::date),
             hostname = coalesce(f.hostname, a.hostname),
             platform = coalesce(f.platform, a.platform),
             architecture = coalesce(f.architecture, a.architecture),
             os_version = coalesce(f.os_version, a.os_version),
             app_version = coalesce(f.app_version, a.app_version)
        from latest l left join facts f using (id) where a.activation_id = l.id)
    select s.place::int, encode(substring(${recordHash('m', 'k')} for 16), 'hex')::uuid as machine
      from seen s join locked k on k.activation_id = s.id
      left join machine_credentials m using (activation_id)
     where k.counted_day is null or (s.at at time zone 'UTC')::date > k.counted_day
        or (s.at at time zone 'UTC')::date < k.counted_day and s.at > ${countedSince(now)}`.execute(tx);
  return first.map(({ place, machine }) => ({
    ...present(rows[place - 1], 'places are those of the rows'),
    machine,
  }));
}
