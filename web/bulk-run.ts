export type BulkResult<T> = { done: T[]; failed: { item: T; error: unknown }[] };

const atOnce = 4;

/** Calls `change` for every item, a few in parallel. A failure does not stop the others. */
export async function runBulk<T>(
  items: readonly T[],
  change: (item: T) => Promise<unknown>,
): Promise<BulkResult<T>> {
  const result: BulkResult<T> = { done: [], failed: [] };
  const waiting = [...items];
  const worker = async () => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) {
      try {
        await change(item);
        result.done.push(item);
      } catch (error) {
        result.failed.push({ item, error });
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return result;
}
