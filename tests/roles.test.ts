import { describe, expect, test } from 'vitest';
import { lackedOf, permissionName, roleMatrix, roleNames, type Permission } from '../contract/permissions.ts';
import type { Route } from '../contract/route.ts';
import { session as sessionCalls } from '../contract/session.ts';
import { everyCall } from './every-call.ts';
import { enrollOn, makeApiKey, makeLicense } from './factories.ts';
import { startTestServer, type Identity } from './harness.ts';

type Caller = Identity & {
  permissions: readonly Permission[];
  kind: 'nobody' | 'staff' | 'apiKey' | 'machine';
};

/** All roles that can have a session: service accounts have API keys instead. */
const staffRoles = roleNames.filter((role) => role !== 'service_account');
const callers = ['nobody', ...staffRoles, 'service_account', 'API key', 'machine'] as const;

const known = new Map<string, Caller>();
const server = await startTestServer();
known.set('nobody', { headers: {}, permissions: [], kind: 'nobody' });
for (const role of staffRoles) {
  const { byCookie } = await server.signInAs(role);
  known.set(role, { ...byCookie, permissions: roleMatrix[role], kind: 'staff' });
}
// A user who signed in before becoming a service account is signed out.
const demoted = await server.signInAs('viewer');
await server.db
  .updateTable('user_roles')
  .set({ role_id: 'service_account' })
  .where('user_id', '=', demoted.userId)
  .execute();
known.set('service_account', { ...demoted.byCookie, permissions: [], kind: 'nobody' });
const admin = server.api(await server.signInAs('super_admin'));
const { headers } = await makeApiKey(admin);
known.set('API key', { headers, permissions: [], kind: 'apiKey' });
const enrolled = await enrollOn(server, await makeLicense(admin), 'machine');
known.set('machine', { headers: enrolled.headers, permissions: [], kind: 'machine' });

/** The contract's decision on this caller and this call. */
function expected({ access }: Route, { kind, permissions }: Caller): 'allowed' | 401 | 403 {
  if (access.kind === 'public') return 'allowed';
  if (kind === 'nobody') return 401;
  if (kind === 'apiKey') return access.kind === 'staff' && access.apiKey === 'validate' ? 'allowed' : 403;
  if (kind === 'machine')
    return access.kind === 'staff' && ['validate', 'updates'].includes(access.apiKey ?? '') ? 'allowed' : 403;
  if (access.kind === 'signedIn') return 'allowed';
  return lackedOf(permissions, access.needs).length === 0 ? 'allowed' : 403;
}

/** Calls with parameters of records that do not exist: only the permission check is tested. */
async function knock(route: Route, caller: Caller): Promise<'allowed' | 401 | 403> {
  const path = route.path.replaceAll(/\{\w+\}/g, '01920000-0000-7000-8000-000000000000');
  const response = await fetch(server.url + path, {
    method: route.method,
    headers: { ...caller.headers, ...(route.body ? { 'content-type': 'application/json' } : {}) },
    ...(route.body ? { body: '{"nothing":"of this"}' } : {}),
  });
  const text = await response.text();
  expect(response.status, text).toBeLessThan(500);
  const { code } = (text.startsWith('{') ? JSON.parse(text) : {}) as { code?: string };
  if (response.status === 401 && code === 'UNAUTHENTICATED') return 401;
  if (response.status === 403) return 403;
  return 'allowed';
}

// These end the session that the others need; they have separate tests.
const endsSession = (route: Route) => route === sessionCalls.logout || route === sessionCalls.refresh;
const table = everyCall
  .filter(([, route]) => !endsSession(route))
  .flatMap(([name, route]) => callers.map((caller) => [caller, name, route] as const));

describe('the contract decides', () => {
  test('differently for each: this table would not be worth its name otherwise', () => {
    const allowed = callers.map((caller) => {
      const open = table.filter(
        ([who, , route]) => who === caller && expected(route, known.get(caller)!) === 'allowed',
      );
      return [caller, open.length] as const;
    });
    const least = Math.min(...allowed.map(([, n]) => n));
    const most = Math.max(...allowed.map(([, n]) => n));
    expect(allowed).toContainEqual(['nobody', least]);
    expect(allowed).toContainEqual(['super_admin', most]);
    expect(new Set(allowed.map(([, n]) => n)).size).toBeGreaterThan(4);
  });

  test.each(table)('%s on %s', async (caller, _, route) => {
    expect(await knock(route, known.get(caller)!)).toBe(expected(route, known.get(caller)!));
  });

  test('and a refusal names the permission that is lacking', async () => {
    const viewer = known.get('viewer')!;
    for (const [, route] of everyCall) {
      if (route.access.kind !== 'staff' || expected(route, viewer) !== 403) continue;
      const [lacking] = lackedOf(viewer.permissions, route.access.needs);
      const path = route.path.replaceAll(/\{\w+\}/g, 'x');
      const response = await fetch(server.url + path, {
        method: route.method,
        headers: viewer.headers,
      });
      expect(((await response.json()) as { error: string }).error).toBe(
        `You lack the permission ${lacking}.`,
      );
    }
  });
});

test('the matrix of the database is that of the contract', async () => {
  const rows = await server.db.selectFrom('role_permissions').selectAll().execute();
  const words = (list: readonly Permission[]) => list.map(permissionName).toSorted();
  for (const role of roleNames) {
    expect(words(rows.filter((row) => row.role_id === role)), role).toEqual(words(roleMatrix[role]));
  }
});
