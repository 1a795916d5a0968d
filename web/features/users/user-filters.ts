import { roleLabel } from '../../../contract/permissions.ts';
import { userStatuses, type User } from '../../../contract/users.ts';
import { oneOf } from '../../search-params.ts';
import { chipsOf, without } from '../../ui/filter-chips.ts';
import { usersSearch, type UsersSearch } from './users-search.ts';

export const noFilters: UsersSearch = without(['role', 'status']);

export const statusLabels = { active: 'Active', inactive: 'Inactive' };

export const statusOf = (search: UsersSearch) => oneOf(userStatuses, search.status);

/** What a saved view of the list holds. */
export const usersView = {
  names: ['search', 'role', 'status'],
  read(params: Record<string, unknown>) {
    const search = usersSearch(params);
    return { ...search, status: statusOf(search) };
  },
};

/** The filters that are set. */
export function userChips(search: UsersSearch) {
  const { role } = search;
  const status = statusOf(search);
  return chipsOf({
    role: role && `Role: ${roleLabel(role)}`,
    status: status && `Status: ${statusLabels[status]}`,
  });
}

/** Whether a user matches the filters; the service searches, and answers with all of them. */
export const isFound = (search: UsersSearch) => {
  const { role } = search;
  const status = statusOf(search);
  return (user: User): boolean => (!role || user.roles.includes(role)) && (!status || user.status === status);
};
