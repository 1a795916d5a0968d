import { getRouteApi } from '@tanstack/react-router';
import { idParam, pageParam, recordParam, searchOf, textParam, wordParam } from '../../search-params.ts';
import { useSearch } from '../../use-search.ts';

/** Search parameters of the customer list: its filters, page and order, and the open dialog. */
export const customerListSearch = searchOf((params) => ({
  search: textParam(params, 'search'),
  country: textParam(params, 'country'),
  /** Id of the saved view that is open. */
  view: idParam(params, 'view'),
  sort: textParam(params, 'sort'),
  page: pageParam(params),
  dialog: wordParam(params, 'dialog', ['create', 'import']),
  /** Id of the customer whose Edit dialog is open. */
  edit: recordParam(params, 'edit'),
  /** Id of the customer whose update policy is open. */
  policy: recordParam(params, 'policy'),
  /** The tag whose update policy is open. */
  tag: recordParam(params, 'tag'),
}));
export type CustomerListSearch = ReturnType<typeof customerListSearch>;

const route = getRouteApi('/signed-in/customers');
export const useCustomerListSearch = () =>
  useSearch<CustomerListSearch>(route, { dialogs: ['dialog', 'edit', 'policy', 'tag'] });

export const customerTrashSearch = searchOf((params) => ({
  search: textParam(params, 'search'),
  page: pageParam(params),
}));
export type CustomerTrashSearch = ReturnType<typeof customerTrashSearch>;
