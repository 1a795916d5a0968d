import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { analytics } from '../../../contract/analytics.ts';
import { ApiError, messageOf } from '../../api-error.ts';
import { call } from '../../api.ts';
import { live } from '../../live.ts';
import { queryOf } from '../../query-of.ts';
import { daysOf, periodBefore, type Period } from './series.ts';

const shared = { ...live, staleTime: 30_000, placeholderData: keepPreviousData };

export const healthQuery = () => queryOf(analytics.health, {}, shared);

export const trendsQuery = (period: Period) => trendsOf(daysOf(period, new Date()));

export const trendsBeforeQuery = (period: Period) => trendsOf(periodBefore(daysOf(period, new Date())));

const trendsOf = (query: ReturnType<typeof daysOf>) =>
  queryOptions({
    queryKey: ['analytics', 'trends', query],
    queryFn: async ({ signal }) =>
      succeeded(await call(analytics.trends, { query }, { signal }), 'Failed to fetch trends data'),
    ...shared,
  });

export const customerUseQuery = (period: Period) => {
  const query = daysOf(period, new Date());
  return queryOptions({
    queryKey: ['analytics', 'customers', query],
    queryFn: async ({ signal }) =>
      succeeded(await call(analytics.customers, { query }, { signal }), 'Failed to fetch customer data'),
    ...shared,
  });
};

/** These responses may carry an error of their own (spec part 2, section 3). */
function succeeded<T extends object>(answer: T, otherwise: string): T {
  if (!('success' in answer)) return answer;
  const { error } = answer as { error?: unknown };
  throw new Error(typeof error === 'string' ? error : otherwise);
}

/** The words of spec part 2, section 8, plus the message of the server or the network. */
export function analyticsProblem(error: unknown): string {
  if (!(error instanceof ApiError)) return messageOf(error, unknownProblem);
  const words = error.status === 0 ? unknownProblem : 'Failed to fetch analytics data';
  const said = error.sentence ?? (error.status === 0 ? error.message : undefined);
  return said ? `${words}: ${said}` : words;
}

const unknownProblem = 'An error occurred while fetching analytics';
