import { expect, test } from 'vitest';
import { router } from './routes.tsx';

const idsOf = (path: string) => router.matchRoutes(path, {}).map(({ routeId }) => routeId);

test.each([
  '/',
  '/licenses',
  '/licenses/new',
  '/customers',
  '/customers/trash',
  '/analytics',
  '/users',
  '/audit',
  '/releases',
  '/releases/trash',
  '/machines/machine-1',
  '/api-keys',
  '/nowhere',
])('%s stands behind the sign-in', (path) => expect(idsOf(path)).toContain('/signed-in'));

test('no screen but the sign-in page stands before it', () => {
  const screens = Object.values(router.routesById).filter((route) => route.children === undefined);
  expect(screens.filter(({ parentRoute }) => parentRoute.id !== '/signed-in').map(({ id }) => id)).toEqual([
    '/login',
  ]);
});
