import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runBulk } from './bulk-run.ts';

describe('runBulk', () => {
  it('processes every item once, and reports which failed and why', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(fc.nat()), async (items) => {
        const tried: number[] = [];
        const result = await runBulk(items, async (item) => {
          await Promise.resolve();
          tried.push(item);
          if (item % 3 === 0) throw new Error(`no ${item}`);
        });
        const sorted = (list: number[]) => list.toSorted((a, b) => a - b);
        expect(sorted(tried)).toEqual(sorted(items));
        expect(sorted(result.done)).toEqual(sorted(items.filter((item) => item % 3 !== 0)));
        expect(result.failed).toEqual(
          result.failed.map(({ item }) => ({ item, error: new Error(`no ${item}`) })),
        );
        expect(result.done.length + result.failed.length).toBe(items.length);
      }),
    );
  });

  it('never runs more than four concurrently', async () => {
    let running = 0;
    let most = 0;
    await runBulk(
      Array.from({ length: 30 }, (_, i) => i),
      async () => {
        most = Math.max(most, ++running);
        await new Promise((resolve) => setTimeout(resolve, 1));
        running -= 1;
      },
    );
    expect(most).toBe(4);
  });
});
