import type { LicenseType } from '../../../contract/licenses.ts';
import { moduleLabel } from '../../../contract/module-ids.ts';
import { differingFields, type Clash } from '../../edit-conflict.ts';
import { fieldLabels } from './license-form.ts';
import { utcDate } from '../../ui/time.ts';
import { typeBadges } from './license-labels.ts';

type Field = keyof typeof fieldLabels;
type CustomerNames = { theirs: string; yours: string };

/** Labels of the fields in which two edits of one license differ. */
export const conflictRows = (clash: Clash, customers: CustomerNames) =>
  differingFields(clash, fieldLabels, (field, value, whose) =>
    field === 'customerId' ? customers[whose] : asText(field, value),
  );

function asText(path: Exclude<Field, 'customerId'>, value: unknown): string {
  switch (path) {
    case 'type':
      return typeBadges[value as LicenseType]?.word ?? String(value);
    case 'validFrom':
    case 'validUntil':
      return utcDate(String(value));
    case 'moduleIds':
      return (value as string[]).map(moduleLabel).join(', ') || '—';
    case 'maxActivations':
      return String(value);
  }
}
