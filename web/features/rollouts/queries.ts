import { keepPreviousData } from '@tanstack/react-query';
import type { RouteAnswer } from '../../../contract/route.ts';
import { rollouts } from '../../../contract/rollouts.ts';
import { urlOf } from '../../api.ts';
import { live } from '../../live.ts';
import { retryOnce } from '../../query-client.ts';
import { pageOf, queryOf } from '../../query-of.ts';
import { asPreviewed } from '../../role-preview.ts';
import type { ReleaseSearch } from './release-search.ts';

const followed = { ...live, retry: retryOnce };

/** Where a release stands. */
export const progressQuery = (releaseId: string) =>
  queryOf(rollouts.progress, { params: { releaseId } }, followed);

/** What was done to a release. */
export const historyQuery = (releaseId: string) =>
  queryOf(rollouts.history, { params: { releaseId } }, followed);

const permittedMachines = asPreviewed<RouteAnswer<typeof rollouts.machines>>(({ data, ...page }, reads) => ({
  ...page,
  data: reads('customers') ? data : data.map((machine) => ({ ...machine, customers: null })),
}));

/** A page of its machines. */
export const machinesQuery = (releaseId: string, { group, search, page }: ReleaseSearch, size: number) => ({
  ...queryOf(
    rollouts.machines,
    { params: { releaseId }, query: { group, search, ...pageOf(page, size) } },
    { ...followed, placeholderData: keepPreviousData },
  ),
  select: permittedMachines,
});

export const machinesCsvUrl = (releaseId: string, { group, search }: ReleaseSearch): string =>
  urlOf(rollouts.machinesCsv, { params: { releaseId }, query: { group, search } });
