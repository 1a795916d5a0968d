import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { LicenseListSearch } from './licenses-search.ts';
import { licenseListQuery } from './queries.ts';

export type LicenseListResult = ReturnType<typeof useLicenseList>;

export const useLicenseList = (search: LicenseListSearch) => useQuery(licenseListQuery(search));

const freshFor = 10_000;

/** Prefetches a list that the user is about to open. */
export function usePrefetch() {
  const queryClient = useQueryClient();
  return (search: LicenseListSearch) =>
    void queryClient.prefetchQuery({ ...licenseListQuery(search), staleTime: freshFor });
}
