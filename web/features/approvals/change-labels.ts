import { z } from 'zod';
import { planStep, planText } from '../../../contract/rollout-plan.ts';

/** `rolloutPercentage` as `Rollout percentage`, `isDraft` as `Draft`. */
export function fieldLabel(field: string): string {
  const words = field
    .replace(/^is(?=[A-Z])/, '')
    .replaceAll(/([A-Z])/g, ' $1')
    .trim()
    .toLowerCase();
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}

/** A value for people: yes and no instead of true and false, and the steps of a plan in words. */
export function shownValue(value: unknown): unknown {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  const steps = z.array(planStep).min(1).safeParse(value);
  return steps.success ? planText(steps.data) : value;
}
