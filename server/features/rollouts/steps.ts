import { releaseRefusal, type Release } from '../../../contract/releases.ts';
import { nextStep, type NextStep } from '../../../contract/rollout-plan.ts';
import { systemChange, type Change, type ChangeParts } from '../../change.ts';
import type { CheckedTime } from '../../checked-time.ts';
import type { Context } from '../../context.ts';
import { isDatabaseUnreachable } from '../../db/client.ts';
import { lockAllowed } from '../../edit-record.ts';
import { fail, isFailure, type Failure } from '../../failure.ts';
import { stepNeedsApproval } from '../approvals/index.ts';
import { getRelease, liveRelease, setRollout } from '../releases/index.ts';
import { guardState } from '../update-events/index.ts';

type Parts = ChangeParts & Pick<Context, 'log'>;

/**
 * Takes the step that is due of each rollout, if its guard is quiet. Returns how many steps this process took. At most
 * one step of a rollout is taken, however late it is, and the hours of the next one begin then: a service that was off
 * for a month does not widen a rollout twice at once.
 */
export async function stepRollouts(context: Parts, { now }: CheckedTime): Promise<number> {
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
  for (const { release_id: releaseId } of rows) {
    try {
      taken += await systemChange(context, now, (change) => stepIfDue(change, releaseId));
    } catch (error) {
      if (isDatabaseUnreachable(error)) throw error;
      // one release must not hold up the others
      context.log.error({ err: error, releaseId }, 'The step of a rollout was not taken');
    }
  }
  return taken;
}

/** Everything is asked again under the lock of the release, which other processes and staff wait for. */
async function stepIfDue(change: Change, releaseId: string): Promise<number> {
  const before = await lockAllowed(change, liveRelease, releaseId, releaseRefusal.widen);
  if (isFailure(before)) return 0;
  const next = nextStep(before);
  if (!next || !isDue(next, change.now)) return 0;
  if (await stepNeedsApproval(change.tx, before, next.percentage)) return 0;
  const guard = await guardState(change.tx, releaseId, change.now);
  if (guard.verdict !== 'QUIET') return 0;
  const stepped = await takeStep(change, before, next, guard.sentence);
  if (isFailure(stepped)) throw new Error(stepped.message);
  return 1;
}

const isDue = ({ dueAt }: NextStep, now: Date) => dueAt === null || Date.parse(dueAt) <= now.getTime();

/**
 * Takes the next step of a plan before its time, if its guard is quiet; `percentage` is the one that the caller saw as
 * the next. The guard counts before the release is locked, so that a long count holds up nobody.
 */
export async function widenRollout(
  change: Change,
  releaseId: string,
  percentage: number,
): Promise<Release | Failure> {
  const found = await getRelease(change.tx, releaseId);
  if (isFailure(found)) return found;
  const guard = await guardState(change.tx, releaseId, change.now);
  const before = await lockAllowed(change, liveRelease, releaseId, releaseRefusal.widen);
  if (isFailure(before)) return before;
  const next = nextStep(before);
  if (next?.percentage !== percentage)
    return fail(
      'WRONG_STATE',
      `The next step of the rollout is ${next?.percentage} % now, not ${percentage} %.`,
    );
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
  return setRollout(change, before.id, wider, {
    index,
    what: `${of} taken ${by}: rollout ${before.rolloutPercentage} % → ${wider} %. ${seen}`,
  });
}
