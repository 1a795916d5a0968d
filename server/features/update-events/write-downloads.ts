import { sql } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import { utcDay } from '../../../contract/durations.ts';
import { latestTime } from '../../checked-time.ts';
import type { Tx } from '../../db/client.ts';
import type { Counted } from '../analytics/index.ts';
import { nextState, counted, type DownloadState } from './download-state.ts';
import { lastOffered, offerOf, withReleases, type EventWithRelease } from './event-releases.ts';
import type { UpdateEvent } from './update-event.ts';
import { present } from '../../invariants.ts';
import { inKeyOrder } from '../../db/key-order.ts';

type WrittenDownloads = {
  /** The events with their releases. */
  events: UpdateEvent[];
  /** Downloads started in this batch, by machine. */
  newDownloads: Map<string, number>;
  /** Releases with a failed install. */
  failedReleases: string[];
  /** Downloads that completed, and installs that ended, with this batch. */
  figures: Counted[];
};

type Download = {
  machineHash: string;
  releaseId: string;
  version: string;
  published: Date;
  failuresFrom: Date;
  events: UpdateEvent[];
};

/**
 * Updates the downloads (one per machine and release) and the totals of the releases from the events. The caller must
 * have locked the machines.
 */
export async function writeDownloads(
  tx: Tx,
  all: readonly UpdateEvent[],
  now: Date,
): Promise<WrittenDownloads> {
  const events = await withReleases(tx, all);
  const downloads = byMachineAndRelease(events);
  if (downloads.length === 0) return { events, newDownloads: new Map(), failedReleases: [], figures: [] };
  const made = await insertMissing(tx, downloads);
  const before = await lockStates(tx, downloads);
  const latest = downloads.some(({ failuresFrom }) => failuresFrom > now) ? await latestTime(tx, now) : now;
  const reported = downloads.map((download) => {
    const from = present(before.get(keyOf(download)), 'every download was just locked');
    return {
      ...download,
      from,
      to: download.events.reduce(
        (state, event) => nextState(state, event, { ...download, now, latest }),
        from,
      ),
    };
  });
  const states = await withOffers(tx, all, reported);
  await updateStates(tx, states);
  await addToTotals(tx, states, made);
  const newDownloads = new Map<string, number>();
  for (const { machineHash } of downloads.filter((d) => made.has(keyOf(d)))) {
    newDownloads.set(machineHash, (newDownloads.get(machineHash) ?? 0) + 1);
  }
  const failed = states.filter(({ to }) => to.installFailed).map(({ releaseId }) => releaseId);
  return { events, newDownloads, failedReleases: [...new Set(failed)], figures: states.flatMap(figuresIn) };
}

/**
 * A download counts once, and no more where its machine reports that the file that it was sent is damaged; the outcome of
 * an install counts again when it changes, or is reported on another day.
 */
function figuresIn({ from, to }: Pick<Reported, 'from' | 'to'>): Counted[] {
  const { completedAt, installedAt, installFailed } = to;
  const ended: Counted[] = [];
  if (completedAt && !from.completedAt) ended.push({ at: completedAt, figure: 'downloads' });
  if (from.completedAt && !completedAt) ended.push({ at: from.completedAt, figure: 'downloads', count: -1 });
  const dayOf = (at: Date | null) => at && utcDay(at);
  const isNew = installFailed !== from.installFailed || dayOf(installedAt) !== dayOf(from.installedAt);
  if (installedAt && isNew)
    ended.push({ at: installedAt, figure: installFailed ? 'failedInstalls' : 'installs' });
  return ended;
}

const keyOf = ({ machineHash, releaseId }: Pick<Download, 'machineHash' | 'releaseId'>) =>
  `${machineHash} ${releaseId}`;

/** The events of each machine and release, sorted by key. */
function byMachineAndRelease(events: readonly EventWithRelease[]): Download[] {
  const downloads = new Map<string, Download>();
  for (const event of events) {
    if (!event.release) continue;
    const { machineHash, release } = event;
    const { release_id: releaseId, version, release_date: published, failures_from: failuresFrom } = release;
    const key = keyOf({ machineHash, releaseId });
    const download = downloads.get(key);
    if (download) download.events.push(event);
    else downloads.set(key, { machineHash, releaseId, version, published, failuresFrom, events: [event] });
  }
  return [...downloads.values()].toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

/** Returns the keys of the new downloads. */
async function insertMissing(tx: Tx, downloads: readonly Download[]): Promise<Set<string>> {
  const { rows } = await sql<{ machineHash: string; releaseId: string }>`
    insert into downloads (download_id, machine_hash, release_id, version, started_at)
    select id, decode(hash, 'hex'), release_id, version, at
      from unnest(
             ${downloads.map(() => uuidv7())}::uuid[], ${downloads.map((d) => d.machineHash)}::text[],
             ${downloads.map((d) => d.releaseId)}::uuid[], ${downloads.map((d) => d.version)}::text[],
             ${downloads.map((d) => d.events[0]?.at)}::timestamptz[])
        as d (id, hash, release_id, version, at)
    on conflict (machine_hash, release_id) do nothing
    returning encode(machine_hash, 'hex') as "machineHash", release_id as "releaseId"`.execute(tx);
  return new Set(rows.map(keyOf));
}

async function lockStates(tx: Tx, downloads: readonly Download[]): Promise<Map<string, DownloadState>> {
  const { rows } = await sql<DownloadState & { machineHash: string; releaseId: string }>`
    select encode(d.machine_hash, 'hex') as "machineHash", d.release_id as "releaseId",
           d.completed_at as "completedAt", d.bytes_downloaded as "bytesDownloaded",
           d.error_code as "errorCode", d.by_delivery as "byDelivery",
           d.installed_at as "installedAt", d.install_failed as "installFailed", d.ever_failed as "everFailed",
           d.failure_code as "failureCode", d.rolled_back as "rolledBack", d.from_version as "fromVersion",
           d.offered_at as "offeredAt", d.fetched_at as "fetchedAt", d.proven
      from downloads d
      join unnest(${downloads.map((d) => d.machineHash)}::text[], ${downloads.map((d) => d.releaseId)}::uuid[])
        as k (hash, release_id) on d.machine_hash = decode(k.hash, 'hex') and d.release_id = k.release_id
     order by d.machine_hash, d.release_id for update of d`.execute(tx);
  return new Map(rows.map((row) => [keyOf(row), row]));
}

type Reported = Download & { from: DownloadState; to: DownloadState };

/**
 * Records when a feed offered a release that the machine fetched. Each event repeats the lookup until it succeeds,
 * since another process may write the check a moment later.
 */
async function withOffers(
  tx: Tx,
  batch: readonly UpdateEvent[],
  changes: readonly Reported[],
): Promise<Reported[]> {
  const isUnseen = ({ to }: Reported) => to.fetchedAt !== null && to.offeredAt === null;
  const offers = await lastOffered(
    tx,
    batch,
    changes.filter(isUnseen).flatMap(({ events }) => events),
  );
  return changes.map((change) => {
    const offer = isUnseen(change) && change.events.find((event) => offers.has(offerOf(event)));
    return offer ? { ...change, to: { ...change.to, offeredAt: offer.receivedAt } } : change;
  });
}

async function updateStates(tx: Tx, changes: readonly Reported[]): Promise<void> {
  const changed = changes.filter(({ from, to }) => from !== to);
  if (changed.length === 0) return;
  const column = <K extends keyof DownloadState>(name: K) => changed.map(({ to }) => to[name]);
  await sql`
    update downloads d
       set completed_at = s.completed_at, bytes_downloaded = s.bytes, error_code = s.error_code,
           by_delivery = s.by_delivery, installed_at = s.installed_at, install_failed = s.install_failed,
           ever_failed = s.ever_failed, offered_at = s.offered_at, fetched_at = s.fetched_at, proven = s.proven,
           failure_code = s.failure_code, rolled_back = s.rolled_back, from_version = s.from_version
      from unnest(
             ${changed.map((c) => c.machineHash)}::text[], ${changed.map((c) => c.releaseId)}::uuid[],
             ${column('completedAt')}::timestamptz[], ${column('bytesDownloaded')}::bigint[],
             ${column('errorCode')}::text[], ${column('byDelivery')}::bool[], ${column('installedAt')}::timestamptz[],
             ${column('installFailed')}::bool[], ${column('everFailed')}::bool[], ${column('offeredAt')}::timestamptz[],
             ${column('fetchedAt')}::timestamptz[], ${column('proven')}::bool[], ${column('failureCode')}::text[],
             ${column('rolledBack')}::bool[], ${column('fromVersion')}::text[])
        as s (hash, release_id, completed_at, bytes, error_code, by_delivery, installed_at, install_failed,
              ever_failed, offered_at, fetched_at, proven, failure_code, rolled_back, from_version)
     where d.machine_hash = decode(s.hash, 'hex') and d.release_id = s.release_id`.execute(tx);
}

async function addToTotals(tx: Tx, changes: readonly Reported[], made: ReadonlySet<string>): Promise<void> {
  const totals = new Map<string, { downloads: number; completed: number; failed: number; proven: number }>();
  for (const change of changes) {
    const [from, to] = [counted(change.from), counted(change.to)];
    const sum = totals.get(change.releaseId) ?? { downloads: 0, completed: 0, failed: 0, proven: 0 };
    totals.set(change.releaseId, {
      downloads: sum.downloads + Number(made.has(keyOf(change))),
      completed: sum.completed + to.completed - from.completed,
      failed: sum.failed + to.failed - from.failed,
      proven: sum.proven + to.proven - from.proven,
    });
  }
  const moved = inKeyOrder(totals).filter(([, t]) => t.downloads || t.completed || t.failed || t.proven);
  if (moved.length === 0) return;
  await sql`
    insert into release_totals
      (release_id, downloads, unique_downloads, completed_downloads, failed_downloads, proven_downloads)
    select id, begun, begun, completed, failed, proven
      from unnest(
             ${moved.map(([id]) => id)}::uuid[], ${moved.map(([, t]) => t.downloads)}::bigint[],
             ${moved.map(([, t]) => t.completed)}::bigint[], ${moved.map(([, t]) => t.failed)}::bigint[],
             ${moved.map(([, t]) => t.proven)}::bigint[])
        as t (id, begun, completed, failed, proven)
    on conflict (release_id) do update
       set downloads = release_totals.downloads + excluded.downloads,
           unique_downloads = release_totals.unique_downloads + excluded.unique_downloads,
           completed_downloads = release_totals.completed_downloads + excluded.completed_downloads,
           failed_downloads = release_totals.failed_downloads + excluded.failed_downloads,
           proven_downloads = release_totals.proven_downloads + excluded.proven_downloads`.execute(tx);
}
