import { roleLabel } from '../../../contract/permissions.ts';
import { userStatuses } from '../../../contract/list-words.ts';
import { FilterSelect } from '../../ui/FilterSelect.tsx';
import { useRoles } from './use-roles.ts';
import { statusLabels } from './user-filters.ts';
import { useUsersSearch } from './users-search.ts';

const statuses = userStatuses.map((value) => ({ value, label: statusLabels[value] }));

/** Filters by role and status. */
export function UserFilters() {
  const { search, change } = useUsersSearch();
  const roles = useRoles();
  return (
    <>
      <FilterSelect
        w={160}
        aria-label="Role"
        placeholder="All roles"
        choices={roles.map(({ roleId }) => ({ value: roleId, label: roleLabel(roleId) }))}
        value={search.role}
        onChange={(role) => change({ role })}
      />
      <FilterSelect
        w={120}
        aria-label="Status"
        placeholder="All statuses"
        choices={statuses}
        value={search.status}
        onChange={(status) => change({ status })}
      />
    </>
  );
}
