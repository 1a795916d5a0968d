import { expect, test, vi } from 'vitest';

/** A browser's storage, as far as the client asks for it when it is loaded. */
vi.stubGlobal('window', { addEventListener: () => undefined });
vi.stubGlobal('localStorage', { getItem: () => null });

const { rolesQuery } = await import('./queries.ts');

test('the roles are kept for 10 minutes', () =>
  expect(rolesQuery).toMatchObject({ staleTime: 600_000, gcTime: 600_000 }));
