import { randomBytes } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import type { Architecture, FailureThreshold, Platform } from '../../../contract/builds.ts';
import { releaseRefusal, type Release, type ReleasePatch } from '../../../contract/releases.ts';
import type { Channel } from '../../../contract/versions.ts';
import type { Caller } from '../../caller.ts';
import type { Db, Tx } from '../../db/client.ts';
import { editConflict } from '../../edit-conflict.ts';
import { fail, isFailure, type Failure } from '../../failure.ts';
import { changeSummary } from '../audit/audit.ts';
import { alreadyExists, audited, auditRelease, changeRelease, lockLive, titleOf } from './release-change.ts';
import { refuseNew } from './publishing.ts';
import { selectReleases, toRelease, type ReleaseRow } from './release-row.ts';

export { getRelease } from './release-list.ts';
export { countPurgeable, purgeBin } from './release-bin.ts';
export { refuseNew } from './publishing.ts';
export { pauseRollout } from './rollout.ts';
export { filePathOf, selectReleases } from './release-row.ts';
export { createReleaseSet, toLiveRelease, type LiveRelease, type ReleaseSet } from './live-releases.ts';

/** A build whose bytes are known and checked, ready to become a release. */
export type NewRelease = {
  /** Chosen beforehand where creating may be repeated; otherwise made here. */
  releaseId?: string;
  version: string;
  channel: Channel;
  platform: Platform;
  architecture: Architecture;
  fileName: string;
  /** The extension of the file in lower case, without the dot: `exe`, `appimage`. */
  fileKind: string;
  /** Bytes. */
  fileSize: number;
  /** base64 */
  sha512: string;
  /** hex */
  sha1: string | null;
  blockmapKey: string | null;
  /** Bytes of the block map at the end of an AppImage. */
  embeddedBlockmapSize?: number | null;
  releaseNotes: string | null;
  minimumAppVersion: string | null;
  isMandatory: boolean;
  isDraft: boolean;
  rolloutPercentage: number;
  failureThreshold: FailureThreshold | null;
} & (
  | { storageKey: string; storageStamp: string | null; externalUrl?: never }
  | { externalUrl: string; storageKey?: never; storageStamp?: never }
);

/**
 * Makes a release. ALREADY_EXISTS when a live one has the same version, channel, platform, architecture and kind
 * of file, FORBIDDEN when it is published by somebody who may not roll out. `publicUrl` is that of the settings, for the address in the answer.
 */
export async function createRelease(
  tx: Tx,
  by: Caller,
  build: NewRelease,
  publicUrl: string,
): Promise<Release | Failure> {
  const denied = refuseNew(by, build);
  if (denied) return denied;
  const columns = toColumns(build, by.now);
  const made = await tx
    .insertInto('releases')
    .values(columns)
    .onConflict((on) =>
      on
        .columns(['version', 'channel', 'platform', 'architecture', 'file_kind'])
        .where('deleted_at', 'is', null)
        .doNothing(),
    )
    .returning('release_id')
    .executeTakeFirst();
  if (!made) return alreadyExists(columns);
  const row = await selectReleases(tx).where('r.release_id', '=', made.release_id).executeTakeFirstOrThrow();
  await auditRelease(tx, by, 'release.created', {
    summary: `Created ${titleOf(row)}${row.is_draft ? ' as a draft' : ` at ${row.rollout_percentage} %`}`,
    after: row,
  });
  return toRelease(row, publicUrl);
}

/** Asks ahead, before many bytes are sent, whether createRelease would answer ALREADY_EXISTS. */
export async function checkIdentity(
  db: Db | Tx,
  build: Pick<NewRelease, 'version' | 'channel' | 'platform' | 'architecture' | 'fileKind'>,
): Promise<Failure | undefined> {
  const identity = { ...identityColumns(build), file_kind: build.fileKind };
  const found = await db
    .selectFrom('releases')
    .select('release_id')
    .where((eb) => eb.and(identity))
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  return found && alreadyExists(identity);
}

/**
 * Changes a release. A draft cannot be mandatory; publishing one dates it now. `seen` is the version that the
 * person began from; a newer stored one is an EDIT_CONFLICT that says what differs.
 */
export async function updateRelease(
  tx: Tx,
  by: Caller,
  releaseId: string,
  patch: Omit<ReleasePatch, 'updatedAt'>,
  { seen, publicUrl }: { seen: string | undefined; publicUrl: string },
): Promise<Release | Failure> {
  const before = await lockLive(tx, releaseId);
  if (isFailure(before)) return before;
  const conflict = editConflict('release', toRelease(before, publicUrl), patch, seen);
  if (conflict) return conflict;
  const isDraft = patch.isDraft ?? before.is_draft;
  const refused = refuseRollout({ ...before, is_draft: isDraft }, patch.rolloutPercentage);
  if (refused) return refused;
  const publishing = before.is_draft && !isDraft;
  const after = await changeRelease(tx, by, before, {
    event: publishing ? 'release.published' : 'release.updated',
    set: {
      ...patchColumns(patch),
      ...(isDraft ? { is_mandatory: false } : {}),
      ...(publishing ? { release_date: by.now, failures_from: by.now } : {}),
    },
    summary: (was, is) => changeSummary(audited(was), audited(is)),
  });
  return isFailure(after) ? after : toRelease(after, publicUrl);
}

/** A patch may set the percentage, so that no machine sees a release at 100 % between publishing and rolling out. */
function refuseRollout(row: ReleaseRow, percentage: number | undefined): Failure | undefined {
  if (percentage === undefined || percentage === row.rollout_percentage) return undefined;
  const reason = releaseRefusal.rollOut(toRelease(row, ''));
  return reason ? fail('WRONG_STATE', reason) : undefined;
}

function patchColumns({ failureThreshold, ...patch }: Omit<ReleasePatch, 'updatedAt'>) {
  const columns = {
    channel: patch.channel,
    is_active: patch.isActive,
    is_draft: patch.isDraft,
    is_mandatory: patch.isMandatory,
    minimum_app_version: patch.minimumAppVersion,
    release_notes: patch.releaseNotes,
    rollout_percentage: patch.rolloutPercentage,
  };
  return failureThreshold === undefined ? columns : { ...columns, ...thresholdColumns(failureThreshold) };
}

const thresholdColumns = (threshold: FailureThreshold | null) => ({
  failure_percent: threshold?.percent ?? null,
  failure_min_installs: threshold?.minimumInstalls ?? null,
});

const identityColumns = ({
  version,
  channel,
  platform,
  architecture,
}: Pick<NewRelease, 'version' | 'channel' | 'platform' | 'architecture'>) => ({
  version,
  channel,
  platform,
  architecture,
});

function toColumns(build: NewRelease, now: Date) {
  return {
    release_id: build.releaseId ?? uuidv7(),
    ...identityColumns(build),
    is_draft: build.isDraft,
    is_mandatory: build.isMandatory && !build.isDraft,
    rollout_percentage: build.rolloutPercentage,
    rollout_salt: randomBytes(16).toString('hex'),
    minimum_app_version: build.minimumAppVersion,
    release_notes: build.releaseNotes,
    release_date: now,
    file_name: build.fileName,
    file_kind: build.fileKind,
    file_size: build.fileSize,
    external_url: build.externalUrl ?? null,
    storage_key: build.storageKey ?? null,
    storage_stamp: build.storageStamp ?? null,
    verified_at: build.storageStamp ? now : null,
    damaged_at: null,
    sha512: build.sha512,
    sha1: build.sha1,
    blockmap_key: build.blockmapKey,
    embedded_blockmap_size: build.embeddedBlockmapSize ?? null,
    ...thresholdColumns(build.failureThreshold),
    failures_from: now,
    paused_at: null,
    pause_reason: null,
    paused_by: null,
    deleted_at: null,
    deleted_by: null,
    deleted_by_email: null,
    deletion_reason: null,
    created_at: now,
    updated_at: now,
  };
}
