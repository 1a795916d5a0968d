import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from '../context.ts';
import { within } from './patience.ts';

const lookEveryMs = 10_000;
/** How long a result is reused. */
const freshMs = 1000;
const checkMs = 2000;
/** The timeout for calls that only report the state; a load balancer's check may allow only a second. */
const mentionMs = 300;

export type StorageWatch = {
  /** Whether the storage is available: checked within the last second, or the last known state if a check is slow. */
  isUsable(): Promise<boolean>;
  /** Checks again; takes at most two seconds. */
  look(): Promise<boolean>;
  stop(): void;
};

/** Monitors the availability of the storage, and logs changes. */
export function watchStorage({ storage, log }: Pick<Context, 'storage' | 'log'>): StorageWatch {
  let usable = true;
  let lookedAt = -Infinity;
  let looking: Promise<boolean> | undefined;

  async function check(): Promise<boolean> {
    const error = await within(checkMs, () => storage.check()).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    if (error && usable)
      log.error({ err: error }, 'The storage cannot be used: no uploads and no downloads until it can');
    if (!error && !usable) log.info('The storage can be used again');
    usable = !error;
    lookedAt = performance.now();
    return usable;
  }

  // One check at a time: each check of a hanging disk blocks a thread.
  const look = () => (looking ??= check().finally(() => (looking = undefined)));
  async function isUsable(): Promise<boolean> {
    if (performance.now() - lookedAt < freshMs) return usable;
    return Promise.race([look(), sleep(mentionMs, undefined, { ref: false }).then(() => usable)]);
  }
  void look();
  const timer = setInterval(() => void look(), lookEveryMs).unref();
  return { isUsable, look, stop: () => clearInterval(timer) };
}
