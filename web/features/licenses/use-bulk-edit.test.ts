import { expect, test, vi } from 'vitest';
import { mostAtOnce } from '../../../contract/license-bulk.ts';
import { outcomeText, setAll } from './use-bulk-edit.ts';

const plannedOf = (_: unknown, n: number) => ({
  licenseId: `license ${n}`,
  licenseKey: `key ${n}`,
  customerId: 'c1',
  customerName: 'Osaka Medical',
  updatedAt: 'before',
  before: {},
  after: { status: 'revoked' as const },
});

test('an error of the service is the answer for the licenses of its call; the others are changed', async () => {
  const all = Array.from({ length: mostAtOnce + 1 }, plannedOf);
  const last = { licenseId: `license ${mostAtOnce}`, updatedAt: 'after' };
  const fetch = vi
    .fn()
    .mockResolvedValueOnce(Response.json({ error: 'Something failed' }, { status: 500 }))
    .mockResolvedValueOnce(Response.json({ data: { changed: [last], refused: [] } }));
  vi.stubGlobal('fetch', fetch);
  const { signal } = new AbortController();
  const outcome = await setAll({ all }, { signal, form: undefined, onProgress: () => undefined });
  expect(outcome).toEqual({
    done: [{ ...all[mostAtOnce], ...last }],
    failed: all.slice(0, mostAtOnce).map((planned) => ({ planned, reason: 'Something failed' })),
    unknown: [],
  });
});

test.each([
  [403, 'You lack the permission licenses:update.'],
  [429, 'Too many requests.'],
])('where the answer was lost before, a %d says nothing of the licenses', async (status, error) => {
  const all = Array.from({ length: 2 }, plannedOf);
  vi.stubGlobal('fetch', vi.fn().mockResolvedValue(Response.json({ error }, { status })));
  const { signal } = new AbortController();
  const run = { all, before: { done: [], failed: [], unknown: all } };
  const outcome = await setAll(run, { signal, form: undefined, onProgress: () => undefined });
  expect(outcome).toMatchObject({ unknown: all, failed: [] });
  expect(outcomeText(run, outcome, 'revoked')).toBe(
    `0 licenses revoked. No response for 2 licenses: they may or may not have been revoked. Asked again: ${error}`,
  );
});
