import { getRouteApi } from '@tanstack/react-router';
import { mostSkippedOfCustomer } from '../../../contract/most-skipped.ts';
import { pageParam, recordParam, searchOf, textParam, wordParam } from '../../search-params.ts';
import { useSearch } from '../../use-search.ts';

export const machinePages = { pageSize: 10, mostSkipped: mostSkippedOfCustomer };

/** Search parameters of the page of a customer: its lists, and the open dialog. */
export const customerSearch = searchOf((params) => ({
  /** Part of a host name or machine id. */
  search: textParam(params, 'search'),
  /** Page of the machines. */
  page: pageParam(params, 'page', machinePages),
  /** Order of the licenses. */
  sort: textParam(params, 'sort'),
  /** Page of the licenses. */
  licenses: pageParam(params, 'licenses'),
  dialog: wordParam(params, 'dialog', ['edit', 'policy', 'license']),
  /** The tag whose update policy is open. */
  tag: recordParam(params, 'tag'),
  /** Id of the license whose dialog is open. */
  license: recordParam(params, 'license'),
  /** Key of the license whose activations are open. */
  activations: recordParam(params, 'activations'),
}));
export type CustomerSearch = ReturnType<typeof customerSearch>;

export const route = getRouteApi('/signed-in/customers/$customerId');
export const useCustomerSearch = () =>
  useSearch<CustomerSearch>(route, {
    dialogs: ['dialog', 'tag', 'license', 'activations'],
    // the list of machines stays where it is
    tabs: ['sort', 'licenses'],
    inRecord: true,
  });
