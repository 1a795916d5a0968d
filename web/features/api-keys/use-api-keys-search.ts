import { getRouteApi } from '@tanstack/react-router';
import type { ApiKeysSearch } from './api-keys-search.ts';

const route = getRouteApi('/signed-in/api-keys');

/** What the address of the screen holds, and how to open and close its dialogs. */
export function useApiKeysSearch() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const open = (dialog: ApiKeysSearch) => void navigate({ search: dialog });
  // Back does not open again what was closed.
  const close = () => void navigate({ search: {}, replace: true });
  return { search, open, close };
}
