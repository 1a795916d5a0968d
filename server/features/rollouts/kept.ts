import { LRUCache } from 'lru-cache';

/** A count serves ten times as long as it took, so that counting takes at most a tenth of the time. */
const timesKept = 10;
const longestMs = 60_000;

/** Keeps the last results of long counts: many users who watch a rollout cost one count. */
export function createKept<V extends object>(max: number) {
  const kept = new LRUCache<string, Promise<V>>({ max });
  return (key: string, count: () => Promise<V>): Promise<V> => {
    const found = kept.get(key);
    if (found) return found;
    const begun = performance.now();
    const counting = count();
    kept.set(key, counting);
    const isLast = () => kept.peek(key) === counting;
    const keep = () => {
      const ttl = Math.min(longestMs, Math.ceil(timesKept * (performance.now() - begun)));
      return isLast() && kept.set(key, counting, { ttl });
    };
    counting.then(keep, () => isLast() && kept.delete(key));
    return counting;
  };
}
