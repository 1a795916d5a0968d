import { sql, type Selectable } from 'kysely';
import type { Release } from '../../../contract/releases.ts';
import type { Db, Tx } from '../../db/client.ts';
import type { Tables } from '../../db/tables.ts';

/** Releases with their download count, the source of every response about a release. */
export function selectReleases(db: Db) {
  return db
    .selectFrom('releases as r')
    .leftJoin('release_totals as t', 't.release_id', 'r.release_id')
    .selectAll('r')
    .select(sql<number>`coalesce(t.downloads, 0)`.as('download_count'));
}

export type ReleaseRow = Selectable<Tables['releases']> & { download_count: number };

/** What a release in a feed has, paused or not: `.where((eb) => eb.and(inFeed))`. */
export const inFeed = { deleted_at: null, is_draft: false, is_active: true } as const;

/** A row in the format of the contract; the URL of a stored file is a path. */
export function toRelease(row: ReleaseRow): Release {
  const file = { id: row.release_id, version: row.version, fileName: row.file_name };
  return {
    ...file,
    channel: row.channel,
    platform: row.platform,
    architecture: row.architecture,
    isActive: row.is_active,
    isDraft: row.is_draft,
    isMandatory: row.is_mandatory,
    rolloutPercentage: row.rollout_percentage,
    minimumAppVersion: row.minimum_app_version,
    security: row.is_security,
    minimumSupportedVersion: row.minimum_supported_version,
    fullAt: fullAtOf(row)?.toISOString() ?? null,
    releaseNotes: row.release_notes,
    releaseDate: row.release_date.toISOString(),
    fileSize: row.file_size,
    fileUrl: row.external_url ?? filePathOf(file),
    sha512: row.sha512,
    downloadCount: row.download_count,
    acceptableFailures: row.acceptable_failures,
    pausedAt: row.paused_at?.toISOString() ?? null,
    pauseReason: row.pause_reason,
    damagedAt: row.damaged_at?.toISOString() ?? null,
    failuresClaimedAt: row.failures_claimed_at?.toISOString() ?? null,
    pausedBy: row.paused_by,
    rolloutPlan: row.rollout_plan,
    startsAt: row.plan_starts_at?.toISOString() ?? null,
    stepTaken: row.plan_step,
    stepStartedAt: row.step_started_at?.toISOString() ?? null,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}

/** A release that a process of the previous version published to all has no moment of its own. */
const fullAtOf = (row: ReleaseRow): Date | null =>
  row.is_draft || row.rollout_percentage < 100 ? null : (row.full_at ?? row.release_date);

/**
 * The path of a release's file. It contains the id, so that a URL never changes its content, and the unescaped version
 * (a `+` is legal there): electron-updater finds the block map of its current version by replacing one version with the
 * other.
 */
export function filePathOf({ id, version, fileName }: Pick<Release, 'id' | 'version' | 'fileName'>): string {
  const parts = [id, version, fileName].map((part) => encodeURIComponent(part).replaceAll('%2B', '+'));
  return `/api/v1/updates/files/${parts.join('/')}`;
}

/** The release, in the recycle bin or not, locked against every other change until the transaction ends. */
export function lockRelease(tx: Tx, releaseId: string): Promise<ReleaseRow | undefined> {
  return selectReleases(tx).where('r.release_id', '=', releaseId).forUpdate('r').executeTakeFirst();
}

/** Columns of a release whose failures are counted from `now` on. */
export const countedAnew = (now: Date) => ({ failures_from: now, failures_claimed_at: null });
