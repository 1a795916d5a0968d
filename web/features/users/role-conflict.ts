import { roleLabels } from '../../field-labels.ts';
import { differingFields, type Clash } from '../../edit-conflict.ts';

/** Fields of the role form that can conflict; the matrix is merged cell by cell. */
/** Labels of the fields of a role that two users changed. */
export const conflictRows = (clash: Clash) =>
  differingFields(clash, roleLabels, (_field, value) =>
    typeof value === 'boolean' ? (value ? 'Yes' : 'No') : String(value),
  );
