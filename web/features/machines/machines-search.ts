import { getRouteApi } from '@tanstack/react-router';
import { machineStates, platforms } from '../../../contract/list-words.ts';
import { mostSkipped } from '../../../contract/most-skipped.ts';
import { daysParam, idParam, pageParam, searchOf, textParam, wordParam } from '../../search-params.ts';
import { useSearch } from '../../use-search.ts';

export const machinePages = { pageSize: 50, mostSkipped };

/** Search parameters of the list of machines: its filters, page and order. */
export const machinesSearch = searchOf((params) => ({
  search: textParam(params, 'search'),
  customer: idParam(params, 'customer'),
  platform: wordParam(params, 'platform', platforms),
  version: textParam(params, 'version', 100),
  state: wordParam(params, 'state', machineStates),
  /** Only machines that were seen within this number of days. */
  seen: daysParam(params, 'seen'),
  /** Only machines that were not seen for this number of days. */
  unseen: daysParam(params, 'unseen'),
  /** Id of the saved view that is open. */
  view: idParam(params, 'view'),
  sort: wordParam(params, 'sort', ['lastSeen']),
  page: pageParam(params, 'page', machinePages),
}));
export type MachinesSearch = ReturnType<typeof machinesSearch>;

const route = getRouteApi('/signed-in/machines');
export const useMachinesSearch = () => useSearch<MachinesSearch>(route, { typed: ['search', 'version'] });
