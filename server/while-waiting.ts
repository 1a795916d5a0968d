import type { Logger } from 'pino';

const everyMs = 3000;

/** Waits for `work` and logs every few seconds what it is waiting for, so that a slow start is visible. */
export async function whileWaiting<T>(log: Logger, what: string, work: Promise<T>): Promise<T> {
  const from = performance.now();
  const timer = setInterval(() => {
    log.warn(`Still waiting for ${what} (${Math.round((performance.now() - from) / 1000)} s)`);
  }, everyMs);
  try {
    return await work;
  } finally {
    clearInterval(timer);
  }
}
