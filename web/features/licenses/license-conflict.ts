import type { License, LicenseType } from '../../../contract/licenses.ts';
import { licenseLabels } from '../../field-labels.ts';
import { differingFields, type Clash } from '../../edit-conflict.ts';
import { utcDate } from '../../ui/time.ts';
import { ownerText, typeBadges } from './license-labels.ts';

type Field = keyof typeof licenseLabels;

/**
 * Labels of the fields in which two edits of one license differ. `stored`: the license as it was loaded last, which may be
 * older than theirs; `yours`: the name of the customer that was chosen.
 */
export const conflictRows = (clash: Clash, stored: License | undefined, yours: string) =>
  differingFields(clash, licenseLabels, (field, value, whose) => {
    if (field !== 'customerId') return asText(field, value);
    if (whose === 'yours') return yours;
    return stored && stored.customerId === value ? ownerText(stored.customer) : 'another customer';
  });

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
