import type { GuardState } from '../../../contract/guard.ts';
import { systemChange, type ChangeParts } from '../../change.ts';
import type { Context } from '../../context.ts';
import type { Db } from '../../db/client.ts';
import { lockRelease, pauseRollout, selectReleases, type ReleaseRow } from '../releases/index.ts';
import { countInstalls, previousRelease } from './guard-counts.ts';
import { judge } from './guard.ts';

/** What the guard sees of a release now. Under the lock of the release, it stays true until the lock is released. */
export async function guardState(db: Db, releaseId: string, now: Date): Promise<GuardState> {
  const row = await selectReleases(db).where('r.release_id', '=', releaseId).executeTakeFirstOrThrow();
  return stateOf(db, row, now);
}

async function stateOf(db: Db, row: ReleaseRow, at: Date): Promise<GuardState> {
  const { installs, failed, provenOnly } = await countInstalls(db, row.release_id, row.failures_from);
  return judge({
    at,
    release: { ...row, acceptableFailures: row.acceptable_failures },
    installs: { installs, failed, provenOnly },
    previous: await previousRelease(db, row),
  });
}

/** Pauses the rollout of each of these releases for which the guard finds a reason, counted since the last resume. */
export async function pauseFailing(
  context: ChangeParts & Pick<Context, 'clock'>,
  releaseIds: readonly string[],
): Promise<void> {
  for (const releaseId of releaseIds.toSorted()) {
    const row = await selectReleases(context.db).where('r.release_id', '=', releaseId).executeTakeFirst();
    if (!row || !isGuarded(row) || (await stateOf(context.db, row, context.clock())).verdict === 'QUIET')
      continue;
    await systemChange(context, context.clock(), async (change) => {
      // The lock prevents a concurrent resume, so the numbers belong to this rollout.
      const locked = await lockRelease(change.tx, releaseId);
      if (!locked || !isGuarded(locked)) return;
      const { verdict, sentence } = await stateOf(change.tx, locked, change.now);
      if (verdict !== 'QUIET') await pauseRollout(change, releaseId, sentence);
    });
  }
}

/** In a feed, and not paused. */
const isGuarded = (row: ReleaseRow): boolean =>
  row.is_active && !row.is_draft && row.paused_at === null && row.deleted_at === null;
