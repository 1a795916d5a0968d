import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { eventually } from '../../tests/harness.ts';
import { createCountCache } from './count-cache.ts';

test('many who ask at once, and for ten times as long as it took, cost one count', async () => {
  let now = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now);
  onTestFinished(() => clock.mockRestore());
  const pass = async (ms: number) => {
    now += ms;
    // the cache reads the clock once a millisecond
    await sleep(5);
  };
  const kept = createCountCache<{ n: number }>(2, () => 0);
  let counts = 0;
  const count = async () => {
    await pass(150);
    return { n: ++counts };
  };
  const ask = (key = 'a') => kept(key, count);
  expect(await Promise.all([ask(), ask(), ask()])).toEqual([{ n: 1 }, { n: 1 }, { n: 1 }]);
  expect(await ask('b')).toEqual({ n: 2 });
  await pass(1350);
  expect(await ask()).toEqual({ n: 1 });
  await pass(1);
  expect(await ask()).toEqual({ n: 3 });
});

test('a count of 5,000 machines serves a second, however quick it was', async () => {
  const kept = createCountCache<{ n: number }>(2, () => 5000);
  let counts = 0;
  const ask = () => kept('a', () => Promise.resolve({ n: ++counts }));
  const begun = performance.now();
  await eventually(async () => (await ask()).n > 1);
  expect(performance.now() - begun).toBeGreaterThan(990);
});

test('a count that fails is not kept', async () => {
  const kept = createCountCache<{ n: number }>(2, () => 0);
  await expect(kept('a', () => Promise.reject(new Error('no database')))).rejects.toThrow('no database');
  expect(await kept('a', () => Promise.resolve({ n: 1 }))).toEqual({ n: 1 });
});
