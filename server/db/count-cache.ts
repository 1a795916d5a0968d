import { LRUCache } from 'lru-cache';

/** A count serves ten times as long as it took, so that counting takes at most a tenth of the time. */
const timesKept = 10;
/** Milliseconds for each machine: 20 seconds for 100,000, longer than a screen waits until it asks again. */
const msPerMachine = 0.2;
const longestMs = 60_000;

/**
 * Keeps the last results of long counts: however many users watch them, and however rarely each of them asks, they cost
 * one count in that time. `machinesIn` is the number of machines that were counted.
 */
export function createCountCache<V extends object>(max: number, machinesIn: (counted: V) => number) {
  const kept = new LRUCache<string, Promise<V>>({ max });
  return (key: string, count: () => Promise<V>): Promise<V> => {
    const found = kept.get(key);
    if (found) return found;
    const begun = performance.now();
    const counting = count();
    kept.set(key, counting);
    const isLast = () => kept.peek(key) === counting;
    const keep = (counted: V) => {
      const took = performance.now() - begun;
      const ttl = Math.ceil(Math.max(timesKept * took, msPerMachine * machinesIn(counted)));
      return isLast() && kept.set(key, counting, { ttl: Math.min(longestMs, ttl) });
    };
    counting.then(keep, () => isLast() && kept.delete(key));
    return counting;
  };
}
