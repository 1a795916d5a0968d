import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { isCountryCode } from '../../../contract/countries.ts';
import { customers, customerSorts, type Customer } from '../../../contract/customers.ts';
import type { RouteRequest } from '../../../contract/route.ts';
import { call, urlOf } from '../../api.ts';
import { alwaysFresh, askedOnce } from '../../query-client.ts';
import { oneOf } from '../../search-params.ts';
import { pageOf, queryOf } from '../../query-of.ts';
import { customerListSearch, type CustomerListSearch, type CustomerTrashSearch } from './customers-search.ts';

export const pageSize = 50;

export const countryOf = ({ country }: CustomerListSearch) =>
  country && isCountryCode(country) ? country : undefined;

/** What a saved view of the list holds. */
export const customerView = {
  names: ['search', 'country', 'sort'],
  read(params: Record<string, unknown>) {
    const search = customerListSearch(params);
    return { ...search, country: countryOf(search), sort: oneOf(customerSorts, search.sort) };
  },
};

/** The search parameters that the service filters and sorts by. */
function filterOf(search: CustomerListSearch) {
  return {
    search: search.search,
    country: countryOf(search),
    sort: oneOf(customerSorts, search.sort) ?? 'name',
  };
}

/** A page of the list. Not retried automatically: the screen offers Retry (spec part 1, section 9). */
export const customerListQuery = (search: CustomerListSearch) =>
  queryOf(
    customers.list,
    { query: { ...filterOf(search), ...pageOf(search.page, pageSize) } },
    { retry: false, placeholderData: keepPreviousData },
  );

export const customerExportUrl = (search: CustomerListSearch): string =>
  urlOf(customers.exportCsv, { query: filterOf(search) });

export const customerTrashQuery = ({ search, page }: CustomerTrashSearch) =>
  queryOf(
    customers.trash,
    { query: { search, ...pageOf(page, pageSize) } },
    { placeholderData: keepPreviousData },
  );

/** One customer, soft-deleted or not: always refetched, since its `updatedAt` decides whether an edit may be saved. */
export const customerQuery = (id: string) =>
  queryOptions({
    queryKey: ['customers', 'one', id],
    queryFn: ({ signal }) =>
      call(customers.get, { ...withId(id), query: { includeDeleted: 'true' } }, { signal }),
    ...alwaysFresh,
  });

const choicesShown = 50;

/** Options of a customer select, by part of their name or email. */
export const customerChoicesQuery = (search: string) =>
  queryOf(
    customers.list,
    { query: { search, sort: 'name', limit: String(choicesShown) } },
    { placeholderData: keepPreviousData },
  );

/** The first few customers that match `text`. */
export const findCustomers = (text: string, limit: number, signal: AbortSignal) =>
  call(customers.list, { query: { search: text, sort: 'name', limit: String(limit) } }, { signal });

/** What depends on customers: their licenses, and the machines that a deletion refuses. */
export const customerImpactQuery = (ids: readonly string[]) =>
  queryOf(customers.impact, { query: { ids: ids.join(',') } }, askedOnce);

export type CustomerPayload = RouteRequest<typeof customers.create>['body'];
type Update = RouteRequest<typeof customers.update>['body'];

export const createCustomer = (body: CustomerPayload) => call(customers.create, { body });
export const updateCustomer = (id: string, body: Update) => call(customers.update, { ...withId(id), body });
type Shown = Pick<Customer, 'customerId' | 'updatedAt'>;
/** The customer as it was shown: a colleague may have made another one of it. */
export const softDeleteCustomer = ({ customerId, updatedAt }: Shown, form?: object) =>
  call(customers.softDelete, { ...withId(customerId), query: { updatedAt } }, { form });
/** The customer as it was shown, or as its deletion returned it. */
export const restoreCustomer = ({ customerId, updatedAt }: Shown, form?: object) =>
  call(customers.restore, { ...withId(customerId), query: { updatedAt } }, { form });
/** `updatedAt`: of the check. */
export const hardDeleteCustomer = (id: string, updatedAt: string) =>
  call(customers.hardDelete, { ...withId(id), query: { updatedAt } });
export const checkCustomerDeletable = (id: string) => call(customers.checkDeletable, withId(id));

function withId(id: string) {
  if (!id) throw new Error('Customer ID is required');
  return { params: { id } };
}
