/** Works through `all`, up to `lanes` at once; the results are in order. */
export async function inLanes<T, R>(
  all: readonly T[],
  work: (one: T, index: number) => Promise<R>,
  lanes = 12,
): Promise<R[]> {
  const results: R[] = [];
  const waiting = all.entries();
  const lane = async () => {
    for (const [index, one] of waiting) results[index] = await work(one, index);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return results;
}
