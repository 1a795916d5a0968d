import { LRUCache } from 'lru-cache';
import { atMost } from '../at-most.ts';
import type { Signals, Topic } from './signals.ts';

/**
 * A bounded cache of database reads, cleared whenever `topic` changes in any process, if one is given. Nothing is cached
 * while the listening connection is down. `ttlMs` limits staleness that no signal covers, such as the passing of time.
 */
export function createCache<V>(
  signals: Signals,
  topic: Topic | undefined,
  { max, ttlMs }: { max: number; ttlMs: number },
) {
  const entries = new LRUCache<string, Promise<V>>({ ...atMost(max), ttl: ttlMs });
  if (topic) signals.on(topic, () => entries.clear());

  /** The cached value, or the result of `load`; concurrent misses of one key load once. */
  return function cached(key: string, load: () => Promise<V>): Promise<V> {
    if (!signals.isUp()) return load();
    const hit = entries.get(key);
    if (hit) return hit;
    // Cached before it is loaded, so that a concurrent change drops it.
    const value = load();
    entries.set(key, value);
    value.catch(() => entries.peek(key) === value && entries.delete(key));
    return value;
  };
}
