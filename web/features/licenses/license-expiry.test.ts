import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expiresInDays } from './license-expiry.ts';

const now = new Date('2026-11-20T09:30:00.000Z');
const day = 86_400_000;
const inMs = (ms: number) => new Date(now.getTime() + ms).toISOString();
const active = (ms: number) => expiresInDays({ status: 'active', validUntil: inMs(ms) }, now);

describe('expiresInDays', () => {
  it('begins at exactly 30 days', () => {
    expect(active(30 * day + 1)).toBeUndefined();
    expect(active(30 * day)).toBe(30);
    expect(active(30 * day - 1)).toBe(30);
    expect(active(29 * day)).toBe(29);
  });

  it('counts a day that has begun, and ends with the license', () => {
    expect(active(1)).toBe(1);
    expect(active(0)).toBe(0);
    expect(active(-1)).toBeUndefined();
  });

  it('is silent about revoked licenses', () => {
    expect(expiresInDays({ status: 'revoked', validUntil: inMs(day) }, now)).toBeUndefined();
  });

  it('never says less than is left, and never a whole day more', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 30 * day }), (left) => {
        const days = active(left)!;
        expect(days * day).toBeGreaterThanOrEqual(left);
        expect(days * day - left).toBeLessThan(day);
      }),
    );
  });
});
