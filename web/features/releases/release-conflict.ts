import type { FailureThreshold } from '../../../contract/builds.ts';
import { differingFields, type Clash } from '../../edit-conflict.ts';
import { fieldLabels } from './release-form.ts';

/** Labels of the fields in which two edits of one release differ. */
export const conflictRows = (clash: Clash) =>
  differingFields(clash, fieldLabels, (_field, value) => asText(value));

function asText(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'Yes' : 'No';
  if (isThreshold(value)) return `more than ${value.percent} % of at least ${value.minimumInstalls}`;
  return typeof value === 'string' && value !== '' ? value : '—';
}

const isThreshold = (value: unknown): value is FailureThreshold =>
  typeof value === 'object' && value !== null && 'percent' in value;
