import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from '../context.ts';
import { within } from './patience.ts';

const lookEveryMs = 10_000;
/** What was found so long ago is still said without looking again. */
const freshMs = 1000;
const checkMs = 2000;
/** Whoever only mentions the storage does not wait for it; a balancer's check may give us a second. */
const mentionMs = 300;

export type StorageWatch = {
  /** Whether the storage can be used: as of the last second, or as last known where it does not say so at once. */
  isUsable(): Promise<boolean>;
  /** The same, found out now; takes two seconds at most. */
  look(): Promise<boolean>;
  stop(): void;
};

/** Knows whether the storage can be used, and says in the log when that changes. */
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

  // one at a time: a disk that hangs holds a thread for each
  const look = () => (looking ??= check().finally(() => (looking = undefined)));
  async function isUsable(): Promise<boolean> {
    if (performance.now() - lookedAt < freshMs) return usable;
    return Promise.race([look(), sleep(mentionMs, undefined, { ref: false }).then(() => usable)]);
  }
  void look();
  const timer = setInterval(() => void look(), lookEveryMs).unref();
  return { isUsable, look, stop: () => clearInterval(timer) };
}
