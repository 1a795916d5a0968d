import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Readable } from 'node:stream';
import { isDeepStrictEqual } from 'node:util';
import { callName } from '../../contract/address.ts';
import { mediaTypes, type Route } from '../../contract/route.ts';
import type { Actor, Caller } from '../caller.ts';
import type { Context } from '../context.ts';
import { fail, failField, isFailure, type Failure } from '../failure.ts';
import { authorize } from './authorize.ts';
import type { Call, DownloadFile, Implemented, Cookie } from './call.ts';
import { carryOut } from './carry-out.ts';
import { comparesVersions, errorsOf } from './errors-of.ts';
import { checkInput } from './input.ts';
import { sendFailure } from './reply.ts';
import { urlCompleter, type UrlCompleter } from './public-urls.ts';
import { refuseCrossSite } from './same-origin.ts';
import { sendAnswer, streamWhileMay } from './send.ts';

/** The fields of a route that authentication uses. */
export type AskedRoute = Pick<Route, 'method' | 'path' | 'access' | 'apiKeyInQuery' | 'evenUnlicensed'>;

/** The dependencies of the adapter on features: identification of the caller, and recording of refusals. */
export type Authentication = {
  cookies(request: FastifyRequest, reply: FastifyReply): { cookie: Cookie; device: Cookie };
  /** The signed-in staff member, API key or machine, anonymous, or why the key is refused (address, limit, expiry). */
  identify(request: FastifyRequest, reply: FastifyReply, route: AskedRoute): Promise<Actor | Failure>;
  /** Why a machine may not make this call: it names another machine or license. */
  refuseOthers(actor: Actor, request: FastifyRequest, body: unknown): Failure | undefined;
  refused(by: Caller, failure: Failure): Promise<void>;
};

type Options = { auth: Authentication; checkAnswers: boolean };

/** Serves every implemented route of the contract: authorization, validation, envelope, idempotency. */
export function serve(
  app: FastifyInstance,
  context: Context,
  implemented: Implemented[],
  options: Options,
): void {
  for (const entry of implemented) {
    const completeUrls = urlCompleter(entry.route.answer, context.config.publicUrl);
    for (const path of [entry.route.path, entry.route.alias ?? []].flat()) {
      app.route({
        method: entry.route.method,
        url: path.replaceAll(/\{(\w+)\}/g, ':$1'),
        // a HEAD would read the whole list, and leave an entry of an export that nobody has
        exposeHeadRoute: !entry.route.csv && !entry.route.file,
        handler: (request, reply) => answer(context, { ...options, completeUrls }, entry, request, reply),
      });
    }
  }
}

async function answer(
  context: Context,
  { auth, checkAnswers, completeUrls }: Options & { completeUrls: UrlCompleter },
  { route, handler }: Implemented,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  const result = await context.signals.untilDown(async () => {
    const actor = await auth.identify(request, reply, route);
    if (isFailure(actor)) return actor;
    const by = callerOf(request, context.clock(), callName(route), actor);
    const denied = authorize(route.access, by.actor) ?? refuseCrossSite(route, request, actor);
    if (denied) {
      if (denied.failure !== 'UNAUTHENTICATED') await auth.refused(by, denied);
      return denied;
    }
    const stream = readStream(route, request);
    if (isFailure(stream)) return stream;
    const body = stream ? undefined : request.body;
    const input = checkInput(route, { params: request.params, query: request.query, body });
    if (isFailure(input)) return input;
    const foreign = auth.refuseOthers(actor, request, input.body);
    if (foreign) {
      await auth.refused(by, foreign);
      return foreign;
    }
    const ifMatch = readIfMatch(route, request.headers['if-match']);
    if (isFailure(ifMatch)) return ifMatch;
    const call = {
      ...input,
      by,
      ...auth.cookies(request, reply),
      seen: versionIn(input.body) ?? versionIn(input.query) ?? ifMatch,
      stream,
      http: { request, reply },
    } as Call<Route>;
    const made =
      typeof handler === 'function'
        ? await handler(call)
        : await carryOut(context, { route, handler }, request, call);
    if (!(route.csv || route.file) || isFailure(made)) return made;
    const file = made as DownloadFile;
    return { ...file, stream: await streamWhileMay(context, by, file.stream) };
  });
  if (checkAnswers) assertAnswer(route, result);
  if (isFailure(result)) return sendFailure(request, reply, result);
  if (route.raw) return reply;
  return sendAnswer(route, request, reply, result, completeUrls);
}

export const callerOf = (request: FastifyRequest, now: Date, endpoint: string, actor: Actor): Caller => ({
  actor,
  now,
  ip: request.ip,
  userAgent: (request.headers['user-agent'] ?? '').slice(0, 400),
  requestId: request.id,
  endpoint,
});

/** The token of `Authorization: Bearer`, if any. */
export function bearerToken(request: FastifyRequest): string | undefined {
  return /^Bearer +([\w.~+/-]+=*)$/i.exec(request.headers.authorization ?? '')?.[1];
}

/** The body of a route that reads it itself; other routes accept only JSON. */
function readStream(route: Route, request: FastifyRequest): Call<Route>['stream'] | Failure {
  const contentType = request.headers['content-type'] ?? '';
  const streamed = contentType.startsWith('multipart/') ? 'multipart' : 'bytes';
  const kind = request.body instanceof Readable ? streamed : undefined;
  if (kind !== route.bodyKind) {
    return fail(
      'UNSUPPORTED_MEDIA_TYPE',
      `The body must be ${route.bodyKind ? mediaTypes[route.bodyKind] : 'JSON (Content-Type: application/json)'}.`,
    );
  }
  return kind && { readable: request.body as Readable, contentType };
}

/**
 * The version in `If-Match: "2026-…"`, weak or strong; `*` or no header matches every version. A change that compares no
 * versions is refused: its caller would rely on a check that is not made.
 */
function readIfMatch(route: Route, header: string | undefined): string | undefined | Failure {
  // a raw handler reads the header itself
  if (header === undefined || route.raw || header.trim() === '*') return undefined;
  if (route.method !== 'GET' && !comparesVersions(route))
    return failField('INVALID_INPUT', 'If-Match', 'This call compares no versions');
  const version = header.trim().replace(/^W\//, '').replaceAll('"', '');
  if (!Number.isNaN(Date.parse(version))) return version;
  return failField('INVALID_INPUT', 'If-Match', 'Must be the ETag of the record');
}

const versionIn = (input: unknown) => (input as { updatedAt?: string } | undefined)?.updatedAt;

/** In tests, a response that differs from the contract, or has extra fields, is an error. */
function assertAnswer(route: Route, result: unknown): void {
  if (isFailure(result)) {
    if (errorsOf(route).includes(result.failure)) return;
    throw new Error(`${callName(route)} does not name ${result.failure} in its contract`);
  }
  if (!route.answer) return;
  const sent = JSON.parse(
    JSON.stringify(route.meta ? (result as { data: unknown }).data : result),
  ) as unknown;
  const promised = route.answer.parse(sent);
  if (!isDeepStrictEqual(promised, sent))
    throw new Error(`${callName(route)} answers more than its contract`);
}
