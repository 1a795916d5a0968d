import { expect, test, vi } from 'vitest';

/** Fake browser storage, which the client reads when it loads. */
vi.stubGlobal('window', { addEventListener: () => undefined });
vi.stubGlobal('localStorage', { getItem: () => null });

const { auditListQuery } = await import('./queries.ts');

test('a page is fresh for 30 seconds and kept for 5 minutes', () =>
  expect(auditListQuery({})).toMatchObject({ staleTime: 30_000, gcTime: 300_000 }));
