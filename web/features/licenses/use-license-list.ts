import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { LicenseListSearch } from './licenses-search.ts';
import { licenseListQuery } from './licenses.ts';

const route = getRouteApi('/signed-in/licenses');

export type ChangeSearch = (changes: LicenseListSearch) => void;
export type LicenseListResult = ReturnType<typeof useLicenseList>;

export const useLicenseList = (search: LicenseListSearch) => useQuery(licenseListQuery(search));

const dialogs = ['dialog', 'edit', 'activations'];

/** Changes parts of the address. Another tab, filter or order starts at the first page again. */
export function useChangeSearch(): ChangeSearch {
  const navigate = route.useNavigate();
  return (changes) => {
    const staysOnPage = 'page' in changes || dialogs.some((name) => name in changes);
    const page = staysOnPage ? {} : { page: undefined };
    void navigate({
      search: (before) => ({ ...before, ...page, ...changes }),
      replace: 'search' in changes,
    });
  };
}

const freshFor = 10_000;

/** Loads what a person is about to ask for, so that it is there when they do. */
export function usePrefetch() {
  const queryClient = useQueryClient();
  return (search: LicenseListSearch) =>
    void queryClient.prefetchQuery({ ...licenseListQuery(search), staleTime: freshFor });
}
