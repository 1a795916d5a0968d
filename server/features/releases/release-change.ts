import { sql, type Updateable } from 'kysely';
import { architectureNames, platformNames } from '../../../contract/builds.ts';
import type { Release } from '../../../contract/releases.ts';
import { acceptedKindOf } from '../../binaries/file-kind.ts';
import { orTaken } from '../../db/client.ts';
import { latestTime } from '../../checked-time.ts';
import type { Tables } from '../../db/tables.ts';
import type { Editable } from '../../edit-record.ts';
import { fail, isFailure, noSuch, type Failure } from '../../failure.ts';
import { isPlanApproved, refuseAlone } from '../approvals/index.ts';
import { restarted, resumedStep, withoutPause } from './plan.ts';
import { refuseOffer } from './publishing.ts';
import { lockRelease, selectReleases, toRelease, type ReleaseRow } from './release-row.ts';

export const notFound = noSuch('release');
/** Of a release that somebody deleted: whoever has it open looks for it. */
export const inTrash = fail('NOT_FOUND', 'This release is in the recycle bin. Restore it there first.');
export const notInTrash = fail(
  'NOT_FOUND',
  'There is no such release in the recycle bin. It may have been restored, or permanently deleted.',
);

/** The error for a second live build with the same identity. */
export const alreadyExists = (
  build: Pick<ReleaseRow, 'version' | 'channel' | 'platform' | 'architecture' | 'file_kind'>,
  isSameFile = false,
) =>
  fail(
    'ALREADY_EXISTS',
    `There is already ${build.version} for ${platformNames[build.platform]} ${architectureNames[build.architecture]} (${build.channel}) with a file of this kind (.${build.file_kind}).${isSameFile ? ' Its file is the same as this one: an earlier attempt may have succeeded.' : ''}`,
  );

/** A release in the audit log; one in the recycle bin includes its deletion time and reason. */
type ReleaseRecord = Release & { deletedAt?: string; deletionReason?: string | null };

export const toRecord = (row: ReleaseRow): ReleaseRecord =>
  row.deleted_at
    ? { ...toRelease(row), deletedAt: row.deleted_at.toISOString(), deletionReason: row.deletion_reason }
    : toRelease(row);

/**
 * Since when the release is published to all, after the change; deferrals are counted from it. It starts again on another
 * channel, whose machines did not have the release, and once it is back from being withdrawn or deleted; the time of a
 * pause does not count.
 */
function fullAtAfter(
  now: Date,
  before: ReleaseRecord,
  {
    is_draft = before.isDraft,
    rollout_percentage = before.rolloutPercentage,
    channel = before.channel,
    paused_at,
    ...columns
  }: Updateable<Tables['releases']>,
): Date | null {
  if (is_draft || rollout_percentage < 100) return null;
  if (before.fullAt === null || channel !== before.channel || isBack(before, columns)) return now;
  if (paused_at !== null) return new Date(before.fullAt);
  // a recovery of the file adds the time since it is damaged
  const until = Math.min(+now, Date.parse(before.damagedAt ?? now.toISOString()));
  return withoutPause(before.fullAt, before.pausedAt, new Date(until));
}

/** Whether the change ends that it was withdrawn or deleted. */
const isBack = (
  before: ReleaseRecord,
  { is_active, deleted_at }: Pick<Updateable<Tables['releases']>, 'is_active' | 'deleted_at'>,
): boolean =>
  (is_active === true && !before.isActive) || (deleted_at === null && before.deletedAt !== undefined);

/**
 * By a clock that was set back, these would lie in the past: the recycle bin would end at once, and failures of before a
 * resume would count.
 */
const beginnings = ['step_started_at', 'failures_from', 'deleted_at'] as const;

/**
 * From when failures count, later than before: while the clock is behind the newest time, that is the same for each
 * resume, and what failed before it is dated to it. One of a clock that was ahead is set right.
 */
const later = (at: Date | string) => sql<Date>`case
  when failures_from > ${at}::timestamptz + interval '1 day' then ${at}::timestamptz
  else greatest(${at}::timestamptz, failures_from + interval '1 millisecond') end`;

/** The edit helper for releases that are not in the recycle bin. */
export const liveRelease = editableRelease(
  ({ deleted_at }) => (deleted_at === null ? undefined : inTrash),
  notFound,
);
/** The edit helper for releases in the recycle bin. */
export const trashedRelease = editableRelease(
  ({ deleted_at }) => (deleted_at ? undefined : notInTrash),
  notInTrash,
);

/**
 * Writing returns ALREADY_EXISTS when a live release has the same identity as the result, and FORBIDDEN when the change
 * reaches machines and the caller may not roll out, NEEDS_APPROVAL when a second person must approve it.
 */
function editableRelease(
  refuse: (row: ReleaseRow) => Failure | undefined,
  missing: Failure,
): Editable<ReleaseRecord, Updateable<Tables['releases']>> {
  return {
    name: 'release',
    async lock({ tx }, id) {
      const row = await lockRelease(tx, id);
      return row ? (refuse(row) ?? toRecord(row)) : missing;
    },
    async write(change, before, columns) {
      const { tx } = change;
      const latest = await latestTime(tx, change.now);
      const full_at = fullAtAfter(latest, before, columns);
      const set = {
        ...(isBack(before, columns) && restarted(before, latest)),
        ...columns,
        full_at,
        ...(columns.paused_at === null && resumedStep(before, latest)),
      };
      for (const name of beginnings) {
        const at = set[name];
        if (at instanceof Date && +at === +change.now) set[name] = latest;
      }
      const isBehind = latest > change.now;
      const failures_from = isBehind && set.failures_from && later(set.failures_from);
      const { channel = before.channel } = columns;
      const written = await orTaken(
        tx
          .updateTable('releases')
          .set({ ...set, ...(failures_from && { failures_from }) })
          .where('release_id', '=', before.id)
          .execute(),
        'releases_identity',
        () => alreadyExists({ ...before, channel, file_kind: acceptedKindOf(before.fileName) }),
      );
      if (isFailure(written)) return written;
      const row = await selectReleases(tx).where('r.release_id', '=', before.id).executeTakeFirstOrThrow();
      const after = toRecord(row);
      const plan_approved = isPlanApproved(change.by, before, after);
      if (plan_approved !== undefined)
        await tx.updateTable('releases').set({ plan_approved }).where('release_id', '=', before.id).execute();
      await change.announce('releases');
      return refuseOffer(change.by, before, after) ?? (await refuseAlone(change, before, after)) ?? after;
    },
  };
}
