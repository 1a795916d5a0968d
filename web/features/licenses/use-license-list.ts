import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useLicenseSearch, type LicenseListSearch } from './licenses-search.ts';
import { licenseListQuery } from './queries.ts';

/** The search parameters of the list, how to change them, and the page of licenses that they select. */
export function useLicenseList() {
  const { search, change } = useLicenseSearch();
  return { search, change, list: useQuery(licenseListQuery(search)) };
}

const freshFor = 10_000;

/** Prefetches a list that the user is about to open. */
export function usePrefetch() {
  const queryClient = useQueryClient();
  return (search: LicenseListSearch) =>
    void queryClient.prefetchQuery({ ...licenseListQuery(search), staleTime: freshFor });
}
