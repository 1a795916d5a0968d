import { FORM_INDEX, type FormErrors } from '@mantine/form';
import { counted } from './ui/counted.ts';
import type { Release } from '../contract/releases.ts';
import { planText } from '../contract/next-step.ts';
import { rolloutPlan, type PlanStep, type RolloutPlan } from '../contract/rollout-plan.ts';
import { instantText } from './ui/day.ts';
import { isMoment, localOf, momentProblem } from './ui/typed-day.ts';
import type { TypedNumber } from './ui/typed-number.ts';

/** The steps of a plan, as typed. The hours of the last one are kept for when a step is added after it. */
export type TypedStep = { percentage: TypedNumber; hours: TypedNumber };

/** A rollout in steps, as typed. */
export type PlanValues = {
  /** Otherwise the single percentage counts. */
  inSteps: boolean;
  steps: TypedStep[];
  /** A moment in local time; empty: at once. */
  startsAt: string;
};

/** Validated on blur, as the other numbers: the steps of the plan that is called `at` in its form. */
export const stepFields = (at: string): string[] =>
  ['percentage', 'hours'].map((name) => `${at}.steps.${FORM_INDEX}.${name}`);

/** What is suggested where the channel has no default. */
const usualPlan: RolloutPlan = [
  { percentage: 1, hours: 24 },
  { percentage: 10, hours: 48 },
  { percentage: 100, hours: null },
];

const typed = (plan: RolloutPlan): TypedStep[] =>
  plan.map(({ percentage, hours }) => ({ percentage, hours: hours ?? 24 }));

/** The fields of a plan; without one, those of the `suggested` plan, not chosen. */
export const planValues = (
  { rolloutPlan: plan, startsAt }: Pick<Release, 'rolloutPlan' | 'startsAt'>,
  suggested: RolloutPlan | null = null,
): PlanValues => ({
  inSteps: plan !== null,
  steps: typed(plan ?? suggested ?? usualPlan),
  startsAt: startsAt === null ? '' : localOf(new Date(startsAt)),
});

/** A plan that a user has not changed yet: the one that is suggested on a channel. */
export const suggestedPlan = (plan: RolloutPlan): PlanValues => ({
  inSteps: true,
  steps: typed(plan),
  startsAt: '',
});

/** The steps of the request, as typed, for the contract to validate. */
export const stepsOf = ({ steps }: Pick<PlanValues, 'steps'>): PlanStep[] =>
  steps.map(({ percentage, hours }, index) => ({
    percentage: percentage as number,
    hours: index === steps.length - 1 ? null : (hours as number),
  }));

/** A plan with its start, as typed, for the contract to validate. */
export const planPayload = (plan: PlanValues): { rolloutPlan: RolloutPlan; startsAt: string | null } => ({
  rolloutPlan: stepsOf(plan),
  startsAt: isMoment(plan.startsAt) ? instantText(new Date(plan.startsAt)) : null,
});

/**
 * The errors of a plan by form field; none where the percentage is the only step. A start in the past is a slip, unless it
 * is the one that was `seen`: the release would be out at once.
 */
export function planErrors(plan: PlanValues, seen = ''): FormErrors {
  if (!plan.inSteps) return {};
  const issues = rolloutPlan.safeParse(stepsOf(plan)).error?.issues ?? [];
  const ofSteps = issues
    .toReversed()
    .map(({ path, message }) => [['plan.steps', ...path].join('.'), message]);
  const isPast = plan.startsAt !== seen && Date.parse(plan.startsAt) < Date.now();
  const ofStart =
    momentProblem(plan.startsAt) ?? (isPast && 'Lies in the past: leave it empty to start at once');
  return { ...Object.fromEntries(ofSteps), ...(ofStart && { 'plan.startsAt': ofStart }) };
}

/** What the server refused, by form field. */
export const atPlanFields = (errors: FormErrors): FormErrors =>
  Object.fromEntries(
    Object.entries(errors).map(([path, message]) => [
      path.replace(/^(rolloutPlan|plan)(?=\.\d)/, 'plan.steps').replace(/^startsAt$/, 'plan.startsAt'),
      message,
    ]),
  );

/**
 * `1 % for 24 h, 10 % for 48 h, 100 %`, and how long it takes from the first step on, or where it continues (`present`);
 * undefined while it is not valid.
 */
export function planSummary(plan: PlanValues, present?: string): string | undefined {
  const steps = rolloutPlan.safeParse(stepsOf(plan));
  if (!steps.success) return undefined;
  if (present) return `${planText(steps.data)}. ${present}`;
  const last = steps.data.at(-1)?.percentage;
  const hours = steps.data.slice(0, -1).reduce((sum, step) => sum + (step.hours ?? 0), 0);
  if (hours === 0) return `${last} % of users ${plan.startsAt ? 'from the start on' : 'at once'}`;
  const reached = plan.startsAt ? `${lengthText(hours)} after the start` : `after ${lengthText(hours)}`;
  return `${planText(steps.data)}. Reaches ${last} % ${reached}, while updates do not fail.`;
}

/** `3 days`, `2 days 4 h`, `5 h`. */
export function lengthText(hours: number): string {
  const days = Math.floor(hours / 24);
  const parts = [days > 0 && counted(days, 'day'), hours % 24 > 0 && `${hours % 24} h`].filter(Boolean);
  return parts.join(' ') || '0 h';
}
