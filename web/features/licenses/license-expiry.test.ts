import { describe, expect, it } from 'vitest';
import { expiresIn, startsIn } from './license-expiry.ts';

const now = new Date('2026-11-20T09:30:00.000Z');
const day = 24 * 60 * 60_000;
const inMs = (ms: number) => new Date(now.getTime() + ms).toISOString();
const active = (ms: number) => expiresIn({ status: 'active', validUntil: inMs(ms) }, now);

describe('expiresIn', () => {
  it('begins at exactly 30 days', () => {
    expect(active(30 * day + 1)).toBeUndefined();
    expect(active(30 * day)).toBe('30 days');
    expect(active(30 * day - 1)).toBe('30 days');
    expect(active(29 * day)).toBe('29 days');
  });

  it.each([
    ['2026-11-22T00:00:00.000Z', '2 days'],
    ['2026-11-21T23:59:59.999Z', '1 day'],
    ['2026-11-21T00:00:00.000Z', '1 day'],
    ['2026-11-20T23:59:59.999Z', '1 day'],
    ['2026-11-20T09:30:00.001Z', '1 day'],
    ['2026-11-20T09:29:59.999Z', undefined],
  ])('counts to the UTC day of its end, as Today does: %s', (validUntil, text) => {
    expect(expiresIn({ status: 'active', validUntil }, now)).toBe(text);
  });

  it('is silent about revoked licenses', () => {
    expect(expiresIn({ status: 'revoked', validUntil: inMs(day) }, now)).toBeUndefined();
  });
});

describe('startsIn', () => {
  const starting = (ms: number, status: 'active' | 'revoked' = 'active') =>
    startsIn({ status, validFrom: inMs(ms), validUntil: inMs(ms + day) }, now);

  it('speaks of licenses that are not yet valid, and not of revoked ones', () => {
    expect(starting(10 * day)).toBe('10 days');
    expect(starting(day / 4)).toBe('1 day');
    expect(starting(0)).toBeUndefined();
    expect(starting(day, 'revoked')).toBeUndefined();
  });
});
