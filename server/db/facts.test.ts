import { expect, onTestFinished, test, vi } from 'vitest';
import { createFacts } from './facts.ts';

type Fact = { record: string; text: string };

/** Facts on signals that the test sends. */
function factsOf(maxBytes = 1_000_000) {
  let changed: (id?: string) => void = () => undefined;
  const connection = { isUp: true };
  const signals = {
    isUp: () => connection.isUp,
    on: (_: string, run: (id?: string) => void) => void (changed = run),
  };
  const facts = createFacts(signals, maxBytes);
  const kept = facts.kind<Fact>({ recordsOf: (_, { record }) => [record], bytesOf: () => 1000 });
  const keep = (key: string, record = key) => kept.reading()(key, { record, text: `of ${key}` });
  return { facts, kept, keep, connection, change: (id?: string) => changed(id) };
}

test('a fact is known until its record changes; others stay', () => {
  const { kept, keep, change } = factsOf();
  keep('a');
  keep('b');
  expect(kept.get('a')?.text).toBe('of a');
  change('a');
  expect(kept.get('a')).toBeUndefined();
  expect(kept.get('b')?.text).toBe('of b');
  keep('a');
  expect(kept.get('a')?.text).toBe('of a');
  change();
  expect([kept.get('a'), kept.get('b')]).toEqual([undefined, undefined]);
});

test('what was read before a change is not kept after it, also if everything may have changed', () => {
  const { kept, change } = factsOf();
  for (const id of ['a', undefined]) {
    const keep = kept.reading();
    change(id);
    keep('a', { record: 'a', text: 'old' });
    expect(kept.get('a')).toBeUndefined();
  }
  const keep = kept.reading();
  change('another');
  keep('a', { record: 'a', text: 'current' });
  expect(kept.get('a')?.text).toBe('current');
});

test('nothing is known while the listening connection is down, and nothing is kept', () => {
  const { kept, keep, connection } = factsOf();
  keep('a');
  connection.isUp = false;
  keep('b');
  expect([kept.get('a'), kept.get('b')]).toEqual([undefined, undefined]);
  connection.isUp = true;
  expect(kept.get('b')).toBeUndefined();
});

test('is forgotten within a minute, but not all at once of what was read together', () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const { kept, keep } = factsOf();
  const all = Array.from({ length: 200 }, (_, i) => `${i}`);
  for (const key of all) keep(key);
  const known = () => all.filter((key) => kept.get(key)).length;
  vi.advanceTimersByTime(47_000);
  expect(known()).toBe(200);
  vi.advanceTimersByTime(7000);
  expect(known()).toBeGreaterThan(50);
  expect(known()).toBeLessThan(150);
  vi.advanceTimersByTime(6000);
  expect(known()).toBe(0);
});

test('holds no more than its bytes; the least used go first', () => {
  const { facts, kept, keep } = factsOf(10_000);
  for (let i = 0; i < 10; i++) keep(`${i}`);
  kept.get('0');
  for (let i = 10; i < 15; i++) keep(`${i}`);
  expect(facts.bytes()).toBe(10_000);
  const known = Array.from({ length: 15 }, (_, i) => i).filter((i) => kept.get(`${i}`));
  expect(known).toEqual([0, 6, 7, 8, 9, 10, 11, 12, 13, 14]);
});

test('after more changes than it can remember, nothing read before them is known', () => {
  const { kept, keep, change } = factsOf();
  keep('a');
  for (let i = 0; i < 20_001; i++) change(`other ${i}`);
  expect(kept.get('a')).toBeUndefined();
  keep('a');
  expect(kept.get('a')?.text).toBe('of a');
});
