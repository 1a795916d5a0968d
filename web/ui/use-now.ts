import { useSyncExternalStore } from 'react';

const tick = 30_000;
let now = new Date();
let timer: ReturnType<typeof setInterval> | undefined;
const listeners = new Set<() => void>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(advance, tick);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

function advance(): void {
  now = new Date();
  for (const listener of listeners) listener();
}

function read(): Date {
  // Nothing ticked while nobody listened.
  if (!timer && Date.now() - now.getTime() > tick) now = new Date();
  return now;
}

/** The time, one clock for the whole page; renders again as it goes on. */
export const useNow = (): Date => useSyncExternalStore(subscribe, read);
