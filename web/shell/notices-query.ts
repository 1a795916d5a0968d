import { notices } from '../../contract/notices.ts';
import { every, live } from '../live.ts';
import { queryOf } from '../query-of.ts';

/** What the notices above every screen show: asked for in one call, which the first screen waits for. */
export const noticesQuery = queryOf(
  notices.list,
  {},
  {
    ...live,
    // the notices have no Retry
    refetchInterval: every,
    // each notice reads it, and only the first asks
    staleTime: every,
  },
);
