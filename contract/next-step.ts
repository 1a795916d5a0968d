import { hourMs } from './durations.ts';
import type { PlanStep, RolloutPlan } from './rollout-plan.ts';

// Without schemas, because lists load it: see decision record 67.

export type PlanState = {
  rolloutPlan: RolloutPlan | null;
  startsAt: string | null;
  stepTaken: number | null;
  stepStartedAt: string | null;
};

/** The step that follows, and the moment at which it is due, were the rollout not paused. */
export type NextStep = PlanStep & { index: number; dueAt: string | null };

/** The next step of a plan; undefined after the last, and where there is no plan. `dueAt` is null for a draft. */
export function nextStep(plan: PlanState & { isDraft: boolean }): NextStep | undefined {
  const index = plan.stepTaken === null ? 0 : plan.stepTaken + 1;
  const step = plan.rolloutPlan?.[index];
  return step && { ...step, index, dueAt: plan.isDraft ? null : dueAt(plan) };
}

function dueAt({ rolloutPlan: steps, startsAt, stepTaken, stepStartedAt }: PlanState): string | null {
  if (stepTaken === null || stepStartedAt === null) return startsAt;
  const hours = steps?.[stepTaken]?.hours ?? 0;
  const ends = Date.parse(stepStartedAt) + hours * hourMs;
  // a start that was set while the plan was under way
  return new Date(startsAt === null ? ends : Math.max(ends, Date.parse(startsAt))).toISOString();
}

/** `1 % for 24 h, 10 % for 48 h, 100 %`. */
export const planText = (steps: readonly PlanStep[]): string =>
  steps
    .map(({ percentage, hours }, index) =>
      hours === null || index === steps.length - 1 ? `${percentage} %` : `${percentage} % for ${hours} h`,
    )
    .join(', ');

/** Why a partial rollout offers next to nothing beside a newer one, and takes no step by itself; `newer` is that one. */
export const hiddenText = ({
  version,
  rolloutPercentage,
}: {
  version: string;
  rolloutPercentage: number;
}): string =>
  `${version} is rolling out (${rolloutPercentage} %). Until it is offered to all machines, or is withdrawn or paused, this release is offered only to machines from which an update policy or its minimum app version keeps ${version}, and takes no step by itself. Withdraw it if ${version} replaces it.`;

/** `at 5 %`; with a plan `with the plan 5 % for 24 h, 100 %, starting at …`. */
export const offerText = ({
  rolloutPercentage,
  rolloutPlan: steps,
  startsAt,
}: Pick<PlanState, 'rolloutPlan' | 'startsAt'> & { rolloutPercentage: number }): string =>
  steps === null
    ? `at ${rolloutPercentage} %`
    : `with the plan ${planText(steps)}${startsAt === null ? '' : `, starting at ${startsAt}`}`;
