import type { FastifyReply, FastifyRequest } from 'fastify';
import { signedIn } from '../../contract/route.ts';
import { isLoopback } from '../address.ts';
import type { Config } from '../config.ts';
import { fail, isFailure } from '../failure.ts';
import { createIpCheck } from '../ip-list.ts';
import type { Authentication } from './adapter.ts';
import { sendFailure } from './reply.ts';

/** A hook of a route; where it answers the request itself, the route does not. */
export type Guard = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply | undefined>;

const refused = fail(
  'FORBIDDEN',
  'The setting DIAGNOSTICS_ACCESS does not open this to you. Sign in, or ask whoever operates the service.',
);
const forwarding = ['x-forwarded-for', 'forwarded', 'x-real-ip', 'via'];

/** Opens a route to those whom `DIAGNOSTICS_ACCESS` names: everyone, signed-in staff, or certain addresses. */
export function diagnosticsGuard({ diagnosticsAccess }: Config, auth: Authentication): Guard {
  const { everyone, staff, addresses } = diagnosticsAccess;
  // an empty whitelist would allow every address
  const isListed = addresses.length > 0 ? createIpCheck(addresses) : () => false;
  return async (request, reply) => {
    if (everyone || (isListed(request.ip) && isAddressKnown(request))) return undefined;
    if (staff) {
      const actor = await auth.identify(request, reply, { access: signedIn });
      if (!isFailure(actor) && actor.kind === 'staff') return undefined;
    }
    return sendFailure(request, reply, refused);
  };
}

/**
 * What a proxy forwards that `TRUST_PROXY` does not name bears the proxy's address, not that of who asks. A loopback
 * address that is forwarded is that of another machine, or made up by a caller whose proxy passes the header on.
 */
const isAddressKnown = ({ ip, socket, headers }: FastifyRequest): boolean =>
  (ip !== socket.remoteAddress && !isLoopback(ip)) || !forwarding.some((name) => name in headers);
