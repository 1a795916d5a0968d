import { getRouteApi } from '@tanstack/react-router';
import type { UsersSearch } from './users-search.ts';

const route = getRouteApi('/signed-in/users');

/** What the address of User Management holds, and how to change parts of it. */
export function useUsersSearch() {
  const search = route.useSearch();
  const navigate = route.useNavigate();

  const change = (changes: UsersSearch) => {
    const ofDialog = 'dialog' in changes || 'edit' in changes;
    void navigate({
      search: (before) => ({ ...before, ...changes }),
      // Typing leaves no trail in the history, and Back does not open again what was closed.
      replace: 'search' in changes || (ofDialog && !changes.dialog && !changes.edit),
    });
  };
  return { search, change };
}
