import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { LicenseListSearch } from './licenses-search.ts';
import { licenseListQuery } from './queries.ts';

export type LicenseListResult = ReturnType<typeof useLicenseList>;

export const useLicenseList = (search: LicenseListSearch) => useQuery(licenseListQuery(search));

const freshFor = 10_000;

/** Loads what a person is about to ask for, so that it is there when they do. */
export function usePrefetch() {
  const queryClient = useQueryClient();
  return (search: LicenseListSearch) =>
    void queryClient.prefetchQuery({ ...licenseListQuery(search), staleTime: freshFor });
}
