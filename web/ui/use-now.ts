import { createStore, useStore } from './store.ts';

const clock = createStore(new Date());
setInterval(() => clock.set(new Date()), 30_000);

/** The time, one clock for the whole page; renders again as it goes on. */
export const useNow = (): Date => useStore(clock);
