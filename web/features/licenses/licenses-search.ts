import { getRouteApi } from '@tanstack/react-router';
import type { SeatFilter } from '../../../contract/licenses.ts';
import { idParam, oneOf, pageParam, textParam } from '../../search-params.ts';
import { useSearch, type ChangeSearch } from '../../use-search.ts';

const dialogs = ['create', 'import'] as const;
export const unseenDays = ['7', '30', '90', '365'] as const;
// not those of the contract, which would bring the calls about licenses to the sign-in screen
const seats = ['full', 'high', 'empty'] as const satisfies readonly SeatFilter[];

/** Search parameters of the license list: tab, filters, page and order, and the open dialog. */
export type LicenseListSearch = {
  tab?: string | undefined;
  search?: string | undefined;
  type?: string | undefined;
  /** Id of a customer. */
  customer?: string | undefined;
  /** Only licenses that expire within this number of days. */
  expiring?: '30' | undefined;
  /** Only licenses that need somebody for this reason. */
  attention?: string | undefined;
  seats?: SeatFilter | undefined;
  /** Only licenses that no machine used for this number of days. */
  unseen?: (typeof unseenDays)[number] | undefined;
  /** Id of the saved view that is open. */
  view?: string | undefined;
  sort?: string | undefined;
  page?: number | undefined;
  dialog?: (typeof dialogs)[number] | undefined;
  /** Id of the license whose dialog is open. */
  edit?: string | undefined;
  /** Key of the license whose activations are open. */
  activations?: string | undefined;
};

export const licenseListSearch = (params: Record<string, unknown>): LicenseListSearch => ({
  tab: textParam(params, 'tab'),
  search: textParam(params, 'search'),
  type: textParam(params, 'type'),
  customer: idParam(params, 'customer'),
  expiring: textParam(params, 'expiring') === '30' ? '30' : undefined,
  attention: textParam(params, 'attention'),
  seats: oneOf(seats, textParam(params, 'seats')),
  unseen: oneOf(unseenDays, textParam(params, 'unseen')),
  view: idParam(params, 'view'),
  sort: textParam(params, 'sort'),
  page: pageParam(params),
  dialog: oneOf(dialogs, textParam(params, 'dialog')),
  edit: idParam(params, 'edit'),
  activations: textParam(params, 'activations'),
});

/** Search parameters of the page of a license: the open dialog. */
export type LicensePageSearch = { dialog?: 'edit' | 'activations' | undefined };

export const licensePageSearch = (params: Record<string, unknown>): LicensePageSearch => ({
  dialog: oneOf(['edit', 'activations'] as const, textParam(params, 'dialog')),
});

export type ChangeLicenseSearch = ChangeSearch<LicenseListSearch>;

const route = getRouteApi('/signed-in/licenses');
export const useLicenseSearch = () =>
  useSearch<LicenseListSearch>(route, { dialogs: ['dialog', 'edit', 'activations'] });

/** What a saved view of the list holds. */
export const licenseView = {
  names: ['tab', 'search', 'type', 'customer', 'expiring', 'attention', 'seats', 'unseen', 'sort'],
  read: licenseListSearch,
};
