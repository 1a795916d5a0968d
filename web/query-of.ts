import { queryOptions, type keepPreviousData } from '@tanstack/react-query';
import { callName } from '../contract/address.ts';
import type { Route } from '../contract/route.ts';
import { call, type Arguments } from './api.ts';
import type { live } from './live.ts';

type Options = {
  retry?: boolean | ((failures: number, error: unknown) => boolean);
  staleTime?: number | 'static';
  gcTime?: number;
  enabled?: boolean;
  refetchInterval?: number | (typeof live)['refetchInterval'];
  refetchOnWindowFocus?: boolean | 'always';
  placeholderData?: typeof keepPreviousData;
};

type Request<R extends Route> = Arguments<R>[0];

/**
 * The query of a call, with options. Its key is the call with all that it sends, so that no two requests share a cache
 * entry.
 */
export const queryOf = <R extends Route>(
  route: R,
  ...[request, options]: undefined extends Request<R> ? [Request<R>?, Options?] : [Request<R>, Options?]
) => ({
  ...queryOptions({
    queryKey: [callName(route), request ?? {}] as const,
    queryFn: ({ signal }) => call(route, ...([request, { signal }] as Arguments<R>)),
  }),
  ...options,
});

/** The query parameters of a page; `page` counts from 1. */
export const pageOf = (page: number | undefined, size: number) => ({
  limit: String(size),
  offset: String(((page ?? 1) - 1) * size),
});
