import { getRouteApi } from '@tanstack/react-router';
import { effectOf } from '../../search-params.ts';
import type { ReleasesSearch } from './releases-search.ts';

const route = getRouteApi('/signed-in/releases');
const names = { dialogs: ['dialog', 'upload', 'edit'] } as const;

/** What the address of the list holds, and how to change parts of it. */
export function useReleasesSearch() {
  const search = route.useSearch();
  const navigate = route.useNavigate();

  /** Another filter starts at the first page again. */
  const change = (changes: ReleasesSearch, { replace = false } = {}) => {
    const effect = effectOf(search, changes, names);
    const staysOnPage = effect.staysOnPage || 'tab' in changes;
    void navigate({
      search: (before) => ({ ...before, ...(staysOnPage ? {} : { page: undefined }), ...changes }),
      replace: replace || effect.replace,
    });
  };
  return { search, change };
}
