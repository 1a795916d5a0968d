import { createStore, useStore } from './store.ts';

const clock = createStore(new Date());
setInterval(() => clock.set(new Date()), 30_000);

/** The current time from one clock for the whole page; renders again when it changes. */
export const useNow = (): Date => useStore(clock);
