import type { LicenseType } from '../../../contract/licenses.ts';
import { licenseLabels } from '../../field-labels.ts';
import { differingFields, type Clash } from '../../edit-conflict.ts';
import { utcDate } from '../../ui/time.ts';
import { typeBadges } from './license-labels.ts';

type Field = keyof typeof licenseLabels;
type CustomerNames = { theirs: string; yours: string };

/** Labels of the fields in which two edits of one license differ. */
export const conflictRows = (clash: Clash, customers: CustomerNames) =>
  differingFields(clash, licenseLabels, (field, value, whose) =>
    field === 'customerId' ? customers[whose] : asText(field, value),
  );

function asText(path: Exclude<Field, 'customerId'>, value: unknown): string {
  switch (path) {
    case 'type':
      return typeBadges[value as LicenseType]?.word ?? String(value);
    case 'validFrom':
    case 'validUntil':
      return utcDate(String(value));
    // seats; modules do not conflict, they are merged one by one
    default:
      return String(value);
  }
}
