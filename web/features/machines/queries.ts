import { queryOptions } from '@tanstack/react-query';
import { credentials } from '../../../contract/credentials.ts';
import { machines } from '../../../contract/machines.ts';
import { call, callList } from '../../api.ts';
import { live } from '../../live.ts';
import { shouldRetry } from '../../query-client.ts';

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

/** The first few machines that match `text`. */
export const findMachines = (text: string, limit: number, signal: AbortSignal) =>
  callList(machines.list, { query: { search: text, limit: String(limit) } }, { signal });

export const endEnrollment = (activationId: string) => call(credentials.end, { params: { activationId } });
