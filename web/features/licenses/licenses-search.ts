import { getRouteApi } from '@tanstack/react-router';
import { licenseAttentions, licenseTabs, licenseTypes, seatFilters } from '../../../contract/list-words.ts';
import {
  daysParam,
  idParam,
  pageParam,
  recordParam,
  searchOf,
  textParam,
  wordParam,
} from '../../search-params.ts';
import { useSearch } from '../../use-search.ts';

/** Search parameters of the license list: tab, filters, page and order, and the open dialog. */
export const licenseListSearch = searchOf((params) => ({
  tab: wordParam(params, 'tab', licenseTabs),
  search: textParam(params, 'search'),
  type: wordParam(params, 'type', licenseTypes),
  /** Id of a customer. */
  customer: idParam(params, 'customer'),
  /** Only licenses that expire within this number of days. */
  expiring: wordParam(params, 'expiring', ['30']),
  /** Only licenses that need somebody for this reason. */
  attention: wordParam(params, 'attention', licenseAttentions),
  seats: wordParam(params, 'seats', seatFilters),
  /** Only licenses that no machine used for this number of days. */
  unseen: daysParam(params, 'unseen'),
  /** Id of the saved view that is open. */
  view: idParam(params, 'view'),
  sort: textParam(params, 'sort'),
  page: pageParam(params),
  dialog: wordParam(params, 'dialog', ['create', 'import']),
  /** Id of the license whose dialog is open. */
  edit: recordParam(params, 'edit'),
  /** Key of the license whose activations are open. */
  activations: recordParam(params, 'activations'),
}));
export type LicenseListSearch = ReturnType<typeof licenseListSearch>;

/** Search parameters of the page of a license: the open dialog. */
export const licensePageSearch = searchOf((params) => ({
  dialog: wordParam(params, 'dialog', ['edit', 'activations']),
}));
export type LicensePageSearch = ReturnType<typeof licensePageSearch>;

const route = getRouteApi('/signed-in/licenses');
export const useLicenseSearch = () =>
  useSearch<LicenseListSearch>(route, { dialogs: ['dialog', 'edit', 'activations'] });
