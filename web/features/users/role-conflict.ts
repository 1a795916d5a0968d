import { roleLabels } from '../../field-labels.ts';
import { differingFields, type Clash } from '../../edit-conflict.ts';

/** Labels of the fields of a role that two users changed. */
export const conflictRows = (clash: Clash) =>
  differingFields(clash, roleLabels, (_field, value) =>
    typeof value === 'boolean' ? (value ? 'Yes' : 'No') : String(value),
  );
