import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query';
import { customerPage } from '../../../contract/customer-page.ts';
import { call, callList, urlOf } from '../../api.ts';
import { live } from '../../live.ts';
import type { CustomerSearch } from './customer-search.ts';

const at = (id: string) => ({ params: { id } });

export const overviewQuery = (customerId: string) =>
  queryOptions({
    ...live,
    queryKey: ['customer page', customerId, 'overview'],
    queryFn: ({ signal }) => call(customerPage.overview, at(customerId), { signal }),
  });

export const machinesPerPage = 10;

export const machinesQuery = (customerId: string, { search, page = 1 }: CustomerSearch) => {
  const offset = String((page - 1) * machinesPerPage);
  const query = { search, limit: String(machinesPerPage), offset };
  return queryOptions({
    ...live,
    queryKey: ['customer page', customerId, 'machines', query],
    queryFn: ({ signal }) => callList(customerPage.machines, { ...at(customerId), query }, { signal }),
    placeholderData: keepPreviousData,
  });
};

const entriesPerPage = '10';

/** The timeline, page after page. */
export const timelineQuery = (customerId: string) =>
  infiniteQueryOptions({
    queryKey: ['customer page', customerId, 'timeline'],
    queryFn: ({ signal, pageParam }) =>
      call(
        customerPage.timeline,
        { ...at(customerId), query: { limit: entriesPerPage, after: pageParam } },
        { signal },
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next ?? undefined,
  });

export const exportUrl = (customerId: string): string => urlOf(customerPage.export, at(customerId));
