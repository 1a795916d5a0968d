import type { Permission } from '../../../contract/permissions.ts';
import type { ApiError } from '../../api-error.ts';
import type { ConflictRow } from '../../ui/ConflictDialog.tsx';
import { cellLabel, cellOf, cellsOf } from './role-form.ts';

/** The fields in which two edits of one role differ, as a person reads them; of the matrix, only cells that differ. */
export const conflictRows = (conflict: ApiError): ConflictRow[] =>
  conflict.details.flatMap(({ path, current, yours }) => {
    switch (path) {
      case 'description':
        return [{ field: 'Description', theirs: String(current), yours: String(yours) }];
      case 'requiresSecondFactor':
        return [
          {
            field: 'Requires a second factor',
            theirs: current ? 'Yes' : 'No',
            yours: yours ? 'Yes' : 'No',
          },
        ];
      case 'permissions':
        return cellRows(current as Permission[], yours as Permission[]);
      default:
        return [];
    }
  });

function cellRows(current: Permission[], yours: Permission[]): ConflictRow[] {
  const [theirs, mine] = [cellsOf(current), cellsOf(yours)];
  const word = (allowed: boolean) => (allowed ? 'Allowed' : 'Not allowed');
  return [...current, ...yours.filter((permission) => !has(theirs, permission))]
    .filter((permission) => has(theirs, permission) !== has(mine, permission))
    .map((permission) => ({
      field: cellLabel(permission),
      theirs: word(has(theirs, permission)),
      yours: word(has(mine, permission)),
    }));
}

const has = (cells: ReadonlySet<string>, { resource, action }: Permission) =>
  cells.has(cellOf(resource, action));
