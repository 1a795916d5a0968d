import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { usageOf } from './seat-usage.ts';

describe('usageOf', () => {
  it.each([
    [0, 1, 'normal'],
    [1, 1, 'full'],
    [2, 1, 'full'],
    [3, 4, 'normal'],
    [75, 100, 'normal'],
    [76, 100, 'high'],
    [99, 100, 'high'],
    [100, 100, 'full'],
    [750_000, 1_000_000, 'normal'],
    [750_001, 1_000_000, 'high'],
  ] as const)('%i of %i is %s', (used, max, usage) => {
    expect(usageOf(used, max)).toBe(usage);
  });

  it('is full exactly from max on, and high exactly between three quarters and that', () => {
    const seats = fc.integer({ min: 1, max: 1_000_000 });
    fc.assert(
      fc.property(seats, fc.nat(1_100_000), (max, used) => {
        const usage = usageOf(used, max);
        expect(usage === 'full').toBe(used >= max);
        expect(usage === 'high').toBe(used < max && BigInt(used) * 100n > BigInt(max) * 75n);
      }),
    );
  });
});
