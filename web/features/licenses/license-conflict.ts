import type { License, LicenseType } from '../../../contract/licenses.ts';
import { licenseLabels } from '../../field-labels.ts';
import { differingFields, type Clash } from '../../edit-conflict.ts';
import { utcDate } from '../../ui/time.ts';
import { ownerText, typeBadges } from './license-labels.ts';

/**
 * Labels of the fields in which two edits of one license differ. `stored`: the license as it was loaded last, which may be
 * older than theirs; `yours`: the name of the customer that was chosen.
 */
export const conflictRows = (clash: Clash, stored: License | undefined, yours: string) =>
  differingFields(clash, licenseLabels, {
    customerId: (id: string, whose) => {
      if (whose === 'yours') return yours;
      return stored?.customerId === id ? ownerText(stored.customer) : 'another customer';
    },
    type: (type: LicenseType) => typeBadges[type]?.word ?? type,
    validFrom: utcDate,
    validUntil: utcDate,
  });
