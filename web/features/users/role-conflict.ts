import { differingFields, type Clash } from '../../edit-conflict.ts';

/** Fields of the role form that two people can change differently; the matrix is merged cell by cell. */
const fieldLabels = {
  description: 'Description',
  requiresSecondFactor: 'Requires a second factor',
} as const;

/** The fields of a role that two people changed, as a person reads them. */
export const conflictRows = (clash: Clash) =>
  differingFields(clash, fieldLabels, (_field, value) =>
    typeof value === 'boolean' ? (value ? 'Yes' : 'No') : String(value),
  );
