import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from './config.ts';

/** Limits the shutdown if the database hangs. Counted from the end of the drain. */
export const stopWithinMs = 10_000;

const workEndsWithinMs = 2000;

/** Waits for background work, but not for long: it may wait for a lock that a lost connection still holds. */
export const untilEnded = (work: Promise<unknown>): Promise<unknown> =>
  Promise.race([work, sleep(workEndsWithinMs, undefined, { ref: false })]);

/** A start that a signal may end. */
export type Start = {
  /** Aborted when a signal ends the start. */
  signal: AbortSignal;
  /** What is to be stopped then, before the process exits. */
  onEnd: (undo: () => Promise<void>) => void;
  /** From now on, signals are left to what was started. */
  over: () => void;
};

/** What ends a process: the last, when its terminal is closed. */
export const endSignals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/**
 * Without a listener for it, the first process of a container ignores a signal. The process exits with `code` then.
 */
export function startUntilSignal(code = 0): Start {
  const ending = new AbortController();
  let undo = () => Promise.resolve();
  const end = () => {
    if (ending.signal.aborted) return;
    ending.abort();
    void undo().finally(() => process.exit(code));
  };
  for (const signal of endSignals) process.on(signal, end);
  return {
    signal: ending.signal,
    onEnd: (work) => void (undo = work),
    over: () => {
      for (const signal of endSignals) process.off(signal, end);
    },
  };
}

export const stoppingText = ({ drainMs }: Config): string =>
  drainMs > 0
    ? `Stopping: calls are served for another ${drainMs / 1000} seconds, then the port is closed`
    : 'Stopping: requests under way are answered first';
