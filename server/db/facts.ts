import { LRUCache } from 'lru-cache';
import type { Signals } from './signals.ts';

/** Limits staleness that no signal covers: a change by SQL, or by a process of a version that sends no such signals. */
const keptMs = 60_000;
/** How much less at most, at random: what was read together, as after a start, is not read together again each minute. */
const spreadMs = 12_000;
/** With more changed records than this, everything is dropped. */
const mostChanged = 10_000;

type Entry = { value: unknown; generation: number; until: number };

/** What a kind of fact is kept by. */
type Kind<V> = {
  /** The records that the fact depends on. */
  recordsOf: (key: string, value: V) => readonly string[];
  /** The memory that key and value take. */
  bytesOf: (key: string, value: V) => number;
};

export type Kept<V> = {
  /** The fact, if it is known and none of its records has changed since it was read. */
  get(key: string): V | undefined;
  /** Begins a read of the database. The result keeps what was read, unless a record has changed meanwhile. */
  reading(): (key: string, value: V) => void;
};

export type Facts = ReturnType<typeof createFacts>;

/**
 * Facts of the database, such as the state of a license, that a process keeps in memory until one of their records
 * changes in any process. Bounded by `maxBytes`; the least used go first. While the listening connection is down,
 * nothing is known. An outcome is never kept: callers decide by the clock at each call.
 *
 * Each fact has the generation in which its read began, and each changed record the generation of its change. So a read
 * that began before a commit and ends after it is not used, and a change costs nothing but its entry.
 */
export function createFacts(signals: Pick<Signals, 'isUp' | 'on'>, maxBytes: number) {
  const entries = new LRUCache<string, Entry>({ maxSize: maxBytes });
  const changed = new Map<string, number>();
  const lookups = { hit: 0, miss: 0 };
  let generation = 0;
  let allChanged = 0;

  signals.on('records', (id) => {
    generation++;
    if (id !== undefined && changed.size < mostChanged) return void changed.set(id, generation);
    allChanged = generation;
    changed.clear();
    entries.clear();
  });

  const isCurrent = (read: number, records: () => readonly string[]): boolean =>
    read === generation ||
    (read >= allChanged && records().every((record) => (changed.get(record) ?? 0) <= read));

  return {
    /** The keys of all kinds must differ. */
    kind: <V>({ recordsOf, bytesOf }: Kind<V>): Kept<V> => ({
      get(key) {
        const entry = signals.isUp() ? entries.get(key) : undefined;
        const value = entry?.value as V;
        if (
          entry &&
          performance.now() < entry.until &&
          isCurrent(entry.generation, () => recordsOf(key, value))
        ) {
          lookups.hit++;
          return value;
        }
        lookups.miss++;
        if (entry) entries.delete(key);
        return undefined;
      },
      reading() {
        const begun = generation;
        const until = performance.now() + keptMs - Math.random() * spreadMs;
        return (key, value) => {
          if (!signals.isUp() || !isCurrent(begun, () => recordsOf(key, value))) return;
          // a part of a request would keep all of it in memory
          const copy = Buffer.from(key).toString();
          entries.set(copy, { value, generation: begun, until }, { size: bytesOf(key, value) });
        };
      },
    }),
    /** The bytes in use, for metrics. */
    bytes: () => entries.calculatedSize,
    /** How often a fact was asked for, by whether it was known. */
    lookups: (): Readonly<Record<'hit' | 'miss', number>> => lookups,
  };
}
