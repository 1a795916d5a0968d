import { setTimeout as sleep } from 'node:timers/promises';
import { isDatabaseUnreachable } from './client.ts';

const giveUpAfterMs = 30_000;
const pauseMs = 200;

/**
 * Repeats a step of a start until the database stays reachable: on a busy machine it may not answer for the half second
 * after which a running process drops its connections. `work` must leave nothing open when it throws.
 */
export async function patiently<T>(work: () => Promise<T>): Promise<T> {
  const giveUpAt = performance.now() + giveUpAfterMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isDatabaseUnreachable(error) || performance.now() > giveUpAt) throw error;
      await sleep(pauseMs);
    }
  }
}
