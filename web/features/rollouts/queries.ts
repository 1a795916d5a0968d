import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { rollouts } from '../../../contract/rollouts.ts';
import { call, callList, urlOf } from '../../api.ts';
import { live } from '../../live.ts';
import { shouldRetry } from '../../query-client.ts';
import type { ReleaseSearch } from './release-search.ts';

export const machinesPerPage = 50;

const ofRelease = (releaseId: string) => ({
  ...live,
  retry: (failures: number, error: unknown) => failures < 1 && shouldRetry(failures, error),
  queryKey: ['rollouts', releaseId],
});

/** Where a release stands. */
export const progressQuery = (releaseId: string) => {
  const { queryKey, ...options } = ofRelease(releaseId);
  return queryOptions({
    ...options,
    queryKey: [...queryKey, 'progress'],
    queryFn: ({ signal }) => call(rollouts.progress, { params: { releaseId } }, { signal }),
  });
};

/** What was done to a release. */
export const historyQuery = (releaseId: string) => {
  const { queryKey, ...options } = ofRelease(releaseId);
  return queryOptions({
    ...options,
    queryKey: [...queryKey, 'history'],
    queryFn: ({ signal }) => call(rollouts.history, { params: { releaseId } }, { signal }),
  });
};

/** A page of its machines. */
export const machinesQuery = (releaseId: string, { group, search, page = 1 }: ReleaseSearch) => {
  const { queryKey, ...options } = ofRelease(releaseId);
  const offset = String((page - 1) * machinesPerPage);
  const query = { group, search, limit: String(machinesPerPage), offset };
  return queryOptions({
    ...options,
    queryKey: [...queryKey, 'machines', query],
    queryFn: ({ signal }) => callList(rollouts.machines, { params: { releaseId }, query }, { signal }),
    placeholderData: keepPreviousData,
  });
};

export const machinesCsvUrl = (releaseId: string, { group, search }: ReleaseSearch): string =>
  urlOf(rollouts.machinesCsv, { params: { releaseId }, query: { group, search } });
