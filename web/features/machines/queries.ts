import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query';
import { credentials } from '../../../contract/credentials.ts';
import { machineStandings } from '../../../contract/machine-standing.ts';
import { machines } from '../../../contract/machines.ts';
import { call, callList, urlOf } from '../../api.ts';
import { live } from '../../live.ts';
import { shouldRetry } from '../../query-client.ts';
import type { MachinesSearch } from './machines-search.ts';

const retryOnce = (failures: number, error: unknown) => failures < 1 && shouldRetry(failures, error);

const loadMachine = (id: string, signal: AbortSignal) => call(machines.get, { params: { id } }, { signal });
export type MachineDetail = Awaited<ReturnType<typeof loadMachine>>;
export type MachineActivation = MachineDetail['activations'][number];

/** One machine by its display id or hash, refetched so that its next event appears. */
export const machineQuery = (id: string) =>
  queryOptions({
    ...live,
    queryKey: ['machines', 'one', id],
    queryFn: ({ signal }) => loadMachine(id, signal),
    retry: retryOnce,
  });

/** For each release, why this machine is or is not offered it. */
export const machineOffersQuery = (id: string) =>
  queryOptions({
    ...live,
    queryKey: ['machines', 'offers', id],
    queryFn: ({ signal }) => call(machines.explain, { params: { id } }, { signal }),
    retry: retryOnce,
  });

export const machinesPerPage = 50;

const filterOf = ({ search, customer, platform, version, state, seen, sort }: MachinesSearch) => ({
  search,
  customerId: customer,
  platform,
  version,
  state,
  seen,
  sort,
});

/** A page of all machines. */
export const machinesListQuery = ({ page = 1, ...search }: MachinesSearch) => {
  const offset = String((page - 1) * machinesPerPage);
  const query = { ...filterOf(search), limit: String(machinesPerPage), offset };
  return queryOptions({
    ...live,
    queryKey: ['machines', 'list', query],
    queryFn: ({ signal }) => callList(machineStandings.list, { query }, { signal }),
    placeholderData: keepPreviousData,
  });
};

export const machinesExportUrl = (search: MachinesSearch): string =>
  urlOf(machineStandings.exportCsv, { query: filterOf(search) });

/** Where a machine stands: its license and seat, and since when it is refused. */
export const standingQuery = (id: string) =>
  queryOptions({
    ...live,
    queryKey: ['machines', 'standing', id],
    queryFn: ({ signal }) => call(machineStandings.get, { params: { id } }, { signal }),
    retry: retryOnce,
  });

/** What a machine did, page by page, the latest first. */
export const timelineQuery = (id: string) =>
  infiniteQueryOptions({
    queryKey: ['machines', 'timeline', id],
    queryFn: ({ signal, pageParam }) =>
      callList(
        machineStandings.timeline,
        { params: { id }, query: pageParam === null ? {} : { before: pageParam } },
        { signal },
      ),
    initialPageParam: null as string | null,
    getNextPageParam: ({ meta }) => meta.next,
    retry: retryOnce,
  });

/** The first few machines that match all words of `text`. */
export const findMachines = (text: string, limit: number, signal: AbortSignal) =>
  callList(machineStandings.list, { query: { search: text, limit: String(limit) } }, { signal });

export const endEnrollment = (activationId: string) => call(credentials.end, { params: { activationId } });
