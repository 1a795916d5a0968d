import { getRouteApi } from '@tanstack/react-router';
import { platforms } from '../../../contract/builds.ts';
import { machineStates, seenRanges } from '../../../contract/machine-standing.ts';
import { idParam, oneOf, pageParam, textParam } from '../../search-params.ts';
import { useSearch } from '../../use-search.ts';

/** Search parameters of the list of machines: its filters, page and order. */
export type MachinesSearch = {
  search?: string | undefined;
  customer?: string | undefined;
  platform?: (typeof platforms)[number] | undefined;
  version?: string | undefined;
  state?: (typeof machineStates)[number] | undefined;
  seen?: (typeof seenRanges)[number] | undefined;
  /** Id of the saved view that is open. */
  view?: string | undefined;
  sort?: 'lastSeen' | undefined;
  page?: number | undefined;
};

export const machinesSearch = (params: Record<string, unknown>): MachinesSearch => ({
  search: textParam(params, 'search'),
  customer: idParam(params, 'customer'),
  platform: oneOf(platforms, textParam(params, 'platform')),
  version: textParam(params, 'version'),
  state: oneOf(machineStates, textParam(params, 'state')),
  seen: oneOf(seenRanges, textParam(params, 'seen')),
  view: idParam(params, 'view'),
  sort: params['sort'] === 'lastSeen' ? 'lastSeen' : undefined,
  page: pageParam(params),
});

const route = getRouteApi('/signed-in/machines');
export const useMachinesSearch = () => useSearch<MachinesSearch>(route);

/** What a saved view of the list holds. */
export const machinesView = {
  names: ['search', 'customer', 'platform', 'version', 'state', 'seen', 'sort'],
  read: machinesSearch,
};
