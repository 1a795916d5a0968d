/** Queries under way at once; what comes meanwhile waits, under a millisecond, and goes together. */
const parallel = 2;
/** One answer must not become slow because a thousand others came with it. */
const most = 64;

type Waiting<Key, Value> = { key: Key; resolve: (value: Value) => void; reject: (error: unknown) => void };

/**
 * Answers many calls by few queries. `load` gives the values in the order of its keys. A call that comes alone is
 * loaded at once; under load the calls that come while queries are under way share the next one. An error is the
 * answer to all that shared it, so keys must be such that no single one can fail a query.
 */
export function batchLoader<Key, Value>(
  load: (keys: Key[]) => Promise<Value[]>,
): (key: Key) => Promise<Value> {
  let waiting: Waiting<Key, Value>[] = [];
  let underWay = 0;

  async function loadNext(): Promise<void> {
    const batch = waiting.slice(0, most);
    waiting = waiting.slice(most);
    underWay++;
    try {
      const values = await load(batch.map(({ key }) => key));
      batch.forEach(({ resolve }, i) => resolve(values[i] as Value));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      underWay--;
      if (waiting.length > 0) void loadNext();
    }
  }

  return (key) =>
    new Promise((resolve, reject) => {
      waiting.push({ key, resolve, reject });
      if (underWay < parallel) void loadNext();
    });
}
