import { getRouteApi } from '@tanstack/react-router';
import { effectOf } from '../../search-params.ts';
import type { UsersSearch } from './users-search.ts';

const route = getRouteApi('/signed-in/users');
const names = { dialogs: ['dialog', 'edit'] } as const;

/** What the address of User Management holds, and how to change parts of it. */
export function useUsersSearch() {
  const search = route.useSearch();
  const navigate = route.useNavigate();

  const change = (changes: UsersSearch) =>
    void navigate({
      search: (before) => ({ ...before, ...changes }),
      replace: effectOf(search, changes, names).replace,
    });
  return { search, change };
}
