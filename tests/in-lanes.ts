/**
 * Works through `all`, up to `lanes` at once; the results are in order. When a piece of work fails, no other begins, and
 * its error is thrown once those on their way have ended: a test goes on with nothing behind its back.
 */
export async function inLanes<T, R>(
  all: readonly T[],
  work: (one: T, index: number) => Promise<R>,
  lanes = 12,
): Promise<R[]> {
  const results: R[] = [];
  const waiting = all.entries();
  const errors: unknown[] = [];
  const lane = async () => {
    for (const [index, one] of waiting) {
      if (errors.length > 0) return;
      try {
        results[index] = await work(one, index);
      } catch (error) {
        errors.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  if (errors.length > 0) throw errors[0];
  return results;
}
