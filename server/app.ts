import fastifyCookie from '@fastify/cookie';
import fastifySwagger from '@fastify/swagger';
import fastifySwaggerUi from '@fastify/swagger-ui';
import fastify, { LogController, type FastifyBaseLogger, type FastifyInstance } from 'fastify';
import { isUtf8 } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import path from 'node:path';
import type { ErrorBody, ErrorCode } from '../contract/errors.ts';
import { contract } from '../contract/index.ts';
import { withoutPorts } from './address.ts';
import { cookiesOf, createAuthentication } from './authentication.ts';
import { createInspector } from './binaries/inspect.ts';
import { createBudgets } from './budgets.ts';
import type { Context } from './context.ts';
import { createFacts } from './db/facts.ts';
import { DatabaseDown } from './db/signals.ts';
import { createWriteBehind } from './db/write-behind.ts';
import { openJournal } from './db/journal.ts';
import { fail } from './failure.ts';
import { accountRoutes } from './features/account/account.routes.ts';
import { activationRoutes } from './features/activations/activations.routes.ts';
import { approvalRoutes } from './features/approvals/approvals.routes.ts';
import type { ChainWatch, Refusals } from './features/audit/index.ts';
import { auditRoutes } from './features/audit/audit.routes.ts';
import { analyticsRoutes } from './features/analytics/analytics.routes.ts';
import { createApiKeyCheck } from './features/api-keys/index.ts';
import { apiKeyRoutes } from './features/api-keys/api-keys.routes.ts';
import { clockRoutes } from './features/clock/clock.routes.ts';
import { createMachineCheck } from './features/credentials/index.ts';
import { credentialRoutes } from './features/credentials/credentials.routes.ts';
import { customerPageRoutes } from './features/customer-page/customer-page.routes.ts';
import { customerRoutes } from './features/customers/customers.routes.ts';
import { downloadRoutes } from './features/downloads/downloads.routes.ts';
import type { InstallationKeys } from './features/keys/index.ts';
import { importRoutes } from './features/imports/imports.routes.ts';
import { keyRoutes } from './features/keys/keys.routes.ts';
import { licenseRoutes } from './features/licenses/licenses.routes.ts';
import { machineRoutes } from './features/machines/machines.routes.ts';
import { createModuleNames } from './features/modules/index.ts';
import { moduleRoutes } from './features/modules/modules.routes.ts';
import { noticeRoutes } from './features/notices/notices.routes.ts';
import { offlineRoutes } from './features/offline/offline.routes.ts';
import { createPolicyFinder, customersPinnedTo } from './features/policies/index.ts';
import { policyRoutes } from './features/policies/policies.routes.ts';
import { createReleaseSet } from './features/releases/index.ts';
import { releaseRoutes } from './features/releases/releases.routes.ts';
import { rolloutRoutes } from './features/rollouts/rollouts.routes.ts';
import { createSessions } from './features/session/index.ts';
import { sessionRoutes } from './features/session/session.routes.ts';
import { createUpdateRecorder } from './features/update-events/index.ts';
import { todayRoutes } from './features/today/today.routes.ts';
import { updateEventRoutes } from './features/update-events/update-events.routes.ts';
import { updateRoutes } from './features/updates/updates.routes.ts';
import { requireOwn } from './features/uploads/index.ts';
import { uploadRoutes } from './features/uploads/uploads.routes.ts';
import { userRoutes } from './features/users/users.routes.ts';
import { createValidationRecorder } from './features/validation/validation-recorder.ts';
import { createSeatFinder } from './features/validation/find.ts';
import { validationRoutes } from './features/validation/validation.routes.ts';
import { viewRoutes } from './features/views/views.routes.ts';
import { serve } from './http/adapter.ts';
import { arrivalLimits, hangUp, mostJsonBytes, watchArrivals, type ArrivalLimits } from './http/arrivals.ts';
import { limitConnections } from './http/connections.ts';
import { compressedText } from './http/compression.ts';
import { serveConsole } from './http/console.ts';
import { diagnosticsGuard, type Guard } from './http/diagnostics.ts';
import { drainOnClose } from './http/drain.ts';
import { serveHealth } from './http/health.ts';
import { hasTooManyValues, TooManyValues } from './http/json-values.ts';
import { serveMetrics } from './http/metrics.ts';
import { openApi } from './http/openapi.ts';
import { securityHeaders } from './http/security-headers.ts';
import { databaseFailure, databaseUnavailable, frameworkFailure, sendFailure } from './http/reply.ts';
import { PasswordsBusy, passwordsBusy, type Passwords } from './passwords.ts';
import { StorageDown, storageUnavailable } from './storage/storage.ts';
import { watchStorage } from './storage/watch.ts';

const journalWithinMs = 6000;

type AppParts = {
  keys: Pick<InstallationKeys, 'signer'>;
  audit: ChainWatch;
  refusals: Refusals;
  passwords: Passwords;
  version: string;
  checkAnswers?: boolean;
  /** Time limits for receiving a request; tests use shorter ones. */
  arrival?: ArrivalLimits;
};

/**
 * Builds the HTTP service on a context. `checkAnswers` validates every response against the contract, for tests.
 * Closing the app waits for requests in progress, then writes the queued records.
 */
export async function buildApp(
  context: Context,
  { keys, audit, refusals, passwords, version, checkAnswers = false, arrival = arrivalLimits }: AppParts,
) {
  const app = createServer(context, arrival);
  const drain = drainOnClose(app, context.config.drainMs);
  await secure(app, context);
  const journal = openJournal(path.join(context.config.dataDir, 'journal'), context.config.journalMaxBytes);
  const behind = createWriteBehind({ ...context, journal });
  const validationRecorder = createValidationRecorder(context, behind);
  const budgets = createBudgets({ ...context, db: context.reserved.db }, context.clock);
  const apiKeys = createApiKeyCheck(context, budgets, behind);
  const facts = createFacts(context.signals, context.config.cacheBytes);
  const seats = createSeatFinder(context.reserved.pool, facts);
  const machines = createMachineCheck({ ...context, seats, budgets });
  const sessions = createSessions(context, passwords, refusals);
  const inspector = createInspector();
  const updateRecorder = createUpdateRecorder(context, budgets, behind);
  context.reportsWait = updateRecorder.isBehind;
  const releaseSet = createReleaseSet(context);
  const policyOf = createPolicyFinder({ ...context, facts, releaseSet });
  const storageWatch = watchStorage(context, () =>
    requireOwn({ ...context, db: context.reserved.db }, context.clock()),
  );

  const validator = {
    ...context,
    keys,
    recorder: validationRecorder,
    seats,
    moduleNames: createModuleNames({ ...context, db: context.reserved.db }),
  };

  const released = [
    ...releaseRoutes({ ...context, pinnedTo: customersPinnedTo }),
    ...rolloutRoutes({ ...context, releaseSet }),
  ];
  const implemented = [
    sessionRoutes(sessions),
    accountRoutes(context, passwords, refusals),
    userRoutes(context, passwords, refusals),
    clockRoutes(context),
    todayRoutes({ ...context, audit, storageWatch }),
    noticeRoutes({ ...context, storageWatch }),
    customerRoutes(context),
    customerPageRoutes({ ...context, releaseSet }),
    moduleRoutes(context),
    licenseRoutes({ ...context, releaseSet }),
    importRoutes(context),
    activationRoutes(context),
    validationRoutes(validator),
    credentialRoutes({ validator, budgets }),
    offlineRoutes({ ...context, keys }),
    apiKeyRoutes(context),
    keyRoutes(context.db, keys),
    analyticsRoutes(context),
    auditRoutes(context, audit),
    viewRoutes(context),
    released,
    approvalRoutes({ ...context, passwords, refusals }, released),
    uploadRoutes({ ...context, storageWatch, inspector }),
    downloadRoutes({ ...context, releases: releaseSet, recorder: updateRecorder, inspector }),
    updateRoutes({ ...context, releaseSet, policyOf, recorder: updateRecorder }),
    policyRoutes({ ...context, releaseSet }),
    updateEventRoutes({ ...context, recorder: updateRecorder }),
    machineRoutes({ ...context, policyOf }),
  ].flat();
  const auth = createAuthentication(context, sessions, { apiKeys, machines }, refusals);
  serve(app, context, implemented, { auth, checkAnswers });

  const guard = diagnosticsGuard(context.config, auth);
  serveMetrics(app, context, guard, { audit, budgets, refusals, behind, facts, storage: storageWatch });
  serveHealth(app, context, { storage: storageWatch, drain });
  await serveDocs(app, version, cookiesOf(context.config).session, guard);
  await serveConsole(app);
  let lastCall: NodeJS.Timeout | undefined;
  // Hanging calls delay the close until the process exits; records of completed responses are on disk by then.
  app.addHook('preClose', async () => {
    lastCall = setTimeout(() => void behind.toJournal(), journalWithinMs).unref();
  });
  app.addHook('onClose', async () => {
    storageWatch.stop();
    clearTimeout(lastCall);
    await behind.stop();
    await refusals.stop();
    await budgets.stop();
    await inspector.stop();
  });
  return app;
}

function createServer({ config, log }: Context, arrival: ArrivalLimits): FastifyInstance {
  const loggerInstance: FastifyBaseLogger = log.child(
    {},
    { serializers: { req: loggedRequest, res: (res) => ({ status: res.statusCode }) } },
  );
  const app = fastify({
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
    frameworkErrors: (error, request, reply) => {
      const failure = frameworkFailure(error) ?? fail('INVALID_INPUT', 'The request is not valid.');
      void sendFailure(request, reply, failure);
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
  return app;
}

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

async function secure(app: FastifyInstance, { config }: Context): Promise<void> {
  await app.register(fastifyCookie);
  const { ofPages, ofData } = securityHeaders(config.publicUrl.startsWith('https:'));
  app.addHook('onSend', (request, reply, payload, done) => {
    const isData = String(reply.getHeader('content-type')).startsWith('application/json');
    reply.headers(isData ? ofData : ofPages).header('x-request-id', request.id);
    if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store');
    done(null, payload);
  });
}

/** Built once per process, since it takes 0.1 s and depends only on the version and the name of the cookie. */
const describedAs = new Map<string, ReturnType<typeof openApi>>();

async function serveDocs(
  app: FastifyInstance,
  version: string,
  sessionCookie: string,
  guard: Guard,
): Promise<void> {
  const key = `${version} ${sessionCookie}`;
  const document = describedAs.get(key) ?? openApi(contract, version, sessionCookie);
  describedAs.set(key, document);
  await app.register(async (docs) => {
    docs.addHook('onRequest', guard);
    const text = JSON.stringify(document);
    docs.get('/openapi.json', async (request, reply) =>
      reply.type('application/json; charset=utf-8').send(await compressedText(request, reply, text)),
    );
    await docs.register(fastifySwagger, { mode: 'static', specification: { document: document as never } });
    await docs.register(fastifySwaggerUi, { routePrefix: '/docs' });
  });
}
