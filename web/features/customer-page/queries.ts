import { infiniteQueryOptions, keepPreviousData } from '@tanstack/react-query';
import { customerPage, type CustomerOverview } from '../../../contract/customer-page.ts';
import type { RouteAnswer } from '../../../contract/route.ts';
import { call, urlOf } from '../../api.ts';
import { live, liveFirstPage } from '../../live.ts';
import { pageOf, queryOf } from '../../query-of.ts';
import { asPreviewed } from '../../role-preview.ts';
import type { CustomerSearch } from './customer-search.ts';

const at = (id: string) => ({ params: { id } });

const permittedOverview = asPreviewed<CustomerOverview>((overview, reads) => ({
  ...overview,
  ...(!reads('licenses') && { seats: null, machines: null, refused: null }),
  ...(!reads('releases') && { releases: null }),
}));

export const overviewQuery = (customerId: string) => ({
  ...queryOf(customerPage.overview, at(customerId), live),
  select: permittedOverview,
});

const permittedMachines = asPreviewed<RouteAnswer<typeof customerPage.machines>>(
  ({ data, ...page }, reads) => ({
    ...page,
    data: reads('releases') ? data : data.map((machine) => ({ ...machine, releaseId: null })),
  }),
);

export const machinesQuery = (
  customerId: string,
  { search, page }: Pick<CustomerSearch, 'search' | 'page'>,
  size: number,
) => ({
  ...queryOf(
    customerPage.machines,
    { ...at(customerId), query: { search, ...pageOf(page, size) } },
    { ...live, placeholderData: keepPreviousData },
  ),
  select: permittedMachines,
});

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
    ...liveFirstPage,
  });

export const exportUrl = (customerId: string): string => urlOf(customerPage.export, at(customerId));
