/** The entries in the order of their keys, the same in all processes, so that batches which lock rows cannot deadlock. */
export const inKeyOrder = <Value>(entries: ReadonlyMap<string, Value>): [string, Value][] =>
  [...entries].toSorted(([a], [b]) => (a < b ? -1 : 1));
