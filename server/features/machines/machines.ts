import { sql, type RawBuilder } from 'kysely';
import { mostOfMachine, type Explanation, type machines as calls } from '../../../contract/machines.ts';
import type { Architecture, Platform } from '../../../contract/builds.ts';
import type { RouteAnswer, RouteInput } from '../../../contract/route.ts';
import { mayRead, nobody, type Caller } from '../../caller.ts';
import type { Db } from '../../db/client.ts';
import { createCountCache } from '../../db/count-cache.ts';
import { activationsWithHash, countOf, heardOf, lastSeenOf } from '../../db/sql.ts';
import { isFailure, type Failure } from '../../failure.ts';
import { toActivation, toIdentity } from '../activations/index.ts';
import type { PolicyFinder } from '../policies/index.ts';
import { explainOffers, namedTo } from '../updates/index.ts';
import { findMachine, foundBy, notFound, toMachine, type MachineRow } from './machine-row.ts';
import { latestEvents } from './latest-events.ts';
import { seatsAt } from './standings.ts';

const everyMachine = sql<boolean>`true`;

const countFound = (db: Db, found: RawBuilder<boolean>): Promise<number> =>
  countOf(db.selectFrom('machines as m').where(found));

/**
 * Counts the machines that a condition finds, by default all; counting a million takes longer than a page. `found` names
 * what is found, whoever asks and whenever.
 */
export function createMachineCount(db: Db) {
  const kept = createCountCache<{ count: number }>(25, ({ count }) => count);
  return async (found = 'all', condition: RawBuilder<boolean> = everyMachine): Promise<number> => {
    const { count } = await kept(found, async () => ({ count: await countFound(db, condition) }));
    return count;
  };
}
export type MachineCount = ReturnType<typeof createMachineCount>;

/**
 * A page of machines, the last seen first; `after` is the last of the previous page, and stays fast where an offset
 * would scan half a million rows.
 */
export async function listMachines(
  db: Db,
  countAll: MachineCount,
  { search, after, limit, offset = 0 }: RouteInput<typeof calls.list>['query'],
): Promise<RouteAnswer<typeof calls.list>> {
  const found = search ? foundBy(search) : everyMachine;
  const position = after?.split('~');
  const beyond = position
    ? sql<boolean>`(${heardOf}, m.machine_hash) < (${position[0]}::timestamptz, decode(${position[1]}, 'hex'))`
    : everyMachine;
  const [page, total] = await Promise.all([
    sql<MachineRow & { seen_at: Date }>`
      select m.*, ${heardOf} as seen_at from machines m where ${found} and ${beyond}
       order by ${heardOf} desc, m.machine_hash desc limit ${limit} offset ${offset}`.execute(db),
    search ? countFound(db, found) : countAll(),
  ]);
  return { data: page.rows.map(toMachine), meta: { total, limit, offset } };
}

/**
 * One machine with its latest events (spec part 2, section 2.6). Who may not read licenses sees the number of its
 * activations alone: a license key is enough to enroll machines.
 */
export async function getMachine(
  db: Db,
  by: Caller,
  id: string,
): Promise<NonNullable<RouteAnswer<typeof calls.get>> | Failure> {
  const row = await findMachineWithSeat(db, by, id);
  if (isFailure(row)) return row;
  const [updateHistory, downloads, activations] = await Promise.all([
    events(db, row),
    downloadsOf(db, row),
    activationsOf(db, row),
  ]);
  return {
    machine: toMachine(row),
    updateHistory,
    downloadHistory: downloads.latest,
    activations: mayRead(by, 'licenses') ? activations.latest : [],
    totals: {
      events: row.total_events,
      downloads: downloads.total,
      activations: activations.total,
    },
  };
}

async function events(db: Db, { machine_hash }: MachineRow) {
  const rows = await latestEvents(db, machine_hash).limit(mostOfMachine).execute();
  return rows.map((row) => ({
    id: row.event_id,
    eventType: row.event_type,
    success: row.success,
    fromVersion: row.from_version,
    toVersion: row.to_version,
    releaseId: row.known_release,
    errorMessage: row.error_message,
    errorCode: row.error_code,
    timestamp: row.occurred_at.toISOString(),
  }));
}

async function downloadsOf(db: Db, { machine_hash }: MachineRow) {
  const rows = await db
    .selectFrom('downloads')
    .selectAll()
    .select(sql<number>`count(*) over ()`.as('total'))
    .where('machine_hash', '=', machine_hash)
    .orderBy('started_at', 'desc')
    .orderBy('download_id', 'desc')
    .limit(mostOfMachine)
    .execute();
  const latest = rows.map((row) => ({
    id: row.download_id,
    startedAt: row.started_at.toISOString(),
    completedAt: row.completed_at?.toISOString() ?? null,
    bytesDownloaded: row.bytes_downloaded,
    errorCode: row.error_code,
    version: row.version,
    releaseId: row.release_id,
  }));
  return { latest, total: rows[0]?.total ?? 0 };
}

/** Activations store the machine's id, so they are matched by its hash, and by that of a record of its own. */
async function activationsOf(db: Db, { machine_hash }: MachineRow) {
  const rows = await db
    .selectFrom('activations as a')
    .innerJoin('licenses as l', 'l.license_id', 'a.license_id')
    .leftJoin('machine_credentials as c', 'c.activation_id', 'a.activation_id')
    .selectAll('a')
    .select(['l.license_key', 'c.enrolled_at', 'c.cloned_at', 'c.own_hash'])
    .select(sql<number>`count(*) over ()`.as('total'))
    .where(sql<boolean>`a.activation_id in (${activationsWithHash(machine_hash)})`)
    .orderBy('a.created_at', 'desc')
    .orderBy('a.activation_id')
    .limit(mostOfMachine)
    .execute();
  const latest = rows.map((row) => ({
    ...toActivation(row),
    ...toIdentity(row),
    licenseId: row.license_id,
    licenseKey: row.license_key,
  }));
  return { latest, total: rows[0]?.total ?? 0 };
}

/** A machine; what no update feed knows of it is as it was when it last validated, or in its offline request. */
async function findMachineWithSeat(db: Db, { now }: Caller, id: string) {
  const row = await findMachine(db, id);
  if (isFailure(row)) return row;
  type Seat = Pick<MachineRow, 'platform' | 'architecture' | 'app_version' | 'os_version'>;
  const { rows } = await sql<Seat & { seen_at: Date }>`
    select s.platform, s.architecture, s.app_version, a.os_version, ${lastSeenOf(sql`s.last_checked_at`)} as seen_at
      from machines m left join ${seatsAt(now, sql`${row.machine_hash}`)} s on true
      left join activations a using (activation_id)
     where m.machine_hash = ${row.machine_hash}`.execute(db);
  const [seat] = rows;
  if (!seat) return notFound;
  return {
    ...row,
    seen_at: seat.seen_at,
    platform: row.platform ?? seat.platform,
    architecture: row.architecture ?? seat.architecture,
    last_version: row.last_version ?? seat.app_version,
    // a feed that knows the machine takes no version of a validation
    fed_version: row.platform === null ? (row.last_version ?? seat.app_version) : row.last_version,
    app_version: row.app_version ?? seat.app_version,
    os_version: row.os_version ?? seat.os_version,
  };
}

/** Whether the machine said in its latest update check what it runs. */
async function sendsVersion(db: Db, { machine_hash }: MachineRow): Promise<boolean> {
  const check = await latestEvents(db, machine_hash)
    .where('event_type', '=', 'check')
    .limit(1)
    .executeTakeFirst();
  return check !== undefined && check.from_version !== null;
}

/** For each release, why this machine is or is not offered it now, based on its last report. */
export async function explainMachine(
  { db, policyOf }: { db: Db; policyOf: PolicyFinder },
  by: Caller,
  id: string,
): Promise<Explanation[] | Failure> {
  const row = await findMachineWithSeat(db, by, id);
  if (isFailure(row)) return row;
  const machineHash = row.machine_hash.toString('hex');
  const policed = await policyOf(machineHash, { actor: nobody, now: by.now });
  return explainOffers(db, {
    machineHash,
    sends: await sendsVersion(db, row),
    policed: policed && { ...policed, policy: namedTo(by, policed.policy) },
    platform: row.platform as Platform | null,
    architecture: row.architecture as Architecture | null,
    channel: row.channel,
    currentVersion: row.fed_version,
  });
}
