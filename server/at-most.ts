/** Limits an LRUCache to `entries`, without the memory that `max` reserves for all of them beforehand. */
export const atMost = (entries: number) => ({ maxSize: entries, sizeCalculation: () => 1 });
