import type { FastifyReply, FastifyRequest } from 'fastify';
import { signedIn } from '../../contract/route.ts';
import { isLoopback } from '../address.ts';
import type { Config } from '../config.ts';
import { fail, isFailure } from '../failure.ts';
import { createIpCheck } from '../ip-list.ts';
import type { Authentication } from './adapter.ts';
import { sendFailure } from './reply.ts';

/** An `onRequest` hook; returns the reply if it has sent a response. */
export type Guard = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply | undefined>;

const refused = fail(
  'FORBIDDEN',
  'DIAGNOSTICS_ACCESS does not allow you to read this. Sign in, or ask the operator of the service.',
);
const forwarding = ['x-forwarded-for', 'forwarded', 'x-real-ip', 'via'];

/** Allows a route for the callers in `DIAGNOSTICS_ACCESS`: everyone, signed-in staff, or certain addresses. */
export function diagnosticsGuard({ diagnosticsAccess }: Config, auth: Authentication): Guard {
  const { everyone, staff, addresses } = diagnosticsAccess;
  // an empty list would allow every address
  const isListed = addresses.length > 0 ? createIpCheck(addresses) : () => false;
  return async (request, reply) => {
    if (everyone || (isListed(request.ip) && isAddressKnown(request))) return undefined;
    if (staff) {
      const path = request.routeOptions.url ?? '';
      const actor = await auth.identify(request, reply, { method: 'GET', path, access: signedIn });
      if (!isFailure(actor) && actor.kind === 'staff') return undefined;
    }
    return sendFailure(request, reply, refused);
  };
}

/**
 * A request through a proxy that is not in `TRUST_PROXY` has the address of the proxy, not of the client. A forwarded
 * loopback address belongs to another machine, or was invented by a client whose proxy passes the header on.
 */
const isAddressKnown = ({ ip, socket, headers }: FastifyRequest): boolean =>
  (ip !== socket.remoteAddress && !isLoopback(ip)) || !forwarding.some((name) => name in headers);
