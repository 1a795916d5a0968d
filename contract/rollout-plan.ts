import { z } from 'zod';
import { dateTime, wholeFrom } from './common.ts';

/** The longest a step may last, in hours. */
export const longestStepHours = 2160;
export const mostSteps = 10;

/** One step of a rollout plan. `hours`: how long it lasts until the next one is taken; null for the last step. */
export const planStep = z
  .strictObject({ percentage: wholeFrom(1, 100), hours: wholeFrom(1, longestStepHours).nullable() })
  .meta({ id: 'PlanStep' });
export type PlanStep = z.output<typeof planStep>;

/** The steps of a rollout, each wider than the one before. */
export const rolloutPlan = z
  .array(planStep)
  .min(1, 'A plan needs at least one step')
  .max(mostSteps, `A plan has at most ${mostSteps} steps`)
  .superRefine((steps, context) => {
    for (const [index, { percentage, hours }] of steps.entries()) {
      const before = steps[index - 1];
      if (before && percentage <= before.percentage)
        context.addIssue({
          code: 'custom',
          path: [index, 'percentage'],
          message: 'Must be more than in the step before',
        });
      if (hours === null && index < steps.length - 1)
        context.addIssue({
          code: 'custom',
          path: [index, 'hours'],
          message: `Must be a whole number from 1 to ${longestStepHours}`,
        });
    }
  });
export type RolloutPlan = z.output<typeof rolloutPlan>;

/** A start without a plan is refused: dropping it would publish at once. */
export const startNeedsPlan = 'A start needs a rollout in steps';

/** The plan of a release and where it stands, as fields of the release. */
export const planFields = {
  rolloutPlan: z.array(planStep).nullable().meta({
    description: 'Steps of the rollout; null when the percentage is the only step',
  }),
  startsAt: dateTime.nullable().meta({
    description: 'When the plan starts, or takes its next step at the earliest; null: when it is published',
  }),
  stepTaken: z
    .number()
    .nullable()
    .meta({ description: 'Index of the step that the rollout is at; null before the plan has started' }),
  stepStartedAt: dateTime.nullable().meta({
    description: 'When that step began; moved on by the length of a pause, and anew after one by the guard',
  }),
};
