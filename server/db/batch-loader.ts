/** Concurrent queries; calls that arrive meanwhile wait, under a millisecond, and share the next query. */
const parallel = 2;
/** Limits the delay that one call can suffer from others in the same batch. */
const most = 64;

type Waiting<Key, Value> = { key: Key; resolve: (value: Value) => void; reject: (error: unknown) => void };

/**
 * Loads the keys of many calls with few queries. `load` returns the values in the order of its keys. A single call is
 * loaded immediately; under load, calls that arrive during a query share the next one. An error rejects all calls that
 * shared the query, so no single key may be able to fail it.
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
