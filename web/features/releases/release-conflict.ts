import type { FailureThreshold } from '../../../contract/builds.ts';
import type { ApiError } from '../../api-error.ts';
import type { ConflictRow } from '../../ui/ConflictDialog.tsx';
import { fieldLabels } from './release-form.ts';

const isField = (path: string): path is keyof typeof fieldLabels => path in fieldLabels;

/** The fields in which two edits of one release differ, as a person reads them. */
export const conflictRows = (conflict: ApiError): ConflictRow[] =>
  conflict.details.flatMap(({ path, current, yours }) =>
    isField(path) ? [{ field: fieldLabels[path], theirs: inWords(current), yours: inWords(yours) }] : [],
  );

function inWords(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'Yes' : 'No';
  if (isThreshold(value)) return `more than ${value.percent} % of at least ${value.minimumInstalls}`;
  return typeof value === 'string' && value !== '' ? value : '—';
}

const isThreshold = (value: unknown): value is FailureThreshold =>
  typeof value === 'object' && value !== null && 'percent' in value;
