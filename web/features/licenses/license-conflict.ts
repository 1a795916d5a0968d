import type { LicenseType } from '../../../contract/licenses.ts';
import { moduleLabel } from '../../../contract/modules.ts';
import type { ApiError } from '../../api-error.ts';
import type { ConflictRow } from '../../ui/ConflictDialog.tsx';
import { fieldLabels } from './license-form.ts';
import { dayText } from './license-term.ts';
import { typeBadges } from './license-words.ts';

type Field = keyof typeof fieldLabels;
type CustomerNames = { theirs: string; yours: string };

const isField = (path: string): path is Field => path in fieldLabels;

/** The fields in which two edits of one license differ, as a person reads them. */
export function conflictRows(conflict: ApiError, customers: CustomerNames): ConflictRow[] {
  return conflict.details.flatMap(({ path, current, yours }) => {
    if (!isField(path)) return [];
    const field = fieldLabels[path];
    if (path === 'customerId') return [{ field, ...customers }];
    return [{ field, theirs: inWords(path, current), yours: inWords(path, yours) }];
  });
}

function inWords(path: Exclude<Field, 'customerId'>, value: unknown): string {
  switch (path) {
    case 'type':
      return typeBadges[value as LicenseType]?.word ?? String(value);
    case 'validFrom':
    case 'validUntil':
      return dayText(String(value));
    case 'moduleIds':
      return (value as string[]).map(moduleLabel).join(', ') || '—';
    case 'maxActivations':
      return String(value);
  }
}
