import { roleLabel } from '../../../contract/permissions.ts';
import type { User } from '../../../contract/users.ts';
import { chipsOf } from '../../ui/filter-chips.ts';
import { usersSearch, type UsersSearch } from './users-search.ts';

export const statusLabels = { active: 'Active', inactive: 'Inactive' };

/** What a saved view of the list holds. */
export const usersView = { names: ['search', 'role', 'status'], read: usersSearch };

/** The filters that are set. */
export const userChips = ({ role, status }: UsersSearch) =>
  chipsOf({
    role: role && `Role: ${roleLabel(role)}`,
    status: status && `Status: ${statusLabels[status]}`,
  });

/** Whether a user matches the filters; the service searches, and answers with all of them. */
export const isFound =
  ({ role, status }: UsersSearch) =>
  (user: User): boolean =>
    (!role || user.roles.includes(role)) && (!status || user.status === status);
