import { planText } from '../../../contract/next-step.ts';
import type { RolloutPlan } from '../../../contract/rollout-plan.ts';
import { differingFields, type Clash } from '../../edit-conflict.ts';
import { fieldLabels } from './release-form.ts';

/** Labels of the fields in which two edits of one release differ. */
export const conflictRows = (clash: Clash) =>
  differingFields(clash, fieldLabels, (field, value) => asText(field, value));

function asText(field: string, value: unknown): string {
  if (typeof value === 'boolean') return value ? 'Yes' : 'No';
  if (typeof value === 'number') return `${value} %`;
  if (field === 'acceptableFailures') return 'As the previous release';
  if (isPlan(value)) return planText(value);
  return typeof value === 'string' && value !== '' ? value : '—';
}

const isPlan = (value: unknown): value is RolloutPlan => Array.isArray(value);
