import { beforeEach, expect, test } from 'vitest';
import { stubBrowser } from '../tests/browser.ts';

const storage = stubBrowser();
const user = { userId: 'u1', email: 'dana@clinic.example', name: 'Dana Ruiz' };
const permissions = [{ resource: 'customers', action: 'read' }];
const roles = [{ name: 'viewer' }];

function fill() {
  storage.clear();
  storage.set('user', JSON.stringify(user));
  storage.set('accessToken', 'first');
  storage.set('permissions', JSON.stringify(permissions));
  storage.set('roles', JSON.stringify(roles));
}

// The store reads storage when it loads.
fill();
const { clearSession, getSession, hasSessionLapsed, rereadSession, setSession } =
  await import('./session-store.ts');
const { permissionChecks } = await import('./permission-checks.ts');

beforeEach(fill);

test('a session is restored from its four items, with the stored rights', () => {
  expect(rereadSession()).toEqual({ user, accessToken: 'first', permissions, roles });
});

test.each(['user', 'accessToken'])('there is no session without %s', (key) => {
  storage.delete(key);
  expect(rereadSession()).toBeNull();
});

test.each(['{"name":', 'null', '7', '[]', '"Dana"', '{"name":7}', '{"email":[]}'])(
  'a stored user that reads %s clears all four items',
  (corrupt) => {
    storage.set('user', corrupt);
    expect(rereadSession()).toBeNull();
    expect([...storage.keys()]).toEqual([]);
  },
);

test('of a stored user only what is text is kept; what is missing is empty', () => {
  storage.set('user', JSON.stringify({ name: 'Dana Ruiz', email: null, extra: { a: 1 } }));
  expect(rereadSession()?.user).toEqual({ userId: '', email: '', name: 'Dana Ruiz' });
});

test.each(['[null]', '[7]', '{}', 'null', '{"resource":', '[{"resource":"customers"}]', '[[]]'])(
  'stored permissions or roles that read %s permit nothing, and break nothing',
  (corrupt) => {
    storage.set('permissions', corrupt);
    storage.set('roles', corrupt);
    const session = rereadSession();
    expect(session).toMatchObject({ user, accessToken: 'first', permissions: [], roles: [] });
    expect(permissionChecks(session!).can.viewCustomers).toBe(false);
    expect(permissionChecks(session!).hasRole('viewer')).toBe(false);
  },
);

test('what is kept of an answer is as strict: a list that is none is empty', () => {
  setSession({ user, accessToken: 'next', permissions: null, roles: [null] } as never);
  expect(getSession()).toMatchObject({ accessToken: 'next', permissions: [], roles: [] });
  expect(storage.get('permissions')).toBe('[]');
});

test('a session has lapsed unless the user ended it, until the next sign-in', () => {
  const session = rereadSession()!;
  expect(hasSessionLapsed()).toBe(false);
  clearSession({ asked: true });
  expect(hasSessionLapsed()).toBe(false);
  // A call that was in progress is refused after that.
  clearSession();
  expect(hasSessionLapsed()).toBe(false);
  setSession(session);
  clearSession();
  expect(hasSessionLapsed()).toBe(true);
  setSession(session);
  expect(hasSessionLapsed()).toBe(false);
  // As another tab writes it.
  storage.clear();
  rereadSession();
  expect(hasSessionLapsed()).toBe(true);
});
