import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { ApiError } from './api-error.ts';
import { runBulk } from './bulk-run.ts';
import { addForm, topForm } from './ui/open-forms.ts';

describe('runBulk', () => {
  it('processes every item once, and reports which failed and why', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(fc.nat()), async (items) => {
        const tried: number[] = [];
        const result = await runBulk(items, async (item) => {
          await Promise.resolve();
          tried.push(item);
          if (item % 3 === 0) throw new Error(`no ${item}`);
          return item;
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

  it('sends again what had no answer, at most four times, also where no dialog is open, as in an Undo', async () => {
    vi.useFakeTimers();
    const lost = Object.assign(new ApiError(0, 'Lost'), { isUnanswered: true });
    const tried: string[] = [];
    const change = async (item: string) => {
      tried.push(item);
      if (item === 'never answered' || tried.filter((one) => one === item).length < 2) throw lost;
      return item;
    };
    const run = async () => {
      const [result] = await Promise.all([
        runBulk(['answered late', 'never answered'], change),
        vi.runAllTimersAsync(),
      ]);
      return [result, tried.splice(0).length];
    };
    const failed = (item: string) => ({ item, error: lost });
    const expected = [{ done: ['answered late'], failed: [failed('never answered')] }, 2 + 4];
    expect(await run()).toEqual(expected);
    expect(topForm()).toBeUndefined();
    const closed = addForm({});
    expect(await run()).toEqual(expected);
    // once one item was never answered, the service is away
    const away = Array.from({ length: 40 }, () => 'never answered');
    const [{ failed: all }] = await Promise.all([runBulk(away, change), vi.runAllTimersAsync()]);
    expect([all.length, tried.splice(0).length]).toEqual([40, 4 * 4 + 36]);
    // a proxy or a service that lost its database may have done it; what is refused was not
    for (const [status, tries] of [
      [502, 4],
      [503, 4],
      [504, 4],
      [409, 1],
      [500, 1],
    ] as const) {
      const fail = () => Promise.reject(new ApiError(status, 'x', { error: `${tried.push('x')}` }));
      await Promise.all([runBulk(['one'], fail), vi.runAllTimersAsync()]);
      expect([status, tried.splice(0).length]).toEqual([status, tries]);
    }
    // too many requests say nothing of the one that was lost
    const refused = new ApiError(429, 'Too many requests', { error: 'Too many requests' });
    const limited = () => Promise.reject(tried.push('x') === 1 ? lost : refused);
    const [result] = await Promise.all([runBulk(['limited'], limited), vi.runAllTimersAsync()]);
    expect(result.failed).toEqual([failed('limited')]);
    closed();
    vi.useRealTimers();
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
