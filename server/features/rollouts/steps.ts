import { releaseRefusal, type Release } from '../../../contract/releases.ts';
import { nextStep, type NextStep } from '../../../contract/rollout-plan.ts';
import { systemChange, type Change, type ChangeParts } from '../../change.ts';
import type { CheckedTime } from '../../checked-time.ts';
import { lockAllowed } from '../../edit-record.ts';
import { fail, isFailure, type Failure } from '../../failure.ts';
import { liveRelease, setRollout } from '../releases/index.ts';
import { guardState } from '../update-events/index.ts';

/**
 * Takes the step that is due of each rollout, if its guard is quiet. Returns how many steps this process took. At most
 * one step of a rollout is taken, however late it is, and the hours of the next one begin then: a service that was off
 * for a month does not widen a rollout twice at once.
 */
export async function stepRollouts(context: ChangeParts, { now }: CheckedTime): Promise<number> {
  const rows = await context.db
    .selectFrom('releases')
    .select('release_id')
    .where('rollout_plan', 'is not', null)
    .where('deleted_at', 'is', null)
    .where('paused_at', 'is', null)
    .where('damaged_at', 'is', null)
    .where('is_active', '=', true)
    .where('is_draft', '=', false)
    .execute();
  let taken = 0;
  for (const { release_id: releaseId } of rows)
    taken += await systemChange(context, now, (change) => stepIfDue(change, releaseId));
  return taken;
}

/** Everything is asked again under the lock of the release, which other processes and staff wait for. */
async function stepIfDue(change: Change, releaseId: string): Promise<number> {
  const before = await lockAllowed(change, liveRelease, releaseId, releaseRefusal.widen);
  if (isFailure(before)) return 0;
  const next = nextStep(before);
  if (!next || !isDue(next, change.now)) return 0;
  const guard = await guardState(change.tx, releaseId, change.now);
  if (guard.verdict !== 'QUIET') return 0;
  const stepped = await takeStep(change, before, next, guard.sentence);
  if (isFailure(stepped)) throw new Error(stepped.message);
  return 1;
}

const isDue = ({ dueAt }: NextStep, now: Date) => dueAt === null || Date.parse(dueAt) <= now.getTime();

/** Takes the next step of a plan before its time; `percentage` is the one that the caller saw as the next. */
export async function widenRollout(
  change: Change,
  releaseId: string,
  percentage: number,
): Promise<Release | Failure> {
  const before = await lockAllowed(change, liveRelease, releaseId, releaseRefusal.widen);
  if (isFailure(before)) return before;
  const next = nextStep(before);
  if (next?.percentage !== percentage)
    return fail(
      'WRONG_STATE',
      `The next step of the rollout is ${next?.percentage} % now, not ${percentage} %.`,
    );
  const guard = await guardState(change.tx, releaseId, change.now);
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
  return setRollout(change, before.id, wider, {
    index,
    what: `${of} taken ${by}: rollout ${before.rolloutPercentage} % → ${wider} %. ${seen}`,
  });
}
