import { sql } from 'kysely';
import { dayMs, daysFrom } from '../../../contract/durations.ts';
import {
  trashDays,
  permanentConfirmation,
  type DeletedRelease,
  type Release,
  type releases as calls,
} from '../../../contract/releases.ts';
import type { RouteAnswer, RouteInput } from '../../../contract/route.ts';
import { staffOf } from '../../caller.ts';
import { systemChange, type Change, type ChangeParts } from '../../change.ts';
import type { Context } from '../../context.ts';
import type { Db } from '../../db/client.ts';
import { locks, tryLock } from '../../db/locks.ts';
import { countOf, contains } from '../../db/sql.ts';
import { editRecord, unseenRefusal } from '../../edit-record.ts';
import { breaksRule, isFailure, type Failure } from '../../failure.ts';
import type { CheckedTime } from '../../checked-time.ts';
import { trashedRelease, liveRelease, notInTrash, toRecord } from './release-change.ts';
import { lockRelease, selectReleases, toRelease, type ReleaseRow } from './release-row.ts';
import { present } from '../../invariants.ts';
import { tryEach } from '../../try-each.ts';

/** Moves a release to the recycle bin, which removes it from all feeds. `seen`: the version that the caller was shown. */
export async function softDeleteRelease(
  change: Change,
  releaseId: string,
  reason: string,
  seen?: string,
): Promise<{ id: string; updatedAt: string } | Failure> {
  const staff = staffOf(change.by);
  const deleted = await editRecord(change, liveRelease, releaseId, {
    event: 'release.soft_deleted',
    refuse: (before) => unseenRefusal('release', before, seen),
    columns: {
      deleted_at: change.now,
      deleted_by: staff?.userId ?? null,
      deleted_by_email: staff?.email ?? null,
      deletion_reason: reason,
    },
    what: () => `moved to the recycle bin: ${reason}`,
  });
  return isFailure(deleted) ? deleted : { id: releaseId, updatedAt: deleted.updatedAt };
}

/**
 * Restores a release from the recycle bin unchanged; the present step of its plan starts again. ALREADY_EXISTS when an
 * equal one was created in the meantime. `seen`: the version that the caller was shown.
 */
export const restoreRelease = (
  change: Change,
  releaseId: string,
  reason: string,
  seen: string | undefined,
): Promise<Release | Failure> =>
  editRecord(change, trashedRelease, releaseId, {
    event: 'release.restored',
    refuse: (before) => unseenRefusal('release', before, seen),
    columns: { deleted_at: null, deleted_by: null, deleted_by_email: null, deletion_reason: null },
    what: () => `restored: ${reason}`,
  });

type Files = Pick<Context, 'storage' | 'log'>;

/** Permanently removes a release in the recycle bin, and after the commit its files from storage. */
export async function deletePermanently(
  change: Change,
  files: Files,
  releaseId: string,
  { confirmation, reason }: { confirmation: string; reason: string },
): Promise<{ id: string } | Failure> {
  if (confirmation !== permanentConfirmation) {
    return breaksRule('confirmation', `Must be exactly "${permanentConfirmation}"`);
  }
  const row = await lockRelease(change.tx, releaseId);
  if (!row?.deleted_at) return notInTrash;
  await remove(change, files, row, 'release.deleted', `permanently deleted: ${reason}`);
  return { id: releaseId };
}

/**
 * Permanently removes releases that were in the recycle bin for 30 days, each in its own transaction, since the download
 * records removed with it may be many. Returns the number removed by this process; undefined while another process purges.
 * Skips a release that is being restored.
 */
export async function purgeTrash(
  context: ChangeParts & Files,
  { now }: CheckedTime,
): Promise<number | undefined> {
  let isAllDone = true;
  let removed = 0;
  const alone = <T>(work: (change: Change) => Promise<T>): Promise<T | undefined> =>
    systemChange(context, now, async (change) => {
      if (await tryLock(change.tx, locks.trashPurge)) return work(change);
      isAllDone = false;
      return undefined;
    });
  const isDue = sql<boolean>`r.deleted_at <= ${dueIfDeletedBy(now)}`;
  const due = await alone(({ tx }) =>
    tx.selectFrom('releases as r').select('release_id').where(isDue).orderBy('deleted_at').execute(),
  );
  await tryEach(
    due ?? [],
    async ({ release_id }) => {
      const isRemoved = await alone(async (change) => {
        const row = await selectReleases(change.tx)
          .where('r.release_id', '=', release_id)
          .where(isDue)
          .forUpdate('r')
          .skipLocked()
          .executeTakeFirst();
        if (!row) return false;
        const what = `permanently deleted after ${trashDays} days in the recycle bin`;
        await remove(change, context, row, 'release.purged', what);
        return true;
      });
      if (isRemoved) removed++;
    },
    (error, { release_id: releaseId }) =>
      context.log.error({ err: error, releaseId }, 'A release in the recycle bin was not purged'),
  );
  return isAllDone ? removed : undefined;
}

/** Releases deleted by this time are permanently deleted within `days`; by default, those that may be now. */
const dueIfDeletedBy = (now: Date, days = 0) => daysFrom(now, days - trashDays);

/** The releases in the recycle bin that are permanently deleted within `days`, and the next of them. */
export async function trashForToday(db: Db, now: Date, days: number) {
  const rows = await db
    .selectFrom('releases')
    .select(['release_id', 'version', 'deleted_at'])
    .select((eb) => eb.fn.countAll<number>().over().as('count'))
    .where('deleted_at', '<=', dueIfDeletedBy(now, days))
    .orderBy('deleted_at')
    .orderBy('release_id')
    .limit(1)
    .execute();
  const [first] = rows;
  if (!first?.deleted_at) return { count: 0, next: null };
  const at = daysFrom(first.deleted_at, trashDays).toISOString();
  return { count: first.count, next: { id: first.release_id, name: first.version, at } };
}

/** The number of releases that `purgeTrash` would remove now. */
export const countPurgeable = (db: Db, now: Date) =>
  countOf(db.selectFrom('releases').where('deleted_at', '<=', dueIfDeletedBy(now)));

/** A page of the recycle bin, the last deleted first. */
export async function listTrash(
  db: Db,
  now: Date,
  { page, pageSize, search, dueWithinDays }: RouteInput<typeof calls.trash>['query'],
): Promise<RouteAnswer<typeof calls.trash>> {
  const found = search ? contains(sql`r.version`, search) : sql<boolean>`true`;
  const matching =
    dueWithinDays === undefined
      ? found
      : sql<boolean>`(${found} and r.deleted_at <= ${dueIfDeletedBy(now, dueWithinDays)})`;
  const rows = await selectReleases(db)
    .where('r.deleted_at', 'is not', null)
    .where(matching)
    .orderBy('r.deleted_at', 'desc')
    .orderBy('r.release_id')
    .limit(pageSize)
    .offset((page - 1) * pageSize)
    .execute();
  const totalCount = await countOf(
    db.selectFrom('releases as r').where('r.deleted_at', 'is not', null).where(matching),
  );
  return {
    releases: rows.map((row) => toDeletedRelease(row, now)),
    page,
    pageSize,
    totalCount,
    totalPages: Math.ceil(totalCount / pageSize),
  };
}

async function remove(
  change: Change,
  files: Files,
  row: ReleaseRow,
  event: 'release.deleted' | 'release.purged',
  what: string,
): Promise<void> {
  await change.tx.deleteFrom('releases').where('release_id', '=', row.release_id).execute();
  await change.announce('releases');
  const before = toRecord(row);
  await change.audit(event, before, { what, before });
  change.afterCommit(() => removeFiles(files, row));
}

/** Only after the commit: the sweep removes a file without a release, but a release without its file is broken. */
async function removeFiles({ storage, log }: Files, row: ReleaseRow): Promise<void> {
  const keys = [row.storage_key, row.blockmap_key].filter((key) => key !== null);
  const removals = await Promise.allSettled(keys.map((key) => storage.remove(key)));
  for (const { reason } of removals.filter((one) => one.status === 'rejected'))
    log.error(
      { err: reason as Error, releaseId: row.release_id },
      'The file of a deleted release is left to the sweep',
    );
}

function toDeletedRelease(row: ReleaseRow, now: Date): DeletedRelease {
  const deletedAt = present(row.deleted_at, 'the release is in the recycle bin');
  return {
    ...toRelease(row),
    deletedAt: deletedAt.toISOString(),
    deletedBy: row.deleted_by,
    deleteUserEmail: row.deleted_by_email,
    deletionReason: row.deletion_reason,
    daysUntilPermanentDeletion: daysLeft(deletedAt, now),
  };
}

/** Rounds up to whole days: 30 right after deletion, 0 once the purge may run. */
function daysLeft(deletedAt: Date, now: Date): number {
  const left = Math.ceil((deletedAt.getTime() - now.getTime()) / dayMs + trashDays);
  return Math.min(trashDays, Math.max(0, left));
}
