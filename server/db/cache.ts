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
  let entries = new Map<string, { value: Promise<V>; until: number }>();
  signals.on(topic, () => {
    entries = new Map();
  });

  /** The kept value, or what `load` says; parallel misses of one key load once. */
  return function cached(key: string, load: () => Promise<V>): Promise<V> {
    const hit = entries.get(key);
    if (hit && hit.until > performance.now()) return hit.value;
    if (!signals.isUp()) return load();
    const into = entries;
    const value = load();
    // `into` is orphaned by a change that happens while loading, so a value read before it is never kept.
    into.delete(key);
    if (into.size >= max) into.delete(into.keys().next().value!);
    into.set(key, { value, until: performance.now() + ttlMs });
    value.catch(() => into.delete(key));
    return value;
  };
}
