import { roleLabel } from '../../../contract/permissions.ts';
import { ApiError } from '../../api-error.ts';
import type { ConflictRow } from '../../ui/ConflictDialog.tsx';

/** Fields of the user forms and what they are called there. */
export const fieldLabels = { email: 'Email', name: 'Name', role: 'Role' } as const;

export const conflictOf = (error: unknown): ApiError | undefined =>
  error instanceof ApiError && error.code === 'EDIT_CONFLICT' ? error : undefined;

const isField = (path: string): path is keyof typeof fieldLabels => path in fieldLabels;

/** The fields in which two edits of one user differ, as a person reads them. */
export const conflictRows = (conflict: ApiError): ConflictRow[] =>
  conflict.details.flatMap(({ path, current, yours }) =>
    isField(path)
      ? [{ field: fieldLabels[path], theirs: inWords(path, current), yours: inWords(path, yours) }]
      : [],
  );

/** The version that the person has now seen; a third one in between is a conflict again. */
export function storedVersion(conflict: ApiError): string | undefined {
  const version = conflict.details.find((detail) => detail.path === 'updatedAt')?.current;
  return typeof version === 'string' ? version : undefined;
}

function inWords(path: keyof typeof fieldLabels, value: unknown): string {
  if (typeof value !== 'string' || value === '') return '—';
  return path === 'role' ? roleLabel(value) : value;
}
