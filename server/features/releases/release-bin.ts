import { sql } from 'kysely';
import {
  binDays,
  permanentConfirmation,
  type DeletedRelease,
  type Release,
  type releases as calls,
} from '../../../contract/releases.ts';
import type { RouteAnswer, RouteInput } from '../../../contract/route.ts';
import { systemCaller, type Caller } from '../../caller.ts';
import type { Context } from '../../context.ts';
import type { Db, Tx } from '../../db/client.ts';
import { afterCommit } from '../../db/signals.ts';
import { contains } from '../../db/sql.ts';
import { breaksRule, fail, isFailure, type Failure } from '../../failure.ts';
import type { CheckedTime } from '../../checked-time.ts';
import { auditRelease, changeRelease, lockLive, titleOf } from './release-change.ts';
import { lockRelease, selectReleases, toRelease, type ReleaseRow } from './release-row.ts';

const dayMs = 86_400_000;
const notInBin = fail('NOT_FOUND', 'There is no such release in the recycle bin.');

/** Moves a release to the recycle bin: no feed offers it from now on. */
export async function softDeleteRelease(
  tx: Tx,
  by: Caller,
  releaseId: string,
  reason: string,
): Promise<{ id: string } | Failure> {
  const before = await lockLive(tx, releaseId);
  if (isFailure(before)) return before;
  const staff = by.actor.kind === 'staff' ? by.actor : undefined;
  const after = await changeRelease(tx, by, before, {
    event: 'release.soft_deleted',
    set: {
      deleted_at: by.now,
      deleted_by: staff?.userId ?? null,
      deleted_by_email: staff?.email ?? null,
      deletion_reason: reason,
    },
    summary: `Moved ${titleOf(before)} to the recycle bin: ${reason}`,
  });
  return isFailure(after) ? after : { id: releaseId };
}

/** Takes a release out of the bin, as it was. ALREADY_EXISTS when an equal one was made in the meantime. */
export async function restoreRelease(
  tx: Tx,
  by: Caller,
  releaseId: string,
  reason: string,
  publicUrl: string,
): Promise<Release | Failure> {
  const before = await lockBinned(tx, releaseId);
  if (isFailure(before)) return before;
  const after = await changeRelease(tx, by, before, {
    event: 'release.restored',
    set: { deleted_at: null, deleted_by: null, deleted_by_email: null, deletion_reason: null },
    summary: `Restored ${titleOf(before)}: ${reason}`,
  });
  return isFailure(after) ? after : toRelease(after, publicUrl);
}

/** What removes the files of a release once it is gone. */
export type Files = Pick<Context, 'storage' | 'log'>;

/** Removes a release in the bin for good, and its files from storage once that is certain. */
export async function deletePermanently(
  tx: Tx,
  by: Caller,
  files: Files,
  releaseId: string,
  { confirmation, reason }: { confirmation: string; reason: string },
): Promise<{ id: string } | Failure> {
  if (confirmation !== permanentConfirmation) {
    return breaksRule('confirmation', `Must be exactly "${permanentConfirmation}"`);
  }
  const row = await lockBinned(tx, releaseId);
  if (isFailure(row)) return row;
  await remove(tx, by, files, row, {
    event: 'release.deleted',
    summary: `Permanently deleted ${titleOf(row)}: ${reason}`,
  });
  return { id: releaseId };
}

/**
 * Removes for good what has lain in the bin for 30 days, at most `limit` releases. Answers how many; one that
 * somebody is restoring at this moment is left alone.
 */
export async function purgeBin(tx: Tx, time: CheckedTime, files: Files, limit: number): Promise<number> {
  const by = systemCaller(time.now);
  const rows = await selectReleases(tx)
    .where('r.deleted_at', '<=', purgedUntil(by.now))
    .orderBy('r.deleted_at')
    .limit(limit)
    .forUpdate('r')
    .skipLocked()
    .execute();
  for (const row of rows) {
    await remove(tx, by, files, row, {
      event: 'release.purged',
      summary: `Permanently deleted ${titleOf(row)} after ${binDays} days in the recycle bin`,
    });
  }
  return rows.length;
}

/** What was deleted until then has lain in the bin for 30 days. */
const purgedUntil = (now: Date) => new Date(now.getTime() - binDays * dayMs);

/** How many releases `purgeBin` would remove now. */
export async function countPurgeable(db: Db | Tx, now: Date): Promise<number> {
  const { due } = await db
    .selectFrom('releases')
    .where('deleted_at', '<=', purgedUntil(now))
    .select((eb) => eb.fn.countAll<number>().as('due'))
    .executeTakeFirstOrThrow();
  return due;
}

/** A page of the recycle bin, the latest deleted first. */
export async function listBin(
  db: Db,
  now: Date,
  { page, pageSize, search }: RouteInput<typeof calls.trash>['query'],
  publicUrl: string,
): Promise<RouteAnswer<typeof calls.trash>> {
  const matching = search ? contains(sql`r.version`, search) : sql<boolean>`true`;
  const rows = await selectReleases(db)
    .where('r.deleted_at', 'is not', null)
    .where(matching)
    .orderBy('r.deleted_at', 'desc')
    .orderBy('r.release_id')
    .limit(pageSize)
    .offset((page - 1) * pageSize)
    .execute();
  const { totalCount } = await db
    .selectFrom('releases as r')
    .where('r.deleted_at', 'is not', null)
    .where(matching)
    .select((eb) => eb.fn.countAll<number>().as('totalCount'))
    .executeTakeFirstOrThrow();
  return {
    releases: rows.map((row) => toDeletedRelease(row, now, publicUrl)),
    page,
    pageSize,
    totalCount,
    totalPages: Math.ceil(totalCount / pageSize),
  };
}

async function lockBinned(tx: Tx, releaseId: string): Promise<ReleaseRow | Failure> {
  const row = await lockRelease(tx, releaseId);
  return row?.deleted_at ? row : notInBin;
}

async function remove(
  tx: Tx,
  by: Caller,
  files: Files,
  row: ReleaseRow,
  { event, summary }: { event: string; summary: string },
): Promise<void> {
  await tx.deleteFrom('releases').where('release_id', '=', row.release_id).execute();
  await auditRelease(tx, by, event, { summary, before: row });
  afterCommit(tx, () => removeFiles(files, row));
}

/** Only after the commit: a release without its file would be worse than a file without its release, which is swept. */
async function removeFiles({ storage, log }: Files, row: ReleaseRow): Promise<void> {
  const keys = [row.storage_key, row.blockmap_key].filter((key) => key !== null);
  const removals = await Promise.allSettled(keys.map((key) => storage.remove(key)));
  for (const { reason } of removals.filter((one) => one.status === 'rejected'))
    log.error(
      { err: reason as Error, releaseId: row.release_id },
      'The file of a deleted release is left to the sweep',
    );
}

function toDeletedRelease(row: ReleaseRow, now: Date, publicUrl: string): DeletedRelease {
  const deletedAt = row.deleted_at!;
  return {
    ...toRelease(row, publicUrl),
    deletedAt: deletedAt.toISOString(),
    deletedBy: row.deleted_by,
    deleteUserEmail: row.deleted_by_email,
    deletionReason: row.deletion_reason,
    daysUntilPermanentDeletion: daysLeft(deletedAt, now),
  };
}

/** Days that have begun count whole: 30 right after deletion, 0 once the purge may come. */
function daysLeft(deletedAt: Date, now: Date): number {
  const left = Math.ceil((deletedAt.getTime() - now.getTime()) / dayMs + binDays);
  return Math.min(binDays, Math.max(0, left));
}
