import { getRouteApi } from '@tanstack/react-router';
import { platforms } from '../../../contract/builds.ts';
import { mostSkipped } from '../../../contract/most-skipped.ts';
import { daysParam, idParam, oneOf, pageParam, searchOf, textParam } from '../../search-params.ts';
import { useSearch } from '../../use-search.ts';

export const machinePages = { pageSize: 50, mostSkipped };

/** Search parameters of the list of machines: its filters, page and order. */
export const machinesSearch = searchOf((params) => ({
  search: textParam(params, 'search'),
  customer: idParam(params, 'customer'),
  platform: oneOf(platforms, textParam(params, 'platform')),
  version: textParam(params, 'version', 100),
  state: textParam(params, 'state'),
  /** Only machines that were seen within this number of days. */
  seen: daysParam(params, 'seen'),
  /** Only machines that were not seen for this number of days. */
  unseen: daysParam(params, 'unseen'),
  /** Id of the saved view that is open. */
  view: idParam(params, 'view'),
  sort: oneOf(['lastSeen'], textParam(params, 'sort')),
  page: pageParam(params, 'page', machinePages),
}));
export type MachinesSearch = ReturnType<typeof machinesSearch>;

const route = getRouteApi('/signed-in/machines');
export const useMachinesSearch = () => useSearch<MachinesSearch>(route, { typed: ['search', 'version'] });
