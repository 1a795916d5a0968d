import { z } from 'zod';
import { labelOf } from '../../../contract/text.ts';
import { planText } from '../../../contract/next-step.ts';
import { planStep } from '../../../contract/rollout-plan.ts';
import { fullTime } from '../../ui/time.ts';

/** `rolloutPercentage` as `Rollout percentage`, `isDraft` as `Draft`. */
export function fieldLabel(field: string): string {
  return labelOf(field.replace(/^is([A-Z])/, (_, first: string) => first.toLowerCase()));
}

/** A value for people: yes and no instead of true and false, a time in their own, and the steps of a plan in words. */
export function shownValue(value: unknown): unknown {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (z.iso.datetime().safeParse(value).success) return fullTime(value as string);
  const steps = z.array(planStep).min(1).safeParse(value);
  return steps.success ? planText(steps.data) : value;
}
