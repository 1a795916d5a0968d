import { roleLabel } from '../../../contract/permissions.ts';
import type { ApiError } from '../../api-error.ts';
import type { ConflictRow } from '../../ui/ConflictDialog.tsx';

/** Fields of the user forms and what they are called there. */
export const fieldLabels = { email: 'Email', name: 'Name', role: 'Role' } as const;

const isField = (path: string): path is keyof typeof fieldLabels => path in fieldLabels;

/** The fields in which two edits of one user differ, as a person reads them. */
export const conflictRows = (conflict: ApiError): ConflictRow[] =>
  conflict.details.flatMap(({ path, current, yours }) =>
    isField(path)
      ? [{ field: fieldLabels[path], theirs: inWords(path, current), yours: inWords(path, yours) }]
      : [],
  );

function inWords(path: keyof typeof fieldLabels, value: unknown): string {
  if (typeof value !== 'string' || value === '') return '—';
  return path === 'role' ? roleLabel(value) : value;
}
