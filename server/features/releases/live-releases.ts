import { compareVersions } from '../../../contract/versions.ts';
import type { Release } from '../../../contract/releases.ts';
import type { Context } from '../../context.ts';
import { createCache } from '../../db/cache.ts';
import type { Db } from '../../db/client.ts';
import { selectReleases, toRelease, type ReleaseRow } from './release-row.ts';

/** A release with the fields that feeds and downloads need in addition to those for staff. */
export type LiveRelease = Omit<Release, 'downloadCount'> & {
  fileKind: string;
  /** Hex; null for an external file. */
  sha1: string | null;
  storageKey: string | null;
  storageStamp: string | null;
  externalUrl: string | null;
  blockmapKey: string | null;
  /** Bytes of the block map at the end of an AppImage. */
  embeddedBlockmapSize: number | null;
  rolloutSalt: string;
  /** Failures before this do not count against the threshold. */
  failuresFrom: string;
  /** Set while it is in the bin. */
  deletedAt: string | null;
};

/** Every release that is not in the bin, newest version first, including drafts and inactive ones. */
export async function listLiveReleases(db: Db): Promise<LiveRelease[]> {
  const rows = await selectReleases(db).where('r.deleted_at', 'is', null).orderBy('r.release_id').execute();
  return rows.map(toLiveRelease).toSorted((a, b) => compareVersions(b.version, a.version));
}

/**
 * The live releases for the feeds, cached until a release changes in any process. The result is shared and must not be
 * modified.
 */
export function createReleaseSet({ db, signals }: Pick<Context, 'db' | 'signals'>) {
  const cached = createCache<readonly LiveRelease[]>(signals, 'releases', { max: 1, ttlMs: 60_000 });
  return () => cached('live', () => listLiveReleases(db));
}
export type ReleaseSet = ReturnType<typeof createReleaseSet>;

export function toLiveRelease(row: ReleaseRow): LiveRelease {
  const { downloadCount: _, ...release } = toRelease(row);
  return {
    ...release,
    fileKind: row.file_kind,
    sha1: row.sha1,
    storageKey: row.storage_key,
    storageStamp: row.storage_stamp,
    externalUrl: row.external_url,
    blockmapKey: row.blockmap_key,
    embeddedBlockmapSize: row.embedded_blockmap_size,
    rolloutSalt: row.rollout_salt,
    failuresFrom: row.failures_from.toISOString(),
    deletedAt: row.deleted_at?.toISOString() ?? null,
  };
}
