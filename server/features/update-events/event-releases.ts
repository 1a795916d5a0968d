import { sql } from 'kysely';
import type { Architecture, Platform } from '../../../contract/builds.ts';
import { byWidth, reportedAs, type Channel } from '../../../contract/versions.ts';
import type { Tx } from '../../db/client.ts';
import { plainVersion } from '../../db/sql.ts';
import { present } from '../../invariants.ts';
import { concernedVersion, isEvent, type UpdateEvent } from './update-event.ts';

type ReleaseFacts = {
  release_id: string;
  version: string;
  channel: Channel;
  platform: Platform;
  architecture: Architecture;
  file_kind: string;
  release_date: Date;
  failures_from: Date;
  deleted_at: Date | null;
};

/** An event with its release. */
export type EventWithRelease = UpdateEvent & { release?: ReleaseFacts | undefined };

/** File kinds for updaters come before those for manual downloads. */
const kindsFirst = ['exe', 'zip', 'appimage', 'nupkg', 'deb', 'rpm', 'dmg'];

/**
 * Finds the release of each event: the one that it names, or else by version, platform and architecture; in both cases the
 * kind of file that the machine fetched. The releases are locked against removal until the batch is written; references to
 * removed ones are cleared.
 */
export async function withReleases(tx: Tx, events: readonly UpdateEvent[]): Promise<EventWithRelease[]> {
  // a check already references the offered release, and needs no lookup
  const others = events.filter((event) => event.type !== 'check');
  const versions = [...new Set(others.map(concernedVersion).filter((v) => v !== null))];
  const ids = [...new Set(others.map((event) => event.releaseId).filter((id) => id !== null))];
  if (versions.length === 0 && ids.length === 0) return [...events];
  const { rows } = await sql<ReleaseFacts>`
    select release_id, version, channel, platform, architecture, file_kind, release_date,
           failures_from, deleted_at
      from releases
     where version = any(${versions}::text[]) or ${plainVersion(sql`version`)} = any(${versions}::text[])
        or version = any(array(select version from releases where release_id = any(${ids}::uuid[])))
     order by release_id for key share`.execute(tx);
  const byId = new Map(rows.map((row) => [row.release_id, row]));
  const ranked = rows.toSorted(
    (a, b) =>
      Number(a.deleted_at !== null) - Number(b.deleted_at !== null) ||
      byWidth(a.channel, b.channel) ||
      kindsFirst.indexOf(a.file_kind) - kindsFirst.indexOf(b.file_kind),
  );
  const unclear = others.filter(
    (event) => !byId.has(event.releaseId ?? '') && matching(ranked, event).length > 1,
  );
  const offered = await lastOffered(tx, events, unclear);
  const meant = new Map(
    others.map((event) => [
      event,
      byId.get(event.releaseId ?? '') ?? findRelease(ranked, event, offered.get(offerOf(event))),
    ]),
  );
  const fetched = await fetchedOf(tx, meant, rows);
  return events.map((event) => {
    if (event.type === 'check') return event;
    const release = fetchedInstead(event, meant.get(event), fetched.get(event.machineHash) ?? []);
    return { ...event, releaseId: release?.release_id ?? null, release };
  });
}

type Meant = ReadonlyMap<UpdateEvent, ReleaseFacts | undefined>;

const isOtherKind = (one: ReleaseFacts, other: ReleaseFacts): boolean =>
  one.file_kind !== other.file_kind &&
  one.version === other.version &&
  one.platform === other.platform &&
  one.architecture === other.architecture;

type Fetch = { release: ReleaseFacts; proven: boolean };

/**
 * The kind of file that a machine fetched, where it did not fetch the one that is meant: a feed that lists several kinds
 * names the id of one, and each updater takes its own. `fetches` has the latest last. What an API key fetched for a machine
 * that proves itself does not count, or it would move the reports of that machine.
 */
function fetchedInstead(
  { proven }: UpdateEvent,
  meant: ReleaseFacts | undefined,
  fetches: readonly Fetch[],
): ReleaseFacts | undefined {
  const fetched = fetches.filter((one) => one.proven || !proven).map(({ release }) => release);
  if (!meant || fetched.includes(meant)) return meant;
  return fetched.findLast((one) => isOtherKind(one, meant)) ?? meant;
}

/** What each machine with a report has fetched, before this batch or in it, of builds with several kinds of file. */
async function fetchedOf(tx: Tx, meant: Meant, rows: readonly ReleaseFacts[]): Promise<Map<string, Fetch[]>> {
  const several = rows.filter((row) => rows.some((one) => isOtherKind(one, row)));
  const events = [...meant.keys()];
  const hashes = events
    .filter((event) => isEvent(event) && several.some((one) => one === meant.get(event)))
    .map(({ machineHash }) => machineHash);
  if (hashes.length === 0) return new Map();
  const { rows: before } = await sql<Pick<UpdateEvent, 'machineHash' | 'releaseId' | 'proven'>>`
    select encode(machine_hash, 'hex') as "machineHash", release_id as "releaseId", proven
      from downloads
     where machine_hash = any(select decode(h, 'hex') from unnest(${hashes}::text[]) as m (h))
       and release_id = any(${several.map((one) => one.release_id)}::uuid[]) and fetched_at is not null
     order by fetched_at`.execute(tx);
  const fetched = new Map(hashes.map((hash) => [hash, [] as Fetch[]]));
  for (const { machineHash, releaseId, proven } of [
    ...before,
    ...events.filter((event) => !isEvent(event)),
  ]) {
    const release = several.find((one) => one.release_id === releaseId);
    if (release) fetched.get(machineHash)?.push({ release, proven });
  }
  return fetched;
}

const matching = (ranked: readonly ReleaseFacts[], event: UpdateEvent): ReleaseFacts[] =>
  ranked.filter(
    (r) =>
      reportedAs(r.version).includes(concernedVersion(event) ?? '') &&
      (event.platform === null || r.platform === event.platform) &&
      (event.architecture === null || r.architecture === event.architecture),
  );

function findRelease(
  ranked: readonly ReleaseFacts[],
  event: UpdateEvent,
  offeredId: string | undefined,
): ReleaseFacts | undefined {
  const all = matching(ranked, event);
  const rank = (r: ReleaseFacts) =>
    (r.version === concernedVersion(event) ? 0 : 2) + (r.channel === event.channel ? 0 : 1);
  return all.find((r) => r.release_id === offeredId) ?? all.toSorted((a, b) => rank(a) - rank(b))[0];
}

/** The key of a machine and the version that it was offered or that an event is about. */
export const offerOf = (event: UpdateEvent) =>
  `${event.machineHash} ${event.type === 'check' ? event.toVersion : concernedVersion(event)}`;

/**
 * The release of that version that a feed last offered each machine, within a month: where a version has several kinds
 * of file, this identifies the machine's updater. Keyed by `offerOf`; checks reported by machines do not count.
 */
export async function lastOffered(
  tx: Tx,
  batch: readonly UpdateEvent[],
  unclear: readonly UpdateEvent[],
): Promise<Map<string, string>> {
  if (unclear.length === 0) return new Map();
  const asked = [...new Map(unclear.map((event) => [offerOf(event), event])).values()];
  const { rows } = await sql<{ place: number; releaseId: string }>`
    select a.place::int, e.release_id as "releaseId"
      from unnest(${asked.map((event) => event.machineHash)}::text[], ${asked.map(concernedVersion)}::text[],
                  ${asked.map((event) => event.receivedAt)}::timestamptz[])
        with ordinality as a (hash, version, received_at, place)
     cross join lateral (
       select release_id from update_events
        where machine_hash = decode(a.hash, 'hex') and occurred_at > a.received_at - interval '30 days'
          and event_type = 'check' and release_id is not null
          and a.version in (to_version, ${plainVersion(sql`to_version`)})
        order by occurred_at desc, written_order desc nulls last limit 1) e`.execute(tx);
  const known = rows.flatMap(({ place, releaseId }) => {
    const event = asked[place - 1];
    return event ? [[offerOf(event), releaseId] as const] : [];
  });
  const justNow = batch
    .filter((event) => event.type === 'check' && event.releaseId !== null)
    .flatMap((event) =>
      reportedAs(event.toVersion ?? '').map(
        (toVersion) =>
          [offerOf({ ...event, toVersion }), present(event.releaseId, 'filtered above')] as const,
      ),
    );
  return new Map([...known, ...justNow]);
}
