import { expect, test, vi } from 'vitest';

/** A browser's storage, as far as the client asks for it when it is loaded. */
vi.stubGlobal('window', { addEventListener: () => undefined });
vi.stubGlobal('localStorage', { getItem: () => null });

const { auditListQuery } = await import('./queries.ts');

test('a page is fresh for 30 seconds and kept for 5 minutes', () =>
  expect(auditListQuery({})).toMatchObject({ staleTime: 30_000, gcTime: 300_000 }));
