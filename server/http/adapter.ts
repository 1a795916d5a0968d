import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { once } from 'node:events';
import { PassThrough, pipeline, Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { isDeepStrictEqual } from 'node:util';
import { callName } from '../../contract/address.ts';
import { mediaTypes, type Access, type ApiKeyScope, type Route } from '../../contract/route.ts';
import { lackedOf } from '../../contract/permissions.ts';
import type { Actor, Caller } from '../caller.ts';
import { runChange } from '../change.ts';
import type { Context } from '../context.ts';
import { refuseEnded, secondFactorFirst } from '../ended-caller.ts';
import { fail, failField, isFailure, type Failure } from '../failure.ts';
import { compressed, compressedStream } from './compression.ts';
import { breakOff } from './connections.ts';
import type { Call, ChangeHandler, DownloadFile, Implemented, Cookie } from './call.ts';
import {
  claimKey,
  claimOf,
  keepAnswer,
  openAnswer,
  readAnswer,
  readIdempotencyKey,
  sealAnswer,
  type Claim,
  type StoredAnswer,
} from './idempotency.ts';
import { comparesVersions, errorsOf } from './errors-of.ts';
import { checkInput } from './input.ts';
import { sendFailure } from './reply.ts';
import { urlCompleter, type UrlCompleter } from './public-urls.ts';
import { refuseCrossSite } from './same-origin.ts';

/** The fields of a route that authentication uses. */
export type AskedRoute = Pick<Route, 'access' | 'apiKeyInQuery'>;

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

async function carryOut(
  context: Context,
  { route, handler }: { route: Route; handler: ChangeHandler<Route> },
  request: FastifyRequest,
  call: Call<Route>,
) {
  const key = readIdempotencyKey(request.headers['idempotency-key']);
  if (isFailure(key)) return key;
  const { actor, now } = call.by;
  const { secrets } = context;
  // one that no schema has read may be nested too deeply for JSON.stringify
  const body = route.anyBody ? null : (request.body ?? null);
  const asked = [route.method, request.url, body, request.headers['if-match'] ?? null];
  const claim = key === undefined ? undefined : claimOf(secrets, { actor, key, request: asked, now });
  const repeated = (earlier: StoredAnswer, by: Claim) => {
    void call.http.reply.header('idempotent-replayed', 'true');
    return route.shownOnce ? openAnswer(secrets, by, earlier.answer) : (earlier.answer ?? undefined);
  };
  // Not prepared again: the old password of a completed change would count as a wrong guess. Another request with the key
  // is prepared, so that its password counts: otherwise any number could be compared with the first one.
  const before = claim && handler.prepare && (await readAnswer(context.db, claim));
  if (claim && before && !isFailure(before)) return repeated(before, claim);
  const prepared = await handler.prepare?.(call);
  return runChange<unknown>(context, call.by, async (change) => {
    const earlier = claim && (await claimKey(change.tx, claim));
    if (claim && earlier) return isFailure(earlier) ? earlier : repeated(earlier, claim);
    // checked only now: a call that has been completed meanwhile returns its stored response
    if (isFailure(prepared)) return prepared;
    // Preparing may take seconds. A password that was reset meanwhile must not be replaced by a thief's.
    const ended = handler.prepare && (await refuseEnded(change.tx, actor, context));
    if (ended) return ended;
    const result: unknown = await handler.change(change, call, prepared);
    if (claim && !isFailure(result))
      await keepAnswer(change.tx, claim, route.shownOnce ? sealAnswer(secrets, claim, result) : result);
    return result;
  });
}

export const callerOf = (request: FastifyRequest, now: Date, endpoint: string, actor: Actor): Caller => ({
  actor,
  now,
  ip: request.ip,
  userAgent: (request.headers['user-agent'] ?? '').slice(0, 400),
  requestId: request.id,
  endpoint,
});

/** Why this actor may not make a call with that access; undefined when they may. */
export function authorize(access: Access, actor: Actor): Failure | undefined {
  if (access.kind === 'public') return undefined;
  if (actor.kind === 'nobody') return fail('UNAUTHENTICATED', asksFor(access));
  if (actor.kind === 'apiKey' || actor.kind === 'machine') {
    const who = actor.kind === 'apiKey' ? 'API key' : 'machine token';
    if (access.kind !== 'staff' || !access.apiKey)
      return fail('FORBIDDEN', `No ${who} may make this call: it is for staff who are signed in.`);
    const scopes: readonly ApiKeyScope[] = actor.scopes;
    if (scopes.includes(access.apiKey)) return undefined;
    return fail('FORBIDDEN', `This ${who} lacks the scope ${access.apiKey}.`);
  }
  if (actor.kind !== 'staff' || access.kind === 'signedIn') return undefined;
  const [lacking] = lackedOf(actor.permissions, access.needs);
  if (!lacking) return undefined;
  if (actor.ownPasswordMissing)
    return fail('FORBIDDEN', 'Somebody else set your password. Change it on your account page first.');
  if (actor.secondFactorMissing) return secondFactorFirst;
  return fail('FORBIDDEN', `You lack the permission ${lacking}.`);
}

/** What a call without credentials lacks. */
function asksFor(access: Access): string {
  if (access.kind !== 'staff' || !access.apiKey) return 'Sign in first.';
  const token = access.apiKey === 'releases' ? '' : ' or a machine token (X-Machine-Token)';
  return `Send an API key (X-API-Key)${token}, or sign in.`;
}

/** The token of `Authorization: Bearer`, if any. */
export function bearerToken(request: FastifyRequest): string | undefined {
  return /^Bearer +([\w.~+/-]+=*)$/i.exec(request.headers.authorization ?? '')?.[1];
}

async function sendAnswer(
  route: Route,
  request: FastifyRequest,
  reply: FastifyReply,
  result: unknown,
  completeUrls: UrlCompleter,
): Promise<FastifyReply> {
  if (route.csv || route.file) {
    const { fileName, stream } = result as DownloadFile;
    const sent = compressedStream(route, request, reply, stream);
    if (request.raw.httpVersion === '1.0')
      sent.once('error', () => reply.raw.headersSent && breakOff(request.raw.socket));
    return reply
      .header('content-disposition', `attachment; filename="${fileName}"`)
      .type(`${route.csv ? 'text/csv' : 'application/json'}; charset=utf-8`)
      .send(sent);
  }
  if (!route.answer) return reply.code(204).send();
  const version = (result as { updatedAt?: string }).updatedAt;
  if (version) reply.header('etag', `"${version}"`);
  const { data, ...beside } = (route.meta ? result : { data: result }) as { data: unknown };
  const body = { success: true, data: completeUrls ? completeUrls(data) : data, ...beside };
  const text = await compressed(route, request, reply, JSON.stringify(body));
  return reply
    .code(route.status ?? 200)
    .type('application/json; charset=utf-8')
    .send(text);
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

/** How often the caller of a file that is being sent is looked at. */
const lookEveryMs = 1000;

/**
 * Waits for the first bytes of a file, so that an unavailable database still results in a 503; a later failure aborts
 * the file, which clients detect, instead of hanging. So does the end of the session, or the loss of a permission: a
 * file is read while it is sent, and a slow reader could take hours.
 */
async function streamWhileMay(context: Context, by: Caller, source: Readable): Promise<Readable> {
  const { signals } = context;
  // destroyed at once; a generator only when the query that it waits for has ended
  const stream = pipeline(source, new PassThrough(), () => undefined);
  await once(stream, 'readable');
  const look = async () => {
    const ended = await runChange(context, by, ({ tx }) => refuseEnded(tx, by.actor, context));
    if (ended) stream.destroy(new Error(ended.message));
  };
  // a database that does not answer aborts the file by itself
  const looking = setInterval(() => void look().catch(() => undefined), lookEveryMs).unref();
  signals
    .untilDown(() => finished(stream))
    .catch((error: Error) => stream.destroy(error))
    .finally(() => clearInterval(looking));
  return stream;
}

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
