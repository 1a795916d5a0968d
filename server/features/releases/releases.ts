import { randomBytes } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import type { BuildInput } from '../../../contract/builds.ts';
import { releaseRefusal } from '../../../contract/release-state.ts';
import type { Release, ReleasePatch } from '../../../contract/releases.ts';
import { offerText } from '../../../contract/next-step.ts';
import { startNeedsPlan } from '../../../contract/rollout-plan.ts';
import { changedFields, type Change } from '../../change.ts';
import { latestTime } from '../../checked-time.ts';
import type { Db } from '../../db/client.ts';
import { editRecord } from '../../edit-record.ts';
import { wrongState, type Failure } from '../../failure.ts';
import { changesPlan, planColumns, sentPlan, unpublished } from './plan.ts';
import { alreadyExists, liveRelease } from './release-change.ts';
import { refuseNew } from './publishing.ts';
import { countedAnew, toRelease } from './release-row.ts';

/** A build with known and checked bytes, ready to become a release. */
export type NewRelease = BuildInput & {
  /** Set by callers that may repeat the creation; otherwise generated. */
  releaseId?: string;
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
} & (
    | { storageKey: string; storageStamp: string | null; externalUrl?: never }
    | { externalUrl: string; storageKey?: never; storageStamp?: never }
  );

/**
 * Creates a release. ALREADY_EXISTS when a live one has the same version, channel, platform, architecture and kind of
 * file, FORBIDDEN when it is published by a caller who may not roll out, NEEDS_APPROVAL when nobody may publish alone.
 */
export async function createRelease(change: Change, build: NewRelease): Promise<Release | Failure> {
  const { tx, by, now } = change;
  const denied = await refuseNew(tx, by, build);
  if (denied) return denied;
  const columns = toColumns(build, await latestTime(tx, now));
  const made = await tx
    .insertInto('releases')
    .values(columns)
    .onConflict((on) =>
      on
        .columns(['version', 'channel', 'platform', 'architecture', 'file_kind'])
        .where('deleted_at', 'is', null)
        .doNothing(),
    )
    .returningAll()
    .executeTakeFirst();
  if (!made) return (await checkIdentity(tx, build)) ?? alreadyExists(columns);
  const release = toRelease({ ...made, download_count: 0 });
  await change.announce('releases');
  await change.audit('release.created', release, {
    what: release.isDraft ? 'created as a draft' : `created ${offerText(release)}`,
    after: release,
  });
  return release;
}

/**
 * Checks before an upload whether createRelease would return ALREADY_EXISTS. Where the file is known to be that of the
 * release, it says so: the answer to an earlier attempt may have been lost.
 */
export async function checkIdentity(
  db: Db,
  build: Pick<NewRelease, 'version' | 'channel' | 'platform' | 'architecture' | 'fileKind'> & {
    sha512?: string;
  },
): Promise<Failure | undefined> {
  const { version, channel, platform, architecture, fileKind: file_kind } = build;
  const identity = { version, channel, platform, architecture, file_kind };
  const found = await db
    .selectFrom('releases')
    .select('sha512')
    .where((eb) => eb.and(identity))
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  return found && alreadyExists(identity, found.sha512 === build.sha512);
}

/**
 * Changes a release. A draft cannot be mandatory; publishing sets its date to now. `seen` is the version that the edit
 * started from; a newer stored one is an EDIT_CONFLICT with the differences.
 */
export const updateRelease = (
  change: Change,
  releaseId: string,
  patch: Omit<ReleasePatch, 'updatedAt'>,
  seen: string | undefined,
): Promise<Release | Failure> => {
  const isDraftAfter = (before: Release) => patch.isDraft ?? before.isDraft;
  const isPublished = (before: Release) => before.isDraft && !isDraftAfter(before);
  const event = (before: Release) => (isPublished(before) ? 'release.published' : 'release.updated');
  const sent = (before: Release) => ({
    ...patch,
    ...(isDraftAfter(before) && { isMandatory: false }),
    ...sentPlan(before, patch),
  });
  return editRecord(change, liveRelease, releaseId, {
    event,
    // publishing may set the percentage in the same call, so that no machine sees the release at 100 % in between
    check: (before) => {
      if (patch.startsAt && sentPlan(before, patch).rolloutPlan === null) return wrongState(startNeedsPlan);
      const { rolloutPercentage = before.rolloutPercentage } = patch;
      if (rolloutPercentage === before.rolloutPercentage && !changesPlan(before, patch)) return undefined;
      return wrongState(releaseRefusal.rollOut({ ...before, isDraft: isDraftAfter(before) }));
    },
    sent,
    seen,
    columns: (before) => ({
      ...patchColumns(sent(before)),
      ...planColumns(before, patch, change.now),
      ...(isPublished(before) ? { release_date: change.now } : {}),
      ...(before.isDraft === isDraftAfter(before) ? {} : countedAnew(change.now)),
    }),
    what: (before, after) =>
      isPublished(before) ? `published ${offerText(after)}` : whatChanged(before, after),
  });
};

/** With the rollout in words, as where it changes alone; undefined where it stays. */
function whatChanged(before: Release, after: Release): string | undefined {
  const [was, is] = [offerText(before), offerText(after)];
  if (after.isDraft || was === is) return undefined;
  const others = changedFields({ ...before, ...rolloutOf(after) }, after);
  return [others, `rollout ${was} → ${is}`].filter(Boolean).join('; ');
}

const rolloutOf = (r: Release): Partial<Release> => ({
  rolloutPercentage: r.rolloutPercentage,
  rolloutPlan: r.rolloutPlan,
  startsAt: r.startsAt,
  stepTaken: r.stepTaken,
  stepStartedAt: r.stepStartedAt,
  fullAt: r.fullAt,
});

function patchColumns(patch: Omit<ReleasePatch, 'updatedAt'>) {
  return {
    channel: patch.channel,
    is_active: patch.isActive,
    is_draft: patch.isDraft,
    is_mandatory: patch.isMandatory,
    minimum_app_version: patch.minimumAppVersion,
    is_security: patch.security,
    minimum_supported_version: patch.minimumSupportedVersion,
    release_notes: patch.releaseNotes,
    rollout_percentage: patch.rolloutPercentage,
    acceptable_failures: patch.acceptableFailures,
  };
}

function toColumns(build: NewRelease, now: Date) {
  const { rollout_percentage = build.rolloutPercentage, ...plan } = planColumns(unpublished, build, now);
  return {
    ...plan,
    release_id: build.releaseId ?? uuidv7(),
    version: build.version,
    channel: build.channel,
    platform: build.platform,
    architecture: build.architecture,
    is_draft: build.isDraft,
    is_mandatory: build.isMandatory && !build.isDraft,
    rollout_percentage,
    rollout_salt: randomBytes(16).toString('hex'),
    minimum_app_version: build.minimumAppVersion,
    is_security: build.security,
    minimum_supported_version: build.minimumSupportedVersion,
    full_at: !build.isDraft && rollout_percentage === 100 ? now : null,
    release_notes: build.releaseNotes,
    release_date: now,
    file_name: build.fileName,
    file_kind: build.fileKind,
    file_size: build.fileSize,
    external_url: build.externalUrl ?? null,
    storage_key: build.storageKey ?? null,
    storage_stamp: build.storageStamp ?? null,
    verified_at: build.storageStamp ? now : null,
    sha512: build.sha512,
    sha1: build.sha1,
    blockmap_key: build.blockmapKey,
    embedded_blockmap_size: build.embeddedBlockmapSize ?? null,
    acceptable_failures: build.acceptableFailures,
    failures_from: now,
    created_at: now,
    updated_at: now,
  };
}
