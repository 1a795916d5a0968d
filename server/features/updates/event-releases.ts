import { sql } from 'kysely';
import type { Architecture, Platform } from '../../../contract/builds.ts';
import { channels, type Channel } from '../../../contract/versions.ts';
import type { Tx } from '../../db/client.ts';
import { concerns, type Happening } from './happening.ts';

type Named = {
  release_id: string;
  version: string;
  channel: Channel;
  platform: Platform;
  architecture: Architecture;
  file_kind: string;
  release_date: Date;
  deleted_at: Date | null;
};

/** An event, with the release that it is about. */
export type About = Happening & { release?: Named | undefined };

/** The kinds that updaters take come before those that people download. */
const kindsFirst = ['exe', 'zip', 'appimage', 'nupkg', 'deb', 'rpm', 'dmg'];

/**
 * Finds the release of each event that names none: by version, platform and architecture. The releases found are
 * locked against removal until the batch is written; one that is gone already is no longer named.
 */
export async function withReleases(tx: Tx, happenings: readonly Happening[]): Promise<About[]> {
  // a check names what it was offered, and that is all it has to do with a release
  const others = happenings.filter((h) => h.type !== 'check');
  const versions = [...new Set(others.map(concerns).filter((v) => v !== null))];
  const ids = [...new Set(others.map((h) => h.releaseId).filter((id) => id !== null))];
  if (versions.length === 0 && ids.length === 0) return [...happenings];
  const { rows } = await sql<Named>`
    select release_id, version, channel, platform, architecture, file_kind, release_date, deleted_at from releases
     where version = any(${versions}::text[]) or release_id = any(${ids}::uuid[])
     order by release_id for key share`.execute(tx);
  const byId = new Map(rows.map((row) => [row.release_id, row]));
  const ranked = rows.toSorted(
    (a, b) =>
      Number(a.deleted_at !== null) - Number(b.deleted_at !== null) ||
      channels.indexOf(a.channel) - channels.indexOf(b.channel) ||
      kindsFirst.indexOf(a.file_kind) - kindsFirst.indexOf(b.file_kind),
  );
  const unclear = others.filter((h) => !byId.has(h.releaseId ?? '') && fitting(ranked, h).length > 1);
  const offered = await lastOffered(tx, happenings, unclear);
  return happenings.map((h) => {
    if (h.type === 'check') return h;
    const release = byId.get(h.releaseId ?? '') ?? findRelease(ranked, h, offered.get(offerOf(h)));
    return { ...h, releaseId: release?.release_id ?? null, release };
  });
}

const fitting = (ranked: readonly Named[], h: Happening): Named[] =>
  ranked.filter(
    (r) =>
      r.version === concerns(h) &&
      (h.platform === null || r.platform === h.platform) &&
      (h.architecture === null || r.architecture === h.architecture),
  );

function findRelease(
  ranked: readonly Named[],
  h: Happening,
  offeredId: string | undefined,
): Named | undefined {
  const all = fitting(ranked, h);
  return all.find((r) => r.release_id === offeredId) ?? all.find((r) => r.channel === h.channel) ?? all[0];
}

/** A machine and the version that it was offered or that an event is about. */
export const offerOf = (h: Happening) => `${h.machineHash} ${h.type === 'check' ? h.toVersion : concerns(h)}`;

/**
 * The release of that version that a feed last offered each machine, within a month: where a version has several kinds
 * of file, this tells which updater the machine runs. By `offerOf`; what machines report of their checks is no offer.
 */
export async function lastOffered(
  tx: Tx,
  batch: readonly Happening[],
  unclear: readonly Happening[],
): Promise<Map<string, string>> {
  if (unclear.length === 0) return new Map();
  const asked = [...new Map(unclear.map((h) => [offerOf(h), h])).values()];
  const { rows } = await sql<{ place: number; releaseId: string }>`
    select a.place::int, e.release_id as "releaseId"
      from unnest(${asked.map((h) => h.machineHash)}::text[], ${asked.map(concerns)}::text[],
                  ${asked.map((h) => h.receivedAt)}::timestamptz[])
        with ordinality as a (hash, version, received_at, place)
     cross join lateral (
       select release_id from update_events
        where machine_hash = decode(a.hash, 'hex') and occurred_at > a.received_at - interval '30 days'
          and event_type = 'check' and to_version = a.version and release_id is not null
        order by occurred_at desc, written_order desc nulls last limit 1) e`.execute(tx);
  const known = rows.map(({ place, releaseId }) => [offerOf(asked[place - 1]!), releaseId] as const);
  const justNow = batch
    .filter((h) => h.type === 'check' && h.releaseId !== null)
    .map((h) => [offerOf(h), h.releaseId!] as const);
  return new Map([...known, ...justNow]);
}
