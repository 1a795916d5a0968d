import type { GuardState } from '../../../contract/guard.ts';
import { isOffered } from '../../../contract/release-state.ts';
import { systemChange, type Change, type ChangeParts } from '../../change.ts';
import type { Context } from '../../context.ts';
import type { Db } from '../../db/client.ts';
import { locks, withSessionLock } from '../../db/locks.ts';
import {
  lockRelease,
  pauseRollout,
  replacedBy,
  selectReleases,
  toLiveRelease,
  toRelease,
  type LiveRelease,
  type ReleaseRow,
} from '../releases/index.ts';
import { countInstalls, previousRelease } from './guard-counts.ts';
import { evaluateGuard } from './guard.ts';
import { tryEach } from '../../try-each.ts';
import { countSilent } from './silence-counts.ts';

/** What the guard sees of a release now. Counts, so it is not called under the lock of the release. */
export async function guardState(db: Db, releaseId: string, now: Date): Promise<GuardState> {
  const row = await selectReleases(db).where('r.release_id', '=', releaseId).executeTakeFirstOrThrow();
  return stateOf(db, row, now, true);
}

async function stateOf(db: Db, row: ReleaseRow, at: Date, withSilence: boolean): Promise<GuardState> {
  const { installs, failed, provenOnly, claimed } = await countInstalls(
    db,
    row.release_id,
    row.failures_from,
  );
  return evaluateGuard({
    at,
    release: { ...row, acceptableFailures: row.acceptable_failures },
    installs: { installs, failed, provenOnly, claimed },
    previous: await previousRelease(db, row),
    silence: withSilence ? await countSilent(db, row, at) : null,
  });
}

type Parts = ChangeParts & Pick<Context, 'clock' | 'log'>;

const onError =
  ({ log }: Parts) =>
  (error: unknown, releaseId: string) =>
    log.error({ err: error, releaseId }, 'A rollout was not watched');

/**
 * Pauses the rollout of each of these releases whose installs fail too often, counted since the last resume. Failures
 * that are only claimed are left to `watchRollouts`: anybody who has the API key could write audit entries in a loop.
 */
export async function pauseFailing(context: Parts, releaseIds: readonly string[]): Promise<void> {
  await tryEach(
    releaseIds.toSorted(),
    (releaseId) => pauseIfHarmful(context, releaseId, false),
    onError(context),
  );
}

/**
 * Pauses the rollouts of releases that machines take now, if installs fail or machines fall silent, and marks those
 * whose failures are only claimed. Runs in one process at a time; undefined if it runs in another.
 */
export const watchRollouts = (context: Context): Promise<boolean | undefined> =>
  withSessionLock<boolean>(context.directUrl, locks.rolloutWatch, async () => {
    const rows = await selectReleases(context.db).where('r.deleted_at', 'is', null).execute();
    const all = rows.map(toLiveRelease);
    const guarded = all.filter(isGuarded);
    // below 100 %, machines that are pinned to an older line may still take a release that others no longer do
    const isOver = (one: LiveRelease) =>
      one.rolloutPercentage === 100 && replacedBy(guarded, one) !== undefined;
    const isWatched = (one: LiveRelease) => isGuarded(one) && !isOver(one);
    const forgotten = all.filter((one) => one.failuresClaimedAt !== null && !isWatched(one));
    const idsOf = (some: LiveRelease[]) => some.map(({ id }) => id);
    const watched = idsOf(all.filter(isWatched));
    await tryEach(
      [...watched, ...idsOf(forgotten)],
      (id) => (watched.includes(id) ? pauseIfHarmful(context, id, true) : forgetClaimed(context, id)),
      onError(context),
    );
    return true;
  });

/**
 * Counts before it locks the release: counting a large fleet takes a while, and neither staff nor steps may wait for it.
 * A release that was changed in between is counted again, so that no pause has the numbers of an earlier rollout.
 */
async function pauseIfHarmful(context: Parts, releaseId: string, isWatch: boolean): Promise<void> {
  let isCounted = false;
  for (let tries = 0; !isCounted && tries < mostCounts; tries++) {
    const seen = await selectReleases(context.db).where('r.release_id', '=', releaseId).executeTakeFirst();
    if (!seen || !isGuarded(toLiveRelease(seen))) return;
    const { verdict, sentence } = await stateOf(context.db, seen, context.clock(), isWatch);
    const isHarmful = verdict === 'FAILING' || verdict === 'SILENT';
    const isClaimed = verdict === 'CLAIMED';
    const isNews = isWatch && isClaimed !== (seen.failures_claimed_at !== null);
    if (!isHarmful && !isNews) return;
    isCounted = await systemChange(context, context.clock(), async (change) => {
      const locked = await lockRelease(change.tx, releaseId);
      if (locked?.updated_at.getTime() !== seen.updated_at.getTime()) return false;
      if (isHarmful) await pauseRollout(change, releaseId, sentence);
      else
        await recordClaimed(change, locked, {
          claimed: isClaimed,
          what: isClaimed ? sentence : noLongerMany,
        });
      return true;
    });
  }
}

const forgetClaimed = (context: Parts, releaseId: string): Promise<void> =>
  systemChange(context, context.clock(), async (change) => {
    const locked = await lockRelease(change.tx, releaseId);
    if (locked?.failures_claimed_at)
      await recordClaimed(change, locked, { claimed: false, what: notWatched });
  });

const notWatched =
  'its failures are no longer counted: it is paused, replaced by another release, or in no feed';
const noLongerMany = 'the failures that machines without a token report are no longer too many';

/** Tells staff of failures that pause nothing, or why it no longer does. */
async function recordClaimed(change: Change, release: ReleaseRow, now: { claimed: boolean; what: string }) {
  await change.tx
    .updateTable('releases')
    .set({ failures_claimed_at: now.claimed ? change.now : null })
    .where('release_id', '=', release.release_id)
    .execute();
  await change.announce('releases');
  await change.audit('release.failures_claimed', toRelease(release), { what: now.what });
}

/** The job watches a release again that was changed during each of so many counts. */
const mostCounts = 5;

const isGuarded = (r: LiveRelease): boolean => isOffered(r) && r.deletedAt === null;
