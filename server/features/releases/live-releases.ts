import { compareVersions } from '../../../contract/versions.ts';
import type { Context } from '../../context.ts';
import { createCache } from '../../db/cache.ts';
import type { Db } from '../../db/client.ts';
import { selectReleases, toRelease, type ReleaseRow } from './release-row.ts';

/** A release with the fields that feeds and downloads need in addition to those for staff. */
export type LiveRelease = ReturnType<typeof toLiveRelease>;

/** All releases, newest version first, including drafts and inactive ones; `trashed` are those in the recycle bin. */
export type Releases = { live: readonly LiveRelease[]; trashed: readonly LiveRelease[] };

async function readReleases(db: Db): Promise<Releases> {
  const rows = await selectReleases(db).orderBy('r.release_id').execute();
  const all = rows.map(toLiveRelease).toSorted((a, b) => compareVersions(b.version, a.version));
  return { live: all.filter((r) => r.deletedAt === null), trashed: all.filter((r) => r.deletedAt !== null) };
}

/**
 * All releases for the feeds, cached until a release changes in any process. The result is shared and must not be
 * modified.
 */
export function createReleaseSet({ db, signals }: Pick<Context, 'db' | 'signals'>) {
  const cached = createCache<Releases>(signals, 'releases', { max: 1, ttlMs: 60_000 });
  return () => cached('all', () => readReleases(db));
}
export type ReleaseSet = ReturnType<typeof createReleaseSet>;

/** The builds that updaters of one kind ask for: of these, a newer one can take the place of another. */
export type Line = Pick<LiveRelease, 'platform' | 'architecture' | 'fileKind'>;

export const isSameLine = (a: Line, b: Line): boolean =>
  a.platform === b.platform && a.architecture === b.architecture && a.fileKind === b.fileKind;

/** Squirrel.Windows takes no package without one. Its release still counts for pins. */
export const lacksSha1 = ({ fileKind, sha1 }: { fileKind: string; sha1?: string | null }): boolean =>
  fileKind === 'nupkg' && sha1 === null;

/** What of a release in the recycle bin still decides: a pin that matches it counts. */
export type TrashedRelease = Pick<LiveRelease, 'version' | 'channel' | 'wasPublished' | keyof Line>;

/** A row with what feeds and downloads need of a release, besides what the contract shows. */
export function toLiveRelease(row: ReleaseRow) {
  const { downloadCount: _, ...release } = toRelease(row);
  return {
    ...release,
    fileKind: row.file_kind,
    /** Hex; null for an external file. */
    sha1: row.sha1,
    storageKey: row.storage_key,
    storageStamp: row.storage_stamp,
    externalUrl: row.external_url,
    blockmapKey: row.blockmap_key,
    /** Bytes of the block map at the end of an AppImage. */
    embeddedBlockmapSize: row.embedded_blockmap_size,
    rolloutSalt: row.rollout_salt,
    /** Failures before this do not count for the rollout guard. */
    failuresFrom: row.failures_from.toISOString(),
    /** A draft may have been taken back: publishing and taking back restart the count of failures. */
    wasPublished: !row.is_draft || row.failures_from > row.created_at,
    /** Set while it is in the recycle bin. */
    deletedAt: row.deleted_at?.toISOString() ?? null,
  };
}
