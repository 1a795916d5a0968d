import { expect, test, vi } from 'vitest';

/** Fake browser storage, which the client reads when it loads. */
vi.stubGlobal('window', { addEventListener: () => undefined });
vi.stubGlobal('localStorage', { getItem: () => null });

const { rolesQuery } = await import('./queries.ts');

test('the roles are kept for 10 minutes', () =>
  expect(rolesQuery).toMatchObject({ staleTime: 600_000, gcTime: 600_000 }));
