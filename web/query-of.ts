import { queryOptions } from '@tanstack/react-query';
import type { Route } from '../contract/route.ts';
import { call, type Arguments } from './api.ts';

/**
 * The query of a call. Its key is the call with all that it sends, so that no two requests share a cache entry; options
 * are spread beside it.
 */
export const queryOf = <R extends Route>(route: R, ...[request]: Arguments<R>) =>
  queryOptions({
    queryKey: [`${route.method} ${route.path}`, request ?? {}] as const,
    queryFn: ({ signal }) => call(route, ...([request, { signal }] as Arguments<R>)),
  });

/** The query parameters of a page; `page` counts from 1. */
export const pageOf = (page: number | undefined, size: number) => ({
  limit: String(size),
  offset: String(((page ?? 1) - 1) * size),
});
