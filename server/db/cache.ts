import { LRUCache } from 'lru-cache';
import type { Signals, Topic } from './signals.ts';

/**
 * A bounded cache of what the database said, dropped whole whenever `topic` changes in any process. While the
 * database cannot be listened to, nothing is kept. `ttlMs` bounds what no signal tells, such as the clock.
 */
export function createCache<V>(
  signals: Signals,
  topic: Topic,
  { max, ttlMs }: { max: number; ttlMs: number },
) {
  const entries = new LRUCache<string, Promise<V>>({ max, ttl: ttlMs });
  signals.on(topic, () => entries.clear());

  /** The kept value, or what `load` says; parallel misses of one key load once. */
  return function cached(key: string, load: () => Promise<V>): Promise<V> {
    const hit = entries.get(key);
    if (hit) return hit;
    if (!signals.isUp()) return load();
    // kept before it is loaded, so a change that happens meanwhile drops it
    const value = load();
    entries.set(key, value);
    value.catch(() => entries.peek(key) === value && entries.delete(key));
    return value;
  };
}
