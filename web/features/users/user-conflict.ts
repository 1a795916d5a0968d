import { roleLabel } from '../../../contract/permissions.ts';
import { differingFields, type Clash } from '../../edit-conflict.ts';

/** Labels of the user forms. */
export const fieldLabels = { email: 'Email', name: 'Name', role: 'Role' } as const;

/** Labels of the fields in which two edits of one user differ. */
export const conflictRows = (clash: Clash) => differingFields(clash, fieldLabels, asText);

function asText(path: keyof typeof fieldLabels, value: unknown): string {
  if (typeof value !== 'string' || value === '') return '—';
  return path === 'role' ? roleLabel(value) : value;
}
