import fastifyCookie from '@fastify/cookie';
import fastify, {
  LogController,
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify';
import { isUtf8 } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import type { ErrorBody, ErrorCode } from '../../contract/errors.ts';
import { withoutPorts } from '../address.ts';
import type { Context } from '../context.ts';
import { DatabaseDown } from '../db/listening.ts';
import { fail } from '../failure.ts';
import { PasswordsBusy, passwordsBusy } from '../passwords.ts';
import { StorageDown, storageUnavailable } from '../storage/storage.ts';
import { hangUp, mostJsonBytes, watchArrivals, type ArrivalLimits } from './arrivals.ts';
import { limitConnections } from './connections.ts';
import { hasTooManyValues, TooManyValues } from './json-values.ts';
import { databaseFailure, databaseUnavailable, frameworkFailure, sendFailure } from './reply.ts';
import { securityHeaders } from './security-headers.ts';

/** The HTTP server without its routes: how requests are read, errors are answered, and responses are secured. */
export async function createServer(
  { config, log }: Context,
  arrival: ArrivalLimits,
): Promise<FastifyInstance> {
  const loggerInstance: FastifyBaseLogger = log.child(
    {},
    { serializers: { req: loggedRequest, res: (res) => ({ status: res.statusCode }) } },
  );
  const app: FastifyInstance = fastify({
    loggerInstance,
    logController: new LogController({ disableRequestLogging: true }),
    // a logger for each request takes longer than most of what it would log about; errors are logged with the request id
    childLoggerFactory: (logger) => logger,
    genReqId: () => randomUUID(),
    trustProxy: config.trustProxy.length > 0 ? config.trustProxy : false,
    bodyLimit: mostJsonBytes,
    // A file name of 200 multi-byte characters is a valid parameter. With a slash at the end, /readyz would be the console,
    // always with 200, and a list the record without an id.
    routerOptions: { maxParamLength: 3000, ignoreTrailingSlash: true },
    forceCloseConnections: 'idle',
    // Routes are validated by their zod schemas. Without these, Fastify loads ajv, a tenth of the time of a start.
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    // Requests on open connections during shutdown are served; Fastify's own refusal lacks our envelope.
    return503OnClosing: false,
    http: { headersTimeout: arrival.headersMs, connectionsCheckingInterval: arrival.lookMs },
    clientErrorHandler: (error, socket) =>
      owesResponse(socket) ? void socket.destroy() : refuseUnreadable(error, socket, arrival),
    // Fastify runs no hooks for a path that it cannot read; for one of ours, they add the headers and limits of all.
    frameworkErrors: (_error, { raw }, reply) => {
      raw.url = unreadablePath;
      app.routing(raw, reply.raw);
    },
  });

  const { owesResponse } = limitConnections(app, arrival);
  app.addHook('onRequest', (request, reply, done) => {
    const { headers } = request.raw;
    const forwarded = headers['x-forwarded-for'];
    if (forwarded) headers['x-forwarded-for'] = withoutPorts(String(forwarded));
    // The bytes of an upload would be stored as they come.
    if (!/^(identity)?$/i.test(headers['content-encoding'] ?? ''))
      return void sendFailure(request, reply, encodedBody);
    done();
  });

  const refusePath = async (request: FastifyRequest, reply: FastifyReply) =>
    sendFailure(request, reply, invalidPath);
  app.all(unreadablePath, { onRequest: refusePath }, refusePath);

  app.removeAllContentTypeParsers();
  const parseJson = app.getDefaultJsonParser('error', 'error');
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    // The console sends a JSON content type with every call, even without a body (spec part 1, section 7).
    if (body.length === 0) return done(null, undefined);
    const bytes = body as Buffer;
    if (hasTooManyValues(bytes)) return done(new TooManyValues());
    // Decoding would replace what is not UTF-8, and a name in another encoding would be stored without its letters.
    if (!isUtf8(bytes)) return done(new SyntaxError('Not UTF-8'));
    return parseJson(request, bytes.toString(), done);
  });

  // Other bodies are passed on as a stream, also without a type, as browsers send a part of a file; the adapter rejects
  // them on routes that do not accept one.
  const { open } = watchArrivals(app, arrival);
  app.addContentTypeParser('*', (_request, payload, done) => done(null, open(payload)));

  const tellEveryMs = 60_000;
  let outageToldAt = -Infinity;
  app.setErrorHandler((error, request, reply) => {
    const expected = error instanceof PasswordsBusy ? passwordsBusy : frameworkFailure(error);
    if (expected) return sendFailure(request, reply, expected);
    const about = { err: error, reqId: request.id, route: request.routeOptions.url };
    const unserved = databaseFailure(error);
    if (unserved) {
      // the watch on the database tells of an outage, but keeps its connection where only new ones are refused
      const isTold = error instanceof DatabaseDown || performance.now() - outageToldAt < tellEveryMs;
      if (unserved !== databaseUnavailable) request.log.warn(about, unserved.message);
      else if (!isTold) {
        outageToldAt = performance.now();
        request.log.error(about, 'The database cannot be reached');
      }
      return sendFailure(request, reply, unserved);
    }
    if (error instanceof StorageDown) {
      request.log.error(about, 'The storage cannot be used');
      return sendFailure(request, reply, storageUnavailable);
    }
    request.log.error(about, 'Unexpected error');
    const internal = fail('INTERNAL', 'Something went wrong on our side. It has been logged.');
    return sendFailure(request, reply, internal);
  });
  if (log.isLevelEnabled('debug'))
    app.addHook('onResponse', async (request, reply) => {
      request.log.debug({ req: request, res: reply, ms: Math.round(reply.elapsedTime) }, 'answered');
    });
  await app.register(fastifyCookie);
  addHeaders(app, config.publicUrl);
  return app;
}

const unreadablePath = '/.unreadable-path';
const invalidPath = fail('INVALID_INPUT', 'The path is not valid.');

const encodedBody = fail('UNSUPPORTED_MEDIA_TYPE', 'The body must not be compressed (Content-Encoding).');

function noSchemas(): never {
  throw new Error('Fastify has no schemas to compile: the adapter validates.');
}

const unreadable: Record<string, { code: ErrorCode; reason: string; error: string }> = {
  HPE_HEADER_OVERFLOW: {
    code: 'TOO_LARGE',
    reason: '431 Request Header Fields Too Large',
    error: 'The address and headers are longer than this service accepts.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    code: 'REQUEST_TIMEOUT',
    reason: '408 Request Timeout',
    error: 'The headers took too long to arrive.',
  },
};

/** Responds with the envelope to invalid HTTP and to headers that exceed 16 KB or never end. */
function refuseUnreadable(error: NodeJS.ErrnoException, socket: Socket, arrival: ArrivalLimits): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const { reason, ...said } = unreadable[error.code ?? ''] ?? {
    code: 'INVALID_INPUT',
    reason: '400 Bad Request',
    error: 'This is not an HTTP request.',
  };
  const text = JSON.stringify({ success: false, ...said, requestId: randomUUID() } satisfies ErrorBody);
  const head =
    `HTTP/1.1 ${reason}\r\nconnection: close\r\ncontent-type: application/json; charset=utf-8\r\n` +
    `content-length: ${Buffer.byteLength(text)}\r\n\r\n`;
  hangUp(socket, head + text, arrival);
}

/** Logs the route, not the URL, to keep ids, license keys and search terms out of the log. */
function loggedRequest(request: { method: string; routeOptions?: { url?: string }; id?: string }) {
  return { method: request.method, route: request.routeOptions?.url, id: request.id };
}

function addHeaders(app: FastifyInstance, publicUrl: string): void {
  const { ofPages, ofData } = securityHeaders(publicUrl.startsWith('https:'));
  app.addHook('onSend', (request, reply, payload, done) => {
    const isData = String(reply.getHeader('content-type')).startsWith('application/json');
    reply.headers(isData ? ofData : ofPages).header('x-request-id', request.id);
    if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store');
    done(null, payload);
  });
}
