import { getRouteApi } from '@tanstack/react-router';
import { effectOf } from '../../search-params.ts';
import type { CustomerListSearch } from './customers-search.ts';

const route = getRouteApi('/signed-in/customers');
const names = { dialogs: ['dialog', 'edit'] } as const;

/** What the address of the list holds, and how to change parts of it. */
export function useCustomerSearch() {
  const search = route.useSearch();
  const navigate = route.useNavigate();

  /** Another filter or order starts at the first page again. */
  const change = (changes: CustomerListSearch, { replace = false } = {}) => {
    const effect = effectOf(search, changes, names);
    void navigate({
      search: (before) => ({ ...before, ...(effect.staysOnPage ? {} : { page: undefined }), ...changes }),
      replace: replace || effect.replace,
    });
  };
  return { search, change };
}
