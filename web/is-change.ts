import type { ConsoleRoute } from '../contract/route.ts';

/** Whether a call may change something: it has an `Idempotency-Key`, and without an answer it may have been made. */
export const isChange = ({ method, changesNothing }: ConsoleRoute): boolean =>
  method !== 'GET' && !changesNothing;
