import { roleLabel } from '../../../contract/permissions.ts';
import { userLabels } from '../../field-labels.ts';
import { differingFields, type Clash } from '../../edit-conflict.ts';

/** Labels of the fields in which two edits of one user differ. */
export const conflictRows = (clash: Clash) => differingFields(clash, userLabels, asText);

function asText(path: keyof typeof userLabels, value: unknown): string {
  if (typeof value !== 'string' || value === '') return '—';
  return path === 'role' ? roleLabel(value) : value;
}
