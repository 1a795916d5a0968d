import { queryOptions } from '@tanstack/react-query';
import { machines } from '../../../contract/machines.ts';
import { call, callList } from '../../api.ts';
import { shouldRetry } from '../../query-client.ts';

/** Main module of the feature: what the console asks the service about client machines. */

const retryOnce = (failures: number, error: unknown) => failures < 1 && shouldRetry(failures, error);

const loadMachine = (id: string, signal: AbortSignal) => call(machines.get, { params: { id } }, { signal });
export type MachineDetail = Awaited<ReturnType<typeof loadMachine>>;

/** One machine by its display id or hash, as it is now: whoever looks at it waits for its next event. */
export const machineQuery = (id: string) =>
  queryOptions({
    queryKey: ['machines', 'one', id],
    queryFn: ({ signal }) => loadMachine(id, signal),
    retry: retryOnce,
  });

/** For each release, why this machine is or is not offered it. */
export const machineOffersQuery = (id: string) =>
  queryOptions({
    queryKey: ['machines', 'offers', id],
    queryFn: ({ signal }) => call(machines.explain, { params: { id } }, { signal }),
    retry: retryOnce,
  });

export const machineFindQuery = (search: string, limit: number) => {
  const query = { search, limit: String(limit) };
  return queryOptions({
    queryKey: ['machines', 'find', query],
    queryFn: ({ signal }) => callList(machines.list, { query }, { signal }),
  });
};
