import { roleLabel } from '../../../contract/permissions.ts';
import { differingFields, type Clash } from '../../edit-conflict.ts';

/** Fields of the user forms and what they are called there. */
export const fieldLabels = { email: 'Email', name: 'Name', role: 'Role' } as const;

/** The fields in which two edits of one user differ, as a person reads them. */
export const conflictRows = (clash: Clash) => differingFields(clash, fieldLabels, asText);

function asText(path: keyof typeof fieldLabels, value: unknown): string {
  if (typeof value !== 'string' || value === '') return '—';
  return path === 'role' ? roleLabel(value) : value;
}
