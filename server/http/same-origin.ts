import type { FastifyRequest } from 'fastify';
import type { Route } from '../../contract/route.ts';
import type { Actor } from '../caller.ts';
import { fail, type Failure } from '../failure.ts';

/**
 * Refuses a change that a browser makes with the cookie alone from another site. A bearer
 * token or an API key is never sent by a browser on its own, so it needs no such proof.
 */
export function crossSite(route: Route, request: FastifyRequest, actor: Actor): Failure | undefined {
  const provesItself = actor.kind !== 'staff' || actor.via === 'bearer';
  if (route.method === 'GET' || provesItself) return undefined;
  return isSameOrigin(request)
    ? undefined
    : fail('CROSS_SITE', 'A change with the session cookie alone must come from the console itself.');
}

function isSameOrigin(request: FastifyRequest): boolean {
  const site = request.headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  const { origin, host } = request.headers;
  return origin !== undefined && URL.canParse(origin) && new URL(origin).host === host;
}
