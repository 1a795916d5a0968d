import type { FastifyRequest } from 'fastify';
import type { Route } from '../../contract/route.ts';
import type { Actor } from '../caller.ts';
import { fail, type Failure } from '../failure.ts';

/**
 * Refuses a change that another site makes with the session cookie. Browsers do not send a bearer token or an API key
 * on their own, so those are not checked.
 */
export function refuseCrossSite(route: Route, request: FastifyRequest, actor: Actor): Failure | undefined {
  const usesCookie = actor.kind === 'staff' && actor.via !== 'bearer';
  if (route.method === 'GET' || !usesCookie) return undefined;
  return isSameOrigin(request)
    ? undefined
    : fail('CROSS_SITE', 'A change with the session cookie must come from the console itself.');
}

function isSameOrigin(request: FastifyRequest): boolean {
  const site = request.headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  const { origin, host } = request.headers;
  return origin !== undefined && URL.canParse(origin) && new URL(origin).host === host;
}
