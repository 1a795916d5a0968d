import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from './config.ts';

/** Limits the shutdown if the database hangs. Counted from the end of the drain. */
export const stopWithinMs = 10_000;

const workEndsWithinMs = 2000;

/** Waits for background work, but not for long: it may wait for a lock that a lost connection still holds. */
export const untilEnded = (work: Promise<unknown>): Promise<unknown> =>
  Promise.race([work, sleep(workEndsWithinMs, undefined, { ref: false })]);

export const stoppingText = ({ drainMs }: Config): string =>
  drainMs > 0
    ? `Stopping: calls are served for another ${drainMs / 1000} seconds, then the port is closed`
    : 'Stopping: requests under way are answered first';
