import { expect, test } from 'vitest';
import { machines } from './machines.ts';
import { releases } from './releases.ts';
import { permissionName } from './permissions.ts';
import { needsOf, type Route } from './route.ts';
import { directUploadLimit, parallelChunks, uploads } from './uploads.ts';

const admin = '/api/v1/updates/admin';
const binaries = '/api/v1/binaries/upload';

test.each<[string, string, Route, string]>([
  ['GET', `${admin}/releases`, releases.list, 'releases:read'],
  ['GET', `${admin}/analytics`, releases.analytics, 'releases:read'],
  ['GET', `${admin}/releases/trash`, releases.trash, 'releases:read'],
  ['POST', `${admin}/upload`, releases.createFromUrl, 'releases:create'],
  ['PATCH', `${admin}/releases/{releaseId}`, releases.update, 'releases:update'],
  ['DELETE', `${admin}/releases/{releaseId}`, releases.softDelete, 'releases:delete'],
  ['POST', `${admin}/releases/{releaseId}/restore`, releases.restore, 'releases:delete'],
  ['DELETE', `${admin}/releases/{releaseId}/permanent`, releases.deletePermanently, 'releases:delete'],
  ['GET', `${admin}/machines/{id}`, machines.get, 'releases:read'],
  ['POST', `${admin}/rollout/{releaseId}`, releases.rollout, 'rollouts:create rollouts:update'],
  ['POST', binaries, uploads.direct, 'releases:create'],
  ['POST', `${binaries}/prepare`, uploads.prepare, 'releases:create'],
  ['PUT', `${binaries}/chunk/{uploadId}/{index}`, uploads.chunk, 'releases:create'],
  ['POST', `${binaries}/complete`, uploads.complete, 'releases:create'],
])('%s %s is a call of the spec and asks for its permission', (method, path, route, permissions) => {
  expect([route.method, route.path]).toEqual([method, path]);
  const asked = needsOf(route.access).flat().map(permissionName);
  expect(asked.join(' ')).toBe(permissions);
});

test('up to 20 MB go in one request, and six chunks go at a time', () => {
  expect([directUploadLimit, parallelChunks]).toEqual([20 * 1024 * 1024, 6]);
});
