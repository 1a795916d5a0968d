import type { GuardState } from '../../../contract/guard.ts';
import { releaseRefusal } from '../../../contract/release-state.ts';
import type { Release } from '../../../contract/releases.ts';
import { nextStep, type NextStep } from '../../../contract/next-step.ts';
import { systemChange, type Change, type ChangeParts } from '../../change.ts';
import type { CheckedTime } from '../../checked-time.ts';
import type { Context } from '../../context.ts';
import { tryEach } from '../../try-each.ts';
import { lockAllowed, unseenRefusal } from '../../edit-record.ts';
import { fail, isFailure, type Failure } from '../../failure.ts';
import { stepNeedsApproval } from '../approvals/index.ts';
import { fedReleases, getRelease, hiddenBy, inFeed, liveRelease, setRollout } from '../releases/index.ts';
import { guardState } from '../update-events/index.ts';

type Parts = ChangeParts & Pick<Context, 'log' | 'reportsWait'>;

/**
 * Takes the step that is due of each rollout, if its guard is quiet and no newer rollout hides it. Returns how many steps
 * this process took. At most one step of a rollout is taken, however late it is, and the hours of the next one begin
 * then: a service that was off for a month does not widen a rollout twice at once. None is taken while reports wait, as
 * after a full disk: the guard does not know of them yet.
 */
export async function stepRollouts(context: Parts, { now }: CheckedTime): Promise<number> {
  if (await context.reportsWait()) return 0;
  const rows = await context.db
    .selectFrom('releases')
    .select('release_id')
    .where((eb) => eb.and({ ...inFeed, paused_at: null, damaged_at: null }))
    .where('rollout_plan', 'is not', null)
    .execute();
  let taken = 0;
  await tryEach(
    rows,
    async ({ release_id }) => {
      taken += await systemChange(context, now, (change) => stepIfDue(change, release_id));
    },
    (error, { release_id: releaseId }) =>
      context.log.error({ err: error, releaseId }, 'The step of a rollout was not taken'),
  );
  return taken;
}

/** Other processes and staff may change the release until it is locked, so its state is asked under the lock. */
async function stepIfDue(change: Change, releaseId: string): Promise<number> {
  const seen = await getRelease(change.tx, releaseId);
  if (isFailure(seen) || !nextStep(seen)) return 0;
  if (await isHidden(change, releaseId)) {
    await restartStep(change, releaseId);
    return 0;
  }
  if (!isDue(nextStep(seen), change.now)) return 0;
  const counted = await lockCounted(change, seen);
  if (isFailure(counted)) return 0;
  const { before, guard, isAsCounted } = counted;
  const next = nextStep(before);
  // changed since: the next run of the job counts again
  if (!isAsCounted || !next || guard.verdict !== 'QUIET') return 0;
  if (await stepNeedsApproval(change.tx, before, next.percentage)) return 0;
  // a newer one may have been published while machines were counted
  if (await isHidden(change, releaseId)) return 0;
  const stepped = await takeStep(change, before, next, guard.sentence);
  if (isFailure(stepped)) throw new Error(stepped.message);
  return 1;
}

const isHidden = async ({ tx }: Change, releaseId: string): Promise<boolean> =>
  hiddenBy(await fedReleases(tx), releaseId) !== undefined;

/**
 * Begins the present step again, unless it begins in the future: its hours do not run while nobody is offered the release.
 * No edit of the release: whoever has it open is in no conflict.
 */
const restartStep = ({ tx, now }: Change, releaseId: string) =>
  tx
    .updateTable('releases')
    .set({ step_started_at: now })
    .where('release_id', '=', releaseId)
    .where('step_started_at', '<', now)
    .execute();

/**
 * What the guard counts, and then the release under its lock, if it may be widened: a long count must not hold up a
 * pause. `isAsCounted` is false if the release was changed since, as by a pause that was ended: the count may be older
 * than the pause, and no step may be taken on it.
 */
async function lockCounted(
  change: Change,
  seen: Release,
): Promise<{ before: Release; guard: GuardState; isAsCounted: boolean } | Failure> {
  const guard = await guardState(change.tx, seen.id, change.now);
  const before = await lockAllowed(change, liveRelease, seen.id, releaseRefusal.widen);
  if (isFailure(before)) return before;
  return { before, guard, isAsCounted: before.updatedAt === seen.updatedAt };
}

const notCounted = fail(
  'WRONG_STATE',
  'Reports of machines wait for the database, so the guard does not know of all failures. Try again in a minute.',
);

const isDue = (next: NextStep | undefined, now: Date) =>
  next !== undefined && (next.dueAt === null || Date.parse(next.dueAt) <= now.getTime());

/**
 * Takes the next step of a plan before its time, if its guard is quiet, also beside a newer rollout: it may be for machines
 * that policies keep from that one. `percentage` is the one that the caller saw as the next, and `seen` the version of the
 * release.
 */
export async function widenRollout(
  change: Change,
  { reportsWait }: Pick<Parts, 'reportsWait'>,
  releaseId: string,
  { percentage, seen }: { percentage: number; seen: string | undefined },
): Promise<Release | Failure> {
  if (await reportsWait()) return notCounted;
  const found = await getRelease(change.tx, releaseId);
  if (isFailure(found)) return found;
  const counted = await lockCounted(change, found);
  if (isFailure(counted)) return counted;
  const { before, guard, isAsCounted } = counted;
  const next = nextStep(before);
  if (next?.percentage !== percentage)
    return fail(
      'WRONG_STATE',
      `The next step of the rollout is ${next?.percentage} % now, not ${percentage} %.`,
    );
  const unseen = unseenRefusal('release', before, seen);
  if (unseen !== null) return fail('WRONG_STATE', unseen);
  if (!isAsCounted)
    return fail('WRONG_STATE', 'The release was changed while its machines were counted. Try again.');
  if (guard.verdict !== 'QUIET') return fail('WRONG_STATE', guard.sentence);
  return takeStep(change, before, next, guard.sentence, 'by hand');
}

function takeStep(
  change: Change,
  before: Release,
  { index, percentage }: NextStep,
  seen: string,
  by = 'by plan',
): Promise<Release | Failure> {
  const of = `step ${index + 1} of ${before.rolloutPlan?.length}`;
  const wider = Math.max(before.rolloutPercentage, percentage);
  const what = `${of} taken ${by}: rollout ${before.rolloutPercentage} % → ${wider} %. ${seen}`;
  return setRollout(change, before.id, wider, { step: { index, what } });
}
