import { getRouteApi } from '@tanstack/react-router';
import { effectOf } from '../../search-params.ts';
import type { ApiKeysSearch } from './api-keys-search.ts';

const route = getRouteApi('/signed-in/api-keys');
const names = { dialogs: ['dialog', 'key'] } as const;

/** What the address of the screen holds, and how to open and close its dialogs. */
export function useApiKeysSearch() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const open = (next: ApiKeysSearch) =>
    void navigate({ search: next, replace: effectOf(search, next, names).replace });
  const close = () => open({ dialog: undefined, key: undefined });
  return { search, open, close };
}
