import { countryName } from '../../../contract/countries.ts';
import { differingFields, type Clash } from '../../edit-conflict.ts';

/** Fields of the customer modal and what they are called in it. */
export const fieldLabels = {
  name: 'Company Name',
  contactName: 'Contact Name',
  email: 'Email',
  phone: 'Phone',
  country: 'Country',
} as const;

/** The fields in which two edits of one customer differ, as a person reads them. */
export const conflictRows = (clash: Clash) => differingFields(clash, fieldLabels, asText);

function asText(path: keyof typeof fieldLabels, value: unknown): string {
  if (typeof value !== 'string' || value === '') return '—';
  return path === 'country' ? countryName(value) : value;
}
