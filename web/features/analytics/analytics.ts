import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { analytics } from '../../../contract/analytics.ts';
import { call } from '../../api.ts';
import { daysOf, type Period } from './series.ts';

/** Main module of the feature: the three calls, and the periods that they are asked for (spec part 2, section 2.7). */

const shared = { staleTime: 30_000, placeholderData: keepPreviousData };

export const healthQuery = () =>
  queryOptions({
    queryKey: ['analytics', 'health'],
    queryFn: ({ signal }) => call(analytics.health, {}, { signal }),
    ...shared,
  });

export const trendsQuery = (period: Period) => {
  const query = daysOf(period, new Date());
  return queryOptions({
    queryKey: ['analytics', 'trends', query],
    queryFn: ({ signal }) => call(analytics.trends, { query }, { signal }),
    ...shared,
  });
};

export const customerUseQuery = (period: Period) => {
  const query = daysOf(period, new Date());
  return queryOptions({
    queryKey: ['analytics', 'customers', query],
    queryFn: ({ signal }) => call(analytics.customers, { query }, { signal }),
    ...shared,
  });
};
