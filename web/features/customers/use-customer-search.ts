import { getRouteApi } from '@tanstack/react-router';
import type { CustomerListSearch } from './customers-search.ts';

const route = getRouteApi('/signed-in/customers');

/** What the address of the list holds, and how to change parts of it. */
export function useCustomerSearch() {
  const search = route.useSearch();
  const navigate = route.useNavigate();

  /** Another filter or order starts at the first page again. */
  const change = (changes: CustomerListSearch) => {
    const staysOnPage = 'page' in changes || 'dialog' in changes || 'edit' in changes;
    const closesDialog = !changes.dialog && !changes.edit && ('dialog' in changes || 'edit' in changes);
    void navigate({
      search: (before) => ({ ...before, ...(staysOnPage ? {} : { page: undefined }), ...changes }),
      // Typing leaves no trail in the history, and Back does not open again what was closed.
      replace: 'search' in changes || closesDialog,
    });
  };
  return { search, change };
}
