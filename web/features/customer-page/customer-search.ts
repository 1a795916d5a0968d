import { getRouteApi } from '@tanstack/react-router';
import { idParam, pageParam, textParam } from '../../search-params.ts';
import { useSearch } from '../../use-search.ts';

/** Search parameters of the page of a customer: the list of its machines, and the open dialog. */
export type CustomerSearch = {
  /** Part of a host name or machine id. */
  search?: string | undefined;
  /** Of the machines. */
  page?: number | undefined;
  dialog?: 'edit' | 'policy' | 'license' | undefined;
  /** The tag whose update policy is open. */
  tag?: string | undefined;
  /** Id of the license whose dialog is open. */
  license?: string | undefined;
  /** Key of the license whose activations are open. */
  activations?: string | undefined;
};

export const customerSearch = (params: Record<string, unknown>): CustomerSearch => ({
  search: textParam(params, 'search'),
  page: pageParam(params),
  dialog: (['edit', 'policy', 'license'] as const).find((one) => one === params['dialog']),
  tag: textParam(params, 'tag'),
  license: idParam(params, 'license'),
  activations: textParam(params, 'activations'),
});

export const route = getRouteApi('/signed-in/customers/$customerId');
export const useCustomerSearch = () =>
  useSearch<CustomerSearch>(route, { dialogs: ['dialog', 'tag', 'license', 'activations'] });
