import { expect, test, vi } from 'vitest';
import { mostAtOnce } from '../../../contract/license-bulk.ts';
import { setAll } from './use-bulk-edit.ts';

test('an error of the service is the answer for the licenses of its call; the others are changed', async () => {
  const plannedOf = (_: unknown, n: number) => ({
    licenseId: `license ${n}`,
    licenseKey: `key ${n}`,
    customerId: 'c1',
    customerName: 'Osaka Medical',
    updatedAt: 'before',
    before: {},
    after: { status: 'revoked' as const },
  });
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
