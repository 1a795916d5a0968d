import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from '../context.ts';
import { within } from './patience.ts';
import { ForeignStorage, StorageDown } from './storage.ts';

const lookEveryMs = 10_000;
/** How long a result is reused. */
const freshMs = 1000;
const checkMs = 2000;
/** The timeout for calls that only report the state; a load balancer's check may allow only a second. */
const mentionMs = 300;

export type StorageWatch = {
  /** Whether the storage is available: checked within the last second, or the last known state if a check is slow. */
  isUsable(): Promise<boolean>;
  /** Why the storage is not that of this installation, and what to do, by the last check; undefined if it is. */
  whyForeign(): string | undefined;
  /** Checks again whether the storage is available; takes at most four seconds. */
  look(): Promise<boolean>;
  stop(): void;
};

/** Monitors whether the storage is available and, by `requireOwn`, that of this installation, and logs changes. */
export function watchStorage(
  { storage, log }: Pick<Context, 'storage' | 'log'>,
  requireOwn: () => Promise<void>,
): StorageWatch {
  let problem: unknown;
  let lookedAt = -Infinity;
  let looking: Promise<boolean> | undefined;
  // Each request to a disk that hangs blocks one of the few threads of the process: none is added to one under way.
  const [reach, own] = [onceAtATime(() => storage.check()), onceAtATime(requireOwn)];

  async function check(): Promise<boolean> {
    const error: unknown = await within(checkMs, reach).then(
      () =>
        within(checkMs, own).catch((reason: unknown) =>
          // an error or a wait of the database says nothing about the storage
          reason instanceof StorageDown ? reason : problem,
        ),
      (reason: unknown) => reason,
    );
    if (error && !problem)
      log.error({ err: error }, 'The storage cannot be used: no uploads and no downloads until it can');
    if (!error && problem) log.info('The storage can be used again');
    problem = error;
    lookedAt = performance.now();
    return !problem;
  }

  const look = () => (looking ??= check().finally(() => (looking = undefined)));
  async function isUsable(): Promise<boolean> {
    if (performance.now() - lookedAt < freshMs) return !problem;
    return Promise.race([look(), sleep(mentionMs, undefined, { ref: false }).then(() => !problem)]);
  }
  void look();
  const timer = setInterval(() => void look(), lookEveryMs).unref();
  const whyForeign = () => (problem instanceof ForeignStorage ? problem.why : undefined);
  return { isUsable, whyForeign, look, stop: () => clearInterval(timer) };
}

/** Work that is awaited by all who ask while it is under way, also after those before have given up. */
function onceAtATime(work: () => Promise<void>): () => Promise<void> {
  let underWay: Promise<void> | undefined;
  return () => (underWay ??= work().finally(() => (underWay = undefined)));
}
