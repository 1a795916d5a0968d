import { isDeepStrictEqual } from 'node:util';
import type { Release, ReleasePatch } from '../../../contract/releases.ts';
import type { RolloutPlan } from '../../../contract/rollout-plan.ts';

type Asked = Pick<ReleasePatch, 'rolloutPlan' | 'startsAt' | 'rolloutPercentage' | 'isDraft' | 'isActive'>;

/** The fields of a release that its plan depends on. */
type Planned = Pick<
  Release,
  'isDraft' | 'isActive' | 'rolloutPercentage' | 'rolloutPlan' | 'startsAt' | 'stepTaken' | 'stepStartedAt'
>;

/** A release that does not exist yet, so that creating it published is like publishing a draft. */
export const unpublished: Planned = {
  isDraft: true,
  isActive: true,
  rolloutPercentage: 0,
  rolloutPlan: null,
  startsAt: null,
  stepTaken: null,
  stepStartedAt: null,
};

type PlanColumns = {
  rollout_plan: string | null;
  plan_starts_at: Date | null;
  plan_step?: number | null;
  step_started_at?: Date | null;
  /** Where the plan decides it. */
  rollout_percentage?: number | undefined;
};

/** Where a plan starts over: before the first step, or at it. */
const beforeStart = { plan_step: null, step_started_at: null };
const atFirstStep = (plan: RolloutPlan, now: Date) => ({
  rollout_percentage: plan[0]?.percentage,
  plan_step: 0,
  step_started_at: now,
});

/** The plan and its start as a release has them after the edit. A percentage of its own ends the plan. */
export function sentPlan(before: Planned, asked: Asked): Pick<Release, 'rolloutPlan' | 'startsAt'> {
  const { rolloutPlan, startsAt } = before;
  const plan =
    asked.rolloutPlan === undefined
      ? asked.rolloutPercentage === undefined
        ? rolloutPlan
        : null
      : asked.rolloutPlan;
  if (plan === null) return { rolloutPlan: null, startsAt: null };
  return { rolloutPlan: plan, startsAt: asked.startsAt === undefined ? startsAt : asked.startsAt };
}

export function changesPlan(before: Planned, asked: Asked): boolean {
  const { rolloutPlan, startsAt } = sentPlan(before, asked);
  return !isDeepStrictEqual([rolloutPlan, startsAt], [before.rolloutPlan, before.startsAt]);
}

/**
 * The columns of the plan after an edit at the time `now`. Publishing starts the plan from its first step, or at 0 % if it
 * has a start: only the job, whose clock is checked, finds that this has come. A plan that is set while the release is
 * out continues from the step that the present percentage has reached: a plan never narrows a rollout. The changed
 * plan of a release that comes back after it was inactive starts its step again, as `restarted` does where it stays: no
 * step is taken for hours in which nobody was offered it.
 */
export function planColumns(before: Planned, asked: Asked, now: Date): PlanColumns {
  const { rolloutPlan: plan, startsAt } = sentPlan(before, asked);
  const columns = {
    rollout_plan: plan && JSON.stringify(plan),
    plan_starts_at: startsAt === null ? null : new Date(startsAt),
  };
  if (plan === null) return { ...columns, ...beforeStart };
  if (asked.isDraft ?? before.isDraft) return { ...columns, ...beforeStart };
  if (before.isDraft) {
    const started = startsAt === null ? atFirstStep(plan, now) : { ...beforeStart, rollout_percentage: 0 };
    return { ...columns, ...started };
  }
  const isBack = asked.isActive === true && !before.isActive;
  if (changesPlan(before, asked)) {
    const reached = plan.findLastIndex(({ percentage }) => percentage <= before.rolloutPercentage);
    if (reached < 0) return { ...columns, ...(startsAt === null ? atFirstStep(plan, now) : beforeStart) };
    const began = isBack ? undefined : stillAt(before, plan, reached, now);
    const isToCome = startsAt !== null && new Date(startsAt) > now;
    return {
      ...columns,
      plan_step: reached,
      step_started_at: began ?? (isToCome ? columns.plan_starts_at : now),
    };
  }
  return columns;
}

/**
 * When the present step began, if the changed plan is at the same percentage: it keeps its hours. The last step has none
 * to keep, and one that was to begin at a start in the future has not begun.
 */
function stillAt(
  { rolloutPlan, stepTaken, stepStartedAt }: Planned,
  plan: RolloutPlan,
  index: number,
  now: Date,
): Date | undefined {
  if (stepTaken === null || stepStartedAt === null) return undefined;
  if (stepTaken + 1 === rolloutPlan?.length) return undefined;
  if (rolloutPlan?.[stepTaken]?.percentage !== plan[index]?.percentage) return undefined;
  const began = new Date(stepStartedAt);
  return began <= now ? began : undefined;
}

/** The present step of a release that is offered to machines again starts again, unless it begins in the future. */
export const restarted = ({ stepStartedAt }: Pick<Release, 'stepStartedAt'>, now: Date) =>
  stepStartedAt === null || Date.parse(stepStartedAt) > now.getTime() ? {} : { step_started_at: now };

/**
 * The hours of the present step do not run during a pause; one that began in the meantime counts from there. After a
 * pause by the guard, which counts from zero then, the step starts again: the next one could else be taken at once, before
 * anything is known of the failures that go on.
 */
export function resumedStep({ stepStartedAt, pausedAt, pausedBy }: Release, now: Date) {
  if (stepStartedAt === null || pausedAt === null) return {};
  // unless it begins at a start in the future
  if (pausedBy === null && Date.parse(stepStartedAt) <= now.getTime()) return { step_started_at: now };
  return { step_started_at: withoutPause(stepStartedAt, pausedAt, now) };
}

/** A moment moved on by the pause that ends now, as far as that was after it. */
export function withoutPause(since: string, pausedAt: string | null, now: Date): Date {
  const began = Date.parse(since);
  const paused = pausedAt === null ? 0 : now.getTime() - Math.max(Date.parse(pausedAt), began);
  return new Date(began + Math.max(0, paused));
}
