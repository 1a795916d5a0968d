import { beforeEach, expect, test, vi } from 'vitest';

/** A browser's storage: the world outside. */
const storage = new Map<string, string>();
vi.stubGlobal('window', { addEventListener: () => undefined });
vi.stubGlobal('localStorage', {
  getItem: (key: string) => storage.get(key) ?? null,
  setItem: (key: string, value: string) => storage.set(key, value),
  removeItem: (key: string) => storage.delete(key),
});
const { rereadSession } = await import('./session-store.ts');

const user = { userId: 'u1', email: 'dana@clinic.example', name: 'Dana Ruiz' };
const permissions = [{ resource: 'customers', action: 'read' }];
const roles = [{ name: 'viewer' }];

beforeEach(() => {
  storage.clear();
  storage.set('user', JSON.stringify(user));
  storage.set('accessToken', 'first');
  storage.set('permissions', JSON.stringify(permissions));
  storage.set('roles', JSON.stringify(roles));
});

test('a session is restored from its four items, with the stored rights', () => {
  expect(rereadSession()).toEqual({ user, accessToken: 'first', permissions, roles });
});

test.each(['user', 'accessToken'])('there is no session without %s', (key) => {
  storage.delete(key);
  expect(rereadSession()).toBeNull();
});

test.each(['{"name":', 'null', '7'])('a stored user that reads %s clears all four items', (corrupt) => {
  storage.set('user', corrupt);
  expect(rereadSession()).toBeNull();
  expect([...storage.keys()]).toEqual([]);
});
