import { queryOptions } from '@tanstack/react-query';
import { notices } from '../../contract/notices.ts';
import { call } from '../api.ts';
import { every, live } from '../live.ts';

/** What the notices above every screen show: asked for in one call, which the first screen waits for. */
export const noticesQuery = queryOptions({
  ...live,
  // the notices have no Retry
  refetchInterval: every,
  // each notice reads it, and only the first asks
  staleTime: every,
  queryKey: ['notices'],
  queryFn: ({ signal }) => call(notices.list, undefined, { signal }),
});
