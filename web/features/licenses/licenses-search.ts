import { getRouteApi } from '@tanstack/react-router';
import {
  daysParam,
  idParam,
  oneOf,
  pageParam,
  recordParam,
  searchOf,
  textParam,
} from '../../search-params.ts';
import { useSearch } from '../../use-search.ts';

/** Search parameters of the license list: tab, filters, page and order, and the open dialog. */
export const licenseListSearch = searchOf((params) => ({
  tab: textParam(params, 'tab'),
  search: textParam(params, 'search'),
  type: textParam(params, 'type'),
  /** Id of a customer. */
  customer: idParam(params, 'customer'),
  /** Only licenses that expire within this number of days. */
  expiring: oneOf(['30'], textParam(params, 'expiring')),
  /** Only licenses that need somebody for this reason. */
  attention: textParam(params, 'attention'),
  seats: textParam(params, 'seats'),
  /** Only licenses that no machine used for this number of days. */
  unseen: daysParam(params, 'unseen'),
  /** Id of the saved view that is open. */
  view: idParam(params, 'view'),
  sort: textParam(params, 'sort'),
  page: pageParam(params),
  dialog: oneOf(['create', 'import'], textParam(params, 'dialog')),
  /** Id of the license whose dialog is open. */
  edit: recordParam(params, 'edit'),
  /** Key of the license whose activations are open. */
  activations: recordParam(params, 'activations'),
}));
export type LicenseListSearch = ReturnType<typeof licenseListSearch>;

/** Search parameters of the page of a license: the open dialog. */
export const licensePageSearch = searchOf((params) => ({
  dialog: oneOf(['edit', 'activations'], textParam(params, 'dialog')),
}));
export type LicensePageSearch = ReturnType<typeof licensePageSearch>;

const route = getRouteApi('/signed-in/licenses');
export const useLicenseSearch = () =>
  useSearch<LicenseListSearch>(route, { dialogs: ['dialog', 'edit', 'activations'] });
