import fc from 'fast-check';
import { expect, test } from 'vitest';
import { batchLoader } from './batch-loader.ts';

/** A loader whose queries stay open until they are answered. */
function heldLoader() {
  const queries: { keys: number[]; answer(): void; fail(): void }[] = [];
  const load = batchLoader(
    (keys: number[]) =>
      new Promise<string[]>((resolve, reject) => {
        queries.push({
          keys,
          answer: () => resolve(keys.map(String)),
          fail: () => reject(new Error('no answer')),
        });
      }),
  );
  return { load, queries };
}

test('a call that comes alone is asked at once', async () => {
  const { load, queries } = heldLoader();
  const value = load(7);
  expect(queries.map(({ keys }) => keys)).toEqual([[7]]);
  queries[0]!.answer();
  expect(await value).toBe('7');
});

test('calls that come while two queries are under way share the next, at most 64 of them', async () => {
  const { load, queries } = heldLoader();
  const values = Array.from({ length: 2 + 64 + 3 }, (_, n) => load(n));
  expect(queries.map(({ keys }) => keys.length)).toEqual([1, 1]);
  queries[1]!.answer();
  await values[1];
  expect(queries.map(({ keys }) => keys.length)).toEqual([1, 1, 64]);
  queries[0]!.answer();
  await values[0];
  expect(queries.map(({ keys }) => keys.length)).toEqual([1, 1, 64, 3]);
});

test('an error reaches those that shared the query, and nobody else', async () => {
  const { load, queries } = heldLoader();
  const values = [1, 2, 3, 4].map(load);
  queries[0]!.fail();
  await expect(values[0]).rejects.toThrow('no answer');
  queries[1]!.answer();
  expect(await values[1]).toBe('2');
  queries[2]!.fail();
  await expect(values[2]).rejects.toThrow('no answer');
  await expect(values[3]).rejects.toThrow('no answer');
  const later = load(5);
  queries.at(-1)!.answer();
  expect(await later).toBe('5');
});

test('whoever asks gets the answer to their own question', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat({ max: 50 }), { maxLength: 300 }), fc.scheduler(), async (asked, s) => {
      const load = batchLoader(async (keys: number[]) => {
        await s.schedule(Promise.resolve());
        return keys.map((key) => `answer ${key}`);
      });
      const values = Promise.all(asked.map(load));
      await s.waitFor(values);
      expect(await values).toEqual(asked.map((key) => `answer ${key}`));
    }),
    { seed: 11, numRuns: 50 },
  );
});
