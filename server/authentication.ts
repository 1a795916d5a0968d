import '@fastify/cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { callName } from '../contract/address.ts';
import { actorId, nobody, type Actor, type Caller } from './caller.ts';
import type { Config } from './config.ts';
import type { Context } from './context.ts';
import type { Budget } from './budgets.ts';
import type { ApiKeyCheck, KeyAttack } from './features/api-keys/index.ts';
import { refuseOthers, type MachineCheck } from './features/credentials/index.ts';
import type { Refusals } from './features/audit/index.ts';
import type { Sessions } from './features/session/index.ts';
import type { Failure } from './failure.ts';
import type { Cookie } from './http/call.ts';
import { bearerToken, callerOf, type AskedRoute, type Authentication } from './http/adapter.ts';

/** Identifies the caller of a request: a machine, an API key, or staff by bearer token or cookie. */
export function createAuthentication(
  { config, clock }: Context,
  sessions: Sessions,
  { apiKeys: checkApiKey, machines: checkMachine }: { apiKeys: ApiKeyCheck; machines: MachineCheck },
  refusals: Refusals,
): Authentication {
  const { session, device, options } = cookiesOf(config);

  async function identify(
    request: FastifyRequest,
    reply: FastifyReply,
    route: AskedRoute,
  ): Promise<Actor | Failure> {
    const caller = (): Caller => callerOf(request, clock(), callName(route), nobody);
    const token = presentedToken(request, route);
    if (token !== undefined) {
      const { machine, budget, isUnknown } = await checkMachine(token, route);
      if (isUnknown) await tokenRefused(caller(), machine.message);
      sendLimit(reply, budget);
      return machine;
    }
    const apiKey = presentedApiKey(request, route);
    if (apiKey !== undefined) {
      const { holder, budget, attack } = await checkApiKey(apiKey, request.ip);
      if (attack) await keyRefused(caller(), apiKey, attack);
      sendLimit(reply, budget);
      return holder;
    }
    const bearer = bearerToken(request);
    const cookie = request.cookies[session];
    const byBearer = bearer && (await sessions.recognize(bearer, 'bearer', caller()));
    if (byBearer) return byBearer;
    // An expired access token gets a 401 even if a cookie is present, so that the console rotates its session. Signing
    // out must still find the session.
    const cookieCounts = !bearer || route.access.kind === 'public';
    const staff = cookieCounts && cookie && (await sessions.recognize(cookie, 'cookie', caller()));
    return staff || nobody;
  }

  /** Unknown keys are grouped by network, since an attacker sends a different one each time. */
  function keyRefused(by: Caller, presented: string, { kind, apiKey, message }: KeyAttack): Promise<void> {
    const shown = apiKey ?? { id: null, name: refusals.shortened(presented) };
    return refusals.record(by, {
      kind,
      subject: apiKey?.id ?? '',
      perNetwork: true,
      audit: (change) => change.audit('api_key.refused', shown, { error: message }),
    });
  }

  const tokenRefused = (by: Caller, message: string): Promise<void> =>
    refusals.record(by, {
      kind: 'machine_token_unknown',
      subject: '',
      perNetwork: true,
      audit: (change) => change.audit('call.refused', by, { error: message }),
    });

  return {
    identify,
    refuseOthers,
    cookies: (request, reply) => {
      const cookie = (name: string, maxAge?: { maxAge: number }): Cookie => ({
        value: request.cookies[name],
        set: (value) => void reply.setCookie(name, value, { ...options, ...maxAge }),
        clear: () => void reply.clearCookie(name, options),
      });
      return { cookie: cookie(session), device: cookie(device, { maxAge: deviceSeconds }) };
    },
    refused: (by, failure) =>
      refusals.record(by, {
        kind: 'call_refused',
        subject: `${actorId(by.actor)} ${by.endpoint} ${failure.message}`,
        perNetwork: by.actor.kind === 'nobody',
        audit: (change) => change.audit('call.refused', by, { error: failure.message }),
      }),
  };
}

/** The maximum lifetime of a cookie in browsers; each sign-in renews it. */
const deviceSeconds = 400 * 86_400;

export function cookiesOf({ publicUrl }: Config) {
  const secure = publicUrl.startsWith('https:');
  return {
    // Browsers accept the __Host- prefix only with Secure, Path=/ and no Domain.
    session: secure ? '__Host-lanyard_session' : 'lanyard_session',
    device: secure ? '__Host-lanyard_device' : 'lanyard_device',
    options: { path: '/', httpOnly: true, sameSite: 'strict' as const, secure },
  };
}

function sendLimit(reply: FastifyReply, budget: Budget | undefined): void {
  if (!budget) return;
  reply.header('ratelimit-limit', budget.limit);
  reply.header('ratelimit-remaining', budget.remaining);
  reply.header('ratelimit-reset', budget.resetSeconds);
}

/** The machine token from `X-Machine-Token`, or the query where the route allows it; public calls need none. */
function presentedToken(request: FastifyRequest, route: AskedRoute): string | undefined {
  if (route.access.kind === 'public') return undefined;
  const header = request.headers['x-machine-token'];
  if (header !== undefined) return String(header);
  const { token } = request.query as { token?: unknown };
  return route.apiKeyInQuery && typeof token === 'string' ? token : undefined;
}

/** The API key from `X-API-Key`, a bearer token in key format, or the query where the route allows it; likewise. */
function presentedApiKey(request: FastifyRequest, route: AskedRoute): string | undefined {
  if (route.access.kind === 'public') return undefined;
  const header = request.headers['x-api-key'];
  if (header !== undefined) return String(header);
  const bearer = bearerToken(request);
  if (bearer?.startsWith('lyd_')) return bearer;
  const { key } = request.query as { key?: unknown };
  return route.apiKeyInQuery && typeof key === 'string' ? key : undefined;
}
