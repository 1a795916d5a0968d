import { sql } from 'kysely';
import { v5 as uuidv5 } from 'uuid';
import type { Channel } from '../../../contract/versions.ts';
import type { Tx } from '../../db/client.ts';
import { activationsOfRecord } from '../../db/sql.ts';
import { inKeyOrder } from '../../db/key-order.ts';
import { present } from '../../invariants.ts';
import { addFigures } from '../analytics/index.ts';
import {
  isEvent,
  activityByMachine,
  succeeded,
  unknownFields,
  type UpdateEvent,
  type MachineActivity,
} from './update-event.ts';
import { makeRecords } from './make-records.ts';
import { writeOffers } from './write-offers.ts';
import { writeDownloads } from './write-downloads.ts';

/** The stored state of a machine before the batch. */
type Known = {
  platform: string | null;
  architecture: string | null;
  channel: Channel | null;
  lastCheckDay: string | null;
  /** It is enrolled, and took a release with its token. */
  provesItself: boolean;
};

/**
 * Writes a batch of events and updates machines, downloads, and totals of releases and days. Tables and rows are locked
 * in a fixed order, so that concurrent batches cannot deadlock. Returns the ids of the releases with a failed install.
 */
export async function writeEvents(tx: Tx, batch: readonly UpdateEvent[], now: Date): Promise<string[]> {
  const fresh = await onlyFresh(tx, batch, now);
  if (fresh.length === 0) return [];
  const activity = activityByMachine(fresh);
  const known = await lockMachines(tx, activity);
  const { events, newDownloads, failedReleases, figures } = await writeDownloads(
    tx,
    fresh.map((event) => withKnown(event, known.get(event.machineHash))),
    now,
  );
  const told = fresh.map((event) =>
    known.get(event.machineHash)?.provesItself && !event.proven ? { ...event, ...unknownFields } : event,
  );
  await updateMachines(tx, activityByMachine(told), newDownloads);
  await writeOffers(tx, fresh);
  await countCheckDays(tx, activity, known);
  await insertEvents(tx, events.filter(isEvent));
  const checks = fresh.filter(({ type }) => type === 'check');
  await addFigures(tx, [...checks.map(({ at }) => ({ at, figure: 'checks' as const })), ...figures], now);
  return failedReleases;
}

/** Sorted by time, without reports that were counted before: their ids are kept for some days. */
async function onlyFresh(tx: Tx, batch: readonly UpdateEvent[], now: Date): Promise<UpdateEvent[]> {
  const ids = [...new Set(batch.filter((event) => event.reported).map(reportId))].toSorted();
  const { rows } =
    ids.length === 0
      ? { rows: [] }
      : await sql<{ event_id: string }>`
          insert into update_event_ids (event_id, seen_at)
          select id, ${now}::timestamptz from unnest(${ids}::uuid[]) as e (id)
          on conflict do nothing returning event_id`.execute(tx);
  const uncounted = new Set(rows.map((row) => row.event_id));
  // keeps the first event of each id, and removes the id
  const fresh = batch.filter((event) => !event.reported || uncounted.delete(reportId(event)));
  return fresh.toSorted((a, b) => a.at.getTime() - b.at.getTime());
}

/** Of this machine only: copies of a disk image use the same ids, and no machine may use up the id of another. */
const reportId = ({ eventId, machineHash }: UpdateEvent) => uuidv5(machineHash, eventId);

/** Inserts missing machines, and locks all. */
async function lockMachines(tx: Tx, activity: readonly MachineActivity[]): Promise<Map<string, Known>> {
  const hashes = activity.map((m) => m.machineHash);
  await makeRecords(tx, activity);
  const { rows } = await sql<Known & { hash: string }>`
    select encode(machine_hash, 'hex') as hash, platform, architecture, channel,
           last_check_day::text as "lastCheckDay",
           proven_at is not null
             and exists (select from downloads d where d.machine_hash = machines.machine_hash and d.proven)
             and exists (select from ${activationsOfRecord(sql`machines.machine_hash`)} a
                           join machine_credentials c using (activation_id)) as "provesItself"
      from machines
     where machine_hash = any(select decode(h, 'hex') from unnest(${hashes}::text[]) as m (h))
     order by machine_hash for update`.execute(tx);
  return new Map(rows.map(({ hash, ...known }) => [hash, known]));
}

/** Completes a report with earlier data: it need not repeat known fields. */
function withKnown(event: UpdateEvent, known: Known | undefined): UpdateEvent {
  return {
    ...event,
    platform: event.platform ?? known?.platform ?? null,
    architecture: event.architecture ?? known?.architecture ?? null,
    channel: event.channel ?? known?.channel ?? null,
  };
}

async function updateMachines(
  tx: Tx,
  activity: readonly MachineActivity[],
  newDownloads: ReadonlyMap<string, number>,
): Promise<void> {
  const column = <K extends keyof MachineActivity>(name: K) => activity.map((m) => m[name]);
  await sql`
    update machines m
       set platform = coalesce(n.platform, m.platform),
           architecture = coalesce(n.architecture, m.architecture),
           channel = coalesce(n.channel, m.channel),
           last_version = coalesce(n.last_version, m.last_version),
           os_version = coalesce(n.os_version, m.os_version),
           app_version = coalesce(n.app_version, m.app_version),
           first_check = coalesce(m.first_check, case when m.total_checks = 0 and n.checks > 0 then n.first end),
           last_seen = greatest(m.last_seen, n.seen),
           last_check_day = greatest(m.last_check_day, n.check_day),
           total_events = m.total_events + n.events,
           total_checks = m.total_checks + n.checks,
           total_downloads = m.total_downloads + n.downloads
      from unnest(
             ${column('machineHash')}::text[], ${column('platform')}::text[], ${column('architecture')}::text[],
             ${column('channel')}::text[], ${column('lastVersion')}::text[], ${column('osVersion')}::text[],
             ${column('appVersion')}::text[], ${column('firstAt')}::timestamptz[], ${column('lastAt')}::timestamptz[],
             ${activity.map((m) => [...m.checkDays.keys()].at(-1) ?? null)}::date[], ${column('events')}::int[],
             ${column('checks')}::int[], ${activity.map((m) => newDownloads.get(m.machineHash) ?? 0)}::int[])
        as n (hash, platform, architecture, channel, last_version, os_version, app_version, first, seen, check_day,
              events, checks, downloads)
     where m.machine_hash = decode(n.hash, 'hex')`.execute(tx);
}

/**
 * Counts checks per day, and the machines that checked for the first time that day: by their events if they have checked
 * on a later one. Machines are locked, so two processes never both count a check as the first.
 */
async function countCheckDays(
  tx: Tx,
  activity: readonly MachineActivity[],
  known: ReadonlyMap<string, Known>,
): Promise<void> {
  const days = new Map<string, { checks: number; machines: number }>();
  const late = [];
  for (const { machineHash, checkDays } of activity) {
    const last = known.get(machineHash)?.lastCheckDay ?? '';
    for (const [day, checks] of checkDays) {
      const sum = days.get(day) ?? { checks: 0, machines: 0 };
      days.set(day, { checks: sum.checks + checks, machines: sum.machines + Number(day > last) });
      if (day < last) late.push({ machineHash, day });
    }
  }
  for (const day of await daysWithoutCheck(tx, late))
    present(days.get(day), 'these are some of them').machines += 1;
  const rows = inKeyOrder(days);
  if (rows.length === 0) return;
  await sql`
    insert into update_days (day, total_checks, unique_machines)
    select * from unnest(${rows.map(([day]) => day)}::date[], ${rows.map(([, { checks }]) => checks)}::bigint[],
                         ${rows.map(([, { machines }]) => machines)}::bigint[])
    on conflict (day) do update
       set total_checks = update_days.total_checks + excluded.total_checks,
           unique_machines = update_days.unique_machines + excluded.unique_machines`.execute(tx);
}

/** The days on which these machines have not checked, one for each machine. */
async function daysWithoutCheck(tx: Tx, of: { machineHash: string; day: string }[]): Promise<string[]> {
  if (of.length === 0) return [];
  const { rows } = await sql<{ day: string }>`
    select l.day from unnest(${of.map((l) => l.machineHash)}::text[], ${of.map((l) => l.day)}::text[]) as l (hash, day)
     where not exists (
       select from update_events e
        where e.machine_hash = decode(l.hash, 'hex') and e.event_type = 'check'
          and e.occurred_at >= l.day::date::timestamp at time zone 'UTC'
          and e.occurred_at < (l.day::date + 1)::timestamp at time zone 'UTC')`.execute(tx);
  return rows.map(({ day }) => day);
}

async function insertEvents(tx: Tx, events: readonly UpdateEvent[]): Promise<void> {
  const column = <K extends keyof UpdateEvent>(name: K) => events.map((event) => event[name]);
  await sql`
    insert into update_events
      (event_id, occurred_at, machine_hash, event_type, success, from_version, to_version, release_id,
       error_code, error_message)
    select event_id, at, decode(hash, 'hex'), type, success, from_version, to_version, release_id, error_code,
           error_message
      from unnest(
             ${column('eventId')}::uuid[], ${column('at')}::timestamptz[], ${column('machineHash')}::text[],
             ${column('type')}::text[], ${events.map(succeeded)}::bool[], ${column('fromVersion')}::text[],
             ${column('toVersion')}::text[], ${column('releaseId')}::uuid[], ${column('errorCode')}::text[],
             ${column('errorMessage')}::text[])
        with ordinality
        as e (event_id, at, hash, type, success, from_version, to_version, release_id, error_code, error_message, place)
     order by place`.execute(tx);
}
