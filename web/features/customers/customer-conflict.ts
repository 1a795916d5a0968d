import { countryName } from '../../../contract/countries.ts';
import { customerLabels } from '../../field-labels.ts';
import { differingFields, type Clash } from '../../edit-conflict.ts';

/** Labels of the fields in which two edits of one customer differ. */
export const conflictRows = (clash: Clash) => differingFields(clash, customerLabels, asText);

function asText(path: keyof typeof customerLabels, value: unknown): string {
  if (typeof value !== 'string' || value === '') return '—';
  return path === 'country' ? countryName(value) : value;
}
