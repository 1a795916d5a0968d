import { hourMs } from '../contract/durations.ts';

/**
 * Keeps the process alive until `work` has settled. Timers, workers and child processes that do not keep it alive
 * (`unref`) would otherwise end it while `work` waits for one of them, without a message and as if it had succeeded.
 */
export async function holdOpen<T>(work: Promise<T>): Promise<T> {
  const holding = setInterval(() => undefined, hourMs);
  try {
    return await work;
  } finally {
    clearInterval(holding);
  }
}
