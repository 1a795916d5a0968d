import type { RolloutPlan } from '../contract/rollout-plan.ts';

/** A rollout plan of these steps: `planOf([1, 24], [100])` is 1 % for 24 hours, then 100 %. */
export const planOf = (...steps: [percentage: number, hours?: number][]): RolloutPlan =>
  steps.map(([percentage, hours = null]) => ({ percentage, hours }));
