import { differingFields, type Clash } from '../../edit-conflict.ts';

/** Fields of the role form that can conflict; the matrix is merged cell by cell. */
const fieldLabels = {
  description: 'Description',
  requiresSecondFactor: 'Requires a second factor',
} as const;

/** Labels of the fields of a role that two users changed. */
export const conflictRows = (clash: Clash) =>
  differingFields(clash, fieldLabels, (_field, value) =>
    typeof value === 'boolean' ? (value ? 'Yes' : 'No') : String(value),
  );
