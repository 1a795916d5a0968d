import { getRouteApi } from '@tanstack/react-router';
import { idParam, oneOf, pageParam, textParam } from '../../search-params.ts';
import { useSearch } from '../../use-search.ts';

const dialogs = ['create', 'import'] as const;

/** Search parameters of the customer list: its filters, page and order, and the open dialog. */
export type CustomerListSearch = {
  search?: string | undefined;
  country?: string | undefined;
  /** Id of the saved view that is open. */
  view?: string | undefined;
  sort?: string | undefined;
  page?: number | undefined;
  dialog?: (typeof dialogs)[number] | undefined;
  /** Id of the customer whose Edit dialog is open. */
  edit?: string | undefined;
  /** Id of the customer whose update policy is open. */
  policy?: string | undefined;
  /** The tag whose update policy is open. */
  tag?: string | undefined;
};

export const customerListSearch = (params: Record<string, unknown>): CustomerListSearch => ({
  search: textParam(params, 'search'),
  country: textParam(params, 'country'),
  view: idParam(params, 'view'),
  sort: textParam(params, 'sort'),
  page: pageParam(params),
  dialog: oneOf(dialogs, textParam(params, 'dialog')),
  edit: idParam(params, 'edit'),
  policy: idParam(params, 'policy'),
  tag: textParam(params, 'tag'),
});

/** What a saved view of the list holds. */
export const customerView = { names: ['search', 'country', 'sort'], read: customerListSearch };

const route = getRouteApi('/signed-in/customers');
export const useCustomerSearch = () =>
  useSearch<CustomerListSearch>(route, { dialogs: ['dialog', 'edit', 'policy', 'tag'] });

export type CustomerTrashSearch = { search?: string | undefined; page?: number | undefined };

export const customerTrashSearch = (params: Record<string, unknown>): CustomerTrashSearch => ({
  search: textParam(params, 'search'),
  page: pageParam(params),
});
