import { countryName } from '../../../contract/countries.ts';
import type { ApiError } from '../../api-error.ts';
import type { ConflictRow } from '../../ui/ConflictDialog.tsx';

/** Fields of the customer modal and what they are called in it. */
export const fieldLabels = {
  name: 'Company Name',
  contactName: 'Contact Name',
  email: 'Email',
  phone: 'Phone',
  country: 'Country',
} as const;

const isField = (path: string): path is keyof typeof fieldLabels => path in fieldLabels;

/** The fields in which two edits of one customer differ, as a person reads them. */
export function conflictRows(conflict: ApiError): ConflictRow[] {
  return conflict.details.flatMap(({ path, current, yours }) =>
    isField(path)
      ? [{ field: fieldLabels[path], theirs: inWords(path, current), yours: inWords(path, yours) }]
      : [],
  );
}

function inWords(path: keyof typeof fieldLabels, value: unknown): string {
  if (typeof value !== 'string' || value === '') return '—';
  return path === 'country' ? countryName(value) : value;
}
