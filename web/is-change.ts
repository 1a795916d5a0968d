import type { Route } from '../contract/route.ts';

/** Whether a call may change something: it has an `Idempotency-Key`, and without an answer it may have been made. */
export const isChange = ({ method, changesNothing }: Pick<Route, 'method' | 'changesNothing'>): boolean =>
  method !== 'GET' && !changesNothing;
