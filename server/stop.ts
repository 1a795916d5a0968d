import type { Config } from './config.ts';

/** Limits the shutdown if the database hangs. Counted from the end of the drain. */
export const stopWithinMs = 10_000;

export const stoppingText = ({ drainMs }: Config): string =>
  drainMs > 0
    ? `Stopping: calls are served for another ${drainMs / 1000} seconds, then the port is closed`
    : 'Stopping: requests under way are answered first';
