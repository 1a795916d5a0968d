import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { effectOf } from '../../search-params.ts';
import type { LicenseListSearch } from './licenses-search.ts';
import { licenseListQuery } from './queries.ts';

const route = getRouteApi('/signed-in/licenses');

export type ChangeSearch = (changes: LicenseListSearch, options?: { replace: boolean }) => void;
export type LicenseListResult = ReturnType<typeof useLicenseList>;

export const useLicenseList = (search: LicenseListSearch) => useQuery(licenseListQuery(search));

const names = { dialogs: ['dialog', 'edit', 'activations'] } as const;

/** Changes parts of the address. Another tab, filter or order starts at the first page again. */
export function useChangeSearch(): ChangeSearch {
  const now = route.useSearch();
  const navigate = route.useNavigate();
  return (changes, { replace } = { replace: false }) => {
    const effect = effectOf(now, changes, names);
    void navigate({
      search: (before) => ({ ...before, ...(effect.staysOnPage ? {} : { page: undefined }), ...changes }),
      replace: replace || effect.replace,
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
