import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { ApiKey } from '../../../contract/api-keys.ts';
import {
  byField,
  checkChanges,
  checkNew,
  emptyValues,
  patchOf,
  payloadOf,
  valuesOf,
} from './api-key-form.ts';

const filled = { ...emptyValues, name: 'CI', expiresAt: '2027-01-31T10:30' };
const key: ApiKey = {
  id: '1',
  name: 'Desktop',
  keyPrefix: 'lyd_abcdefghijkl',
  isActive: true,
  revokedAt: null,
  scopes: ['validate'],
  expiresAt: '2027-01-31T10:30:45.000Z',
  rateLimit: 500,
  ipWhitelist: ['10.0.0.0/8', '::1'],
  totalRequests: 0,
  createdAt: '2026-11-20T09:30:00.000Z',
  lastUsedAt: null,
  lastUsedIp: null,
  maker: null,
  updatedAt: '2026-11-20T09:30:00.000Z',
};

describe('a new key', () => {
  test('needs a name, an expiration date and a rate limit, in the words of the spec', () => {
    expect(checkNew({ ...emptyValues, rateLimit: '' })).toEqual({
      name: 'Name is required',
      expiresAt: 'Expiration date is required',
      rateLimit: 'Rate limit is required',
    });
    expect(checkNew({ ...filled, rateLimit: 0 })).toEqual({ rateLimit: 'Rate limit must be at least 1' });
    expect(checkNew({ ...filled, rateLimit: 1.5 })).toEqual({ rateLimit: 'Must be a whole number' });
    expect(checkNew({ ...filled, rateLimit: '-' })).toEqual({
      rateLimit: 'Must be a number, written in digits',
    });
    expect(checkNew({ ...filled, scopes: [] })).toEqual({ scopes: 'At least one scope is required' });
    expect(checkNew(filled)).toEqual({});
  });

  test('is sent with an ISO instant, the default limit, the least scope, and without an empty whitelist', () => {
    expect(payloadOf({ ...filled, ipWhitelist: ' , ,' })).toEqual({
      name: 'CI',
      expiresAt: new Date(2027, 0, 31, 10, 30).toISOString(),
      rateLimit: 1000,
      scopes: ['validate'],
    });
  });

  test('may expire with the last day that can be typed, in each time zone', () => {
    vi.stubEnv('TZ', 'America/New_York');
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(checkNew({ ...filled, expiresAt: '9999-12-31T23:59' })).toEqual({});
  });

  test('has the whitelist split on commas and lines, trimmed, empty entries dropped', () => {
    expect(payloadOf({ ...filled, ipWhitelist: ' 10.0.0.0/8,, ::1 \n203.0.113.7,' }).ipWhitelist).toEqual([
      '10.0.0.0/8',
      '::1',
      '203.0.113.7',
    ]);
  });

  test('has entries of the whitelist without quotes, and in the digits of the service', () => {
    const ipWhitelist = '"10.0.0.0/8", \'::1\'，“２０３．０．１１３．７”';
    expect(payloadOf({ ...filled, ipWhitelist }).ipWhitelist).toEqual(['10.0.0.0/8', '::1', '203.0.113.7']);
  });

  test('says at the field of the whitelist what is wrong with an entry', () => {
    expect(checkNew({ ...filled, ipWhitelist: 'x'.repeat(65) })).toHaveProperty('ipWhitelist');
    expect(byField({ 'ipWhitelist.3': 'Too long' })).toEqual({ ipWhitelist: 'Too long' });
  });
});

describe('changes to a key', () => {
  const values = valuesOf(key);

  test('are none where nothing was changed: the seconds of the expiry stay', () => {
    expect(patchOf(values, key)).toEqual({});
  });

  test('leave out what was emptied', () => {
    const emptied = { ...values, name: ' ', expiresAt: '', rateLimit: '', ipWhitelist: '' };
    expect(patchOf(emptied, key)).toEqual({});
    expect(checkChanges(emptied, key)).toEqual({});
  });

  test('name only what differs', () => {
    const changed = { ...values, status: 'inactive', rateLimit: 7, ipWhitelist: '::1' } as const;
    expect(patchOf(changed, key)).toEqual({ isActive: false, rateLimit: 7, ipWhitelist: ['::1'] });
  });

  test('remove the whitelist only where the user chose to', () => {
    expect(patchOf({ ...values, anyAddress: true }, key)).toEqual({ ipWhitelist: [] });
    expect(patchOf({ ...values, ipWhitelist: '10.1.1.1', anyAddress: true }, key)).toEqual({
      ipWhitelist: [],
    });
  });

  test('are checked by the rules of the contract', () => {
    expect(checkChanges({ ...values, rateLimit: 0 }, key)).toEqual({
      rateLimit: 'Rate limit must be at least 1',
    });
    expect(checkChanges({ ...values, scopes: [] }, key)).toEqual({
      scopes: 'At least one scope is required',
    });
  });
});
