import { countryName } from '../../../contract/countries.ts';
import { differingFields, type Clash } from '../../edit-conflict.ts';

/** Labels of the fields of the customer modal. */
export const fieldLabels = {
  name: 'Company Name',
  contactName: 'Contact Name',
  email: 'Email',
  phone: 'Phone',
  country: 'Country',
} as const;

/** Labels of the fields in which two edits of one customer differ. */
export const conflictRows = (clash: Clash) => differingFields(clash, fieldLabels, asText);

function asText(path: keyof typeof fieldLabels, value: unknown): string {
  if (typeof value !== 'string' || value === '') return '—';
  return path === 'country' ? countryName(value) : value;
}
