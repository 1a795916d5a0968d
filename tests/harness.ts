import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { availableParallelism, loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { pino, type Logger } from 'pino';
import { v7 as uuidv7 } from 'uuid';
import { addressOf, callName } from '../contract/address.ts';
import type { ErrorCode, ErrorDetail } from '../contract/errors.ts';
import type { Permission, RoleName } from '../contract/permissions.ts';
import type { Route, RouteRequest } from '../contract/route.ts';
import { session as sessionCalls } from '../contract/session.ts';
import { buildApp } from '../server/app.ts';
import { systemChange } from '../server/change.ts';
import type { Config } from '../server/config.ts';
import type { Context } from '../server/context.ts';
import { createDb, createPool, writable, type Tx, type WritableDb } from '../server/db/client.ts';
import { migrate } from '../server/db/migrate.ts';
import type { AuditKeys, ChainWatch, Refusals } from '../server/features/audit/index.ts';
import { newSigningKey } from '../server/signer.ts';
import { protectSecondFactors } from '../server/features/session/index.ts';
import { requireOwn } from '../server/features/uploads/index.ts';
import { insertUser, seedRoles } from '../server/features/users/index.ts';
import { arrivalLimits, type ArrivalLimits } from '../server/http/arrivals.ts';
import { openContext } from '../server/open-context.ts';
import type { Outbound } from '../server/outbound-http.ts';
import { loggedError } from '../server/log.ts';
import { createPasswords, type Passwords } from '../server/passwords.ts';
import { newSecretsKey, type Secrets } from '../server/secrets.ts';
import type { CheckedTime } from '../server/checked-time.ts';
import { opened } from './opened.ts';
import { placeOfRun } from './place.ts';

export { addressOf };

/** The password of everyone who is made by `signInAs` and `createPerson`. */
export const password = 'correct horse battery staple';

// --- time -----------------------------------------------------------------------------------------------------

/** Time stands still until a test moves it. */
export type Clock = { now(): Date; advance(ms: number): void; set(to: Date | string): void };

/** A clock that stands at `start`. */
export function movableClock(start: Date | string = '2026-11-20T09:30:00.000Z'): Clock {
  let at = new Date(start).getTime();
  return {
    now: () => new Date(at),
    advance: (ms) => void (at += ms),
    set: (to) => void (at = new Date(to).getTime()),
  };
}

export const seconds = (n: number) => n * 1000;
export const minutes = (n: number) => n * 60_000;
export const hours = (n: number) => n * 3_600_000;
export const days = (n: number) => n * 86_400_000;

/** 0 to `n` - 1. */
export const numbers = (n: number) => Array.from({ length: n }, (_, i) => i);

/** A time limit (ms) for an idle machine, longer on one that is busy at this moment. */
export const patience = (limitMs: number) =>
  Math.ceil(limitMs * Math.max(1, (2 * loadavg()[0]!) / availableParallelism()));

/** Runs `work` until it takes at most `limitMs`: a busy machine is late once or twice, a slow program each time. */
export const within = (limitMs: number, work: () => Promise<unknown>) =>
  eventually(async () => {
    const from = performance.now();
    await work();
    assert.ok(performance.now() - from <= limitMs, `It takes longer than ${limitMs} ms each time.`);
  });

/**
 * Runs `check` until it neither throws nor answers false; fails with what it said last when the time is up. That is less
 * than the minute after which a process forgets what it keeps: a change that it is not told of must fail the test.
 */
export async function eventually<T>(
  check: () => T | Promise<T>,
  withinMs = 45_000,
): Promise<Exclude<T, false>> {
  const from = performance.now();
  for (;;) {
    const passedMs = performance.now() - from;
    try {
      const value = await check();
      if (value !== false) return value as Exclude<T, false>;
      if (passedMs > withinMs) throw new Error(`It did not come true within ${withinMs} ms.`);
    } catch (error) {
      if (passedMs > withinMs) throw error;
    }
    // a check may be a call of the service: what takes long is asked for less often
    await sleep(Math.min(20 + passedMs / 10, 200));
  }
}

// --- databases ------------------------------------------------------------------------------------------------

const migrationsFolder = join(import.meta.dirname, '../server/db/migrations');
/** Any fixed number will do; test files that run at once must only agree on it. */
const templateLock = 7_241_169_999;

/** Of each cluster: opening a connection for each database took as long as copying the template. */
const administrators = new Map<string, pg.Pool>();

async function asAdmin<T>(cluster: string, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  let pool = administrators.get(cluster);
  if (!pool) {
    pool = new pg.Pool({ connectionString: databaseOf(cluster, 'postgres'), allowExitOnIdle: true });
    // a test may stop its cluster
    pool.on('error', () => {});
    administrators.set(cluster, pool);
  }
  const client = await pool.connect();
  try {
    return await work(client);
  } finally {
    client.release();
  }
}

function databaseOf(cluster: string, name: string): string {
  const url = new URL(cluster);
  url.pathname = `/${name}`;
  return url.href;
}

/** The PostgreSQL that the test run provides. */
async function providedCluster(): Promise<string> {
  const { inject } = await import('vitest');
  return inject('databaseUrl');
}

/** A migrated database with the roles in it, made once for a version of the schema and copied from then on. */
async function ensureTemplate(client: pg.PoolClient, cluster: string): Promise<string> {
  const hash = createHash('sha256');
  for (const name of (await readdir(migrationsFolder)).toSorted()) {
    hash.update(name).update(await readFile(join(migrationsFolder, name)));
  }
  const template = `lanyard_template_${hash.digest('hex').slice(0, 12)}`;
  await client.query('select pg_advisory_lock($1)', [templateLock]);
  try {
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [template]);
    if (rowCount === 1) return template;
    const draft = `${template}_draft`;
    await client.query(`drop database if exists ${draft}`);
    await client.query(`create database ${draft}`);
    await migrate(databaseOf(cluster, draft));
    const pool = createPool(databaseOf(cluster, draft), 1);
    await createDb(pool).transaction().execute(seedRoles);
    await pool.end();
    await client.query(`alter database ${draft} rename to ${template}`);
    return template;
  } finally {
    await client.query('select pg_advisory_unlock($1)', [templateLock]);
  }
}

export type TestDatabase = { url: string; drop(): Promise<void> };

/** A database of its own until the end of the test or file: migrated and with the roles in it, or (`empty`) with nothing at all. */
export async function createTestDatabase(
  options: { cluster?: string | undefined; empty?: boolean } = {},
): Promise<TestDatabase> {
  const cluster = options.cluster ?? (await providedCluster());
  const name = `lanyard_test_${uuidv7().replaceAll('-', '')}`;
  await asAdmin(cluster, async (client) => {
    const template = options.empty ? 'template0' : await ensureTemplate(client, cluster);
    await client.query(`create database ${name} template ${template} strategy file_copy`);
  });
  const drop = async () => {
    opened.delete(drop);
    await asAdmin(cluster, (client) => client.query(`drop database ${name} with (force)`));
  };
  // a cluster of its own goes as a whole
  if (!options.cluster) opened.add(drop);
  return { url: databaseOf(cluster, name), drop };
}

/** A connection of its own to a database, until the end of the test or file. */
export async function openClient(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  opened.add(() => client.end());
  return client;
}

// --- passwords ------------------------------------------------------------------------------------------------

let realPasswords: Passwords | undefined;
const knownAnswers = new Map<string, Promise<string | boolean>>();

/**
 * Real argon2, asked once for each question: what a test file repeats a hundred times costs it once.
 */
function cheapPasswords(): Passwords {
  const real = (realPasswords ??= createPasswords());
  const once = <T extends string | boolean>(question: string, ask: () => Promise<T>): Promise<T> => {
    const known = knownAnswers.get(question) ?? ask();
    knownAnswers.set(question, known);
    return known as Promise<T>;
  };
  return {
    hash: (plain) => once(`hash ${plain}`, () => real.hash(plain)),
    verify: (hash, plain) => once(`verify ${hash} ${plain}`, () => real.verify(hash, plain)),
    derive: (secret, salt) => real.derive(secret, salt),
    stop: async () => undefined,
  };
}

// --- calling --------------------------------------------------------------------------------------------------

/** Whoever calls: what they send along with every call. */
export type Identity = { headers: Record<string, string> };

/** A person who is signed in. `headers` hold the bearer token; `byCookie` holds the session cookie alone. */
export type Session = Identity & {
  userId: string;
  email: string;
  role: RoleName;
  accessToken: string;
  /** `lanyard_session=…`, as a browser sends it. */
  cookie: string;
  permissions: Permission[];
  byCookie: Identity;
};

type Schemas<R extends Route> = { answer: R['answer']; meta: R['meta'] };
type Out<S> = S extends { _zod: { output: infer O } } ? O : undefined;

/** What a call answered. `data` and `meta` are there after a success, the rest of the body after a failure. */
export type Answer<R extends Route> = {
  status: number;
  headers: Headers;
  text: string;
  body: {
    success: boolean;
    data: Out<Schemas<R>['answer']>;
    meta: Out<Schemas<R>['meta']>;
    error: string;
    code: ErrorCode;
    details: ErrorDetail[];
    requestId: string;
  };
};

type Rest<R extends Route, More extends unknown[]> =
  object extends RouteRequest<R> ? [request?: RouteRequest<R>, ...More] : [request: RouteRequest<R>, ...More];
type Extra = [headers?: Record<string, string>];

export type Api = {
  /** Makes a call of the contract and answers whatever came back. */
  call<R extends Route>(route: R, ...rest: Rest<R, Extra>): Promise<Answer<R>>;
  /** Makes a call that must succeed, and answers its data. */
  ok<R extends Route>(route: R, ...rest: Rest<R, Extra>): Promise<Out<Schemas<R>['answer']>>;
};

/** A client of the service at `url`. */
export function apiAt(url: string, who: Identity = { headers: {} }): Api {
  async function call<R extends Route>(route: R, ...rest: Rest<R, Extra>): Promise<Answer<R>> {
    const [request = {}, headers = {}] = rest as [
      (Parameters<typeof addressOf>[1] & { body?: unknown })?,
      Extra[0]?,
    ];
    const failed = ({ message, cause }: Error) => {
      throw new Error(`${callName(route)} got no whole answer: ${message}`, { cause });
    };
    const response = await fetch(url + addressOf(route, request), {
      method: route.method,
      headers: {
        ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...who.headers,
        ...headers,
      },
      ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
    }).catch(failed);
    const text = await response.text().catch(failed);
    const isJson = response.headers.get('content-type')?.startsWith('application/json');
    const body = (isJson ? JSON.parse(text) : {}) as Answer<R>['body'];
    return { status: response.status, headers: response.headers, text, body };
  }
  return {
    call,
    async ok(route, ...rest) {
      const answer = await call(route, ...rest);
      if (answer.status >= 300) throw new Error(`${callName(route)}: ${answer.status} ${answer.text}`);
      return answer.body.data;
    },
  };
}

// --- the server -----------------------------------------------------------------------------------------------

export type TestServerOptions = {
  clock?: Clock;
  config?: Partial<Config>;
  /** A second server on the database of another. */
  database?: TestDatabase;
  /** A pooler in front of the database, through which queries go. */
  pooler?: string;
  /** A cluster other than the one that vitest provides. */
  cluster?: string;
  passwords?: Passwords;
  /** Another key than that of the other servers of the test. */
  secrets?: Secrets;
  /** Connections beyond our network; without them, the real ones. */
  outbound?: Outbound;
  /** How long requests may take to arrive, where it is not as long as in service. */
  arrival?: Partial<ArrivalLimits>;
  /** Every line of the log goes here; `config.logLevel` says how much. */
  onLog?: (line: string) => void;
};

export type TestServer = {
  url: string;
  clock: Clock;
  db: WritableDb;
  pool: pg.Pool;
  context: Context;
  database: TestDatabase;
  auditKeys: AuditKeys;
  audit: ChainWatch;
  refusals: Refusals;
  /** A client for whoever it is; without one, for nobody. */
  api(who?: Identity): Api;
  /** Makes a person of that role and signs them in. */
  signInAs(role: RoleName): Promise<Session>;
  /** Makes a person of that role, who has not signed in. */
  createPerson(role: RoleName): Promise<{ userId: string; email: string }>;
  /** Signs in someone who exists. */
  signIn(email: string, role: RoleName, plain?: string): Promise<Session>;
  /** Answers what is under way, writes what was recorded, and drops the database (a twin leaves it). */
  close: () => Promise<void>;
};

const defaults: Omit<Config, 'dataDir' | 'storage' | 'signingKey' | 'secretsKey'> = {
  port: 0,
  host: '127.0.0.1',
  publicUrl: 'http://localhost:8080',
  databaseUrl: undefined,
  databaseDirectUrl: undefined,
  // A machine that is busy with hundreds of calls and other tests takes long; the rules they test know no 503.
  databaseLimitFactor: 60,
  admin: undefined,
  requireOwnPassword: false,
  // they outlive every move of the clock
  sessionIdleMs: days(9999),
  sessionMaxMs: days(9999),
  eventsKeepMs: days(400),
  validationsKeepMs: days(90),
  validationGraceMs: days(14),
  selfReleasesPerSeat: 2,
  enrollmentsPerLicenseHour: 100,
  machineRequestsPerHour: 600,
  updatesAfterRevocation: true,
  eventsPerKeyHour: 100_000,
  newMachinesPerKeyHour: 1000,
  cacheBytes: 10_000_000,
  journalMaxBytes: 10_000_000,
  trustProxy: [],
  drainMs: 0,
  workers: 1,
  diagnosticsAccess: { everyone: false, staff: true, addresses: ['127.0.0.0/8', '::1'] },
  auditAnchor: undefined,
  logLevel: 'silent',
};

function createTestLog(level: Config['logLevel'], onLog?: (line: string) => void): Logger {
  if (!onLog) return pino({ level: 'silent' });
  return pino({ level, base: null, serializers: { err: loggedError } }, { write: onLog });
}

/** Processes that share a database share their keys. */
const sharedKeys = { signingKey: { text: newSigningKey() }, secretsKey: { text: newSecretsKey() } };

/** The whole service on a database of its own, listening on a free port, until the end of the test or file. */
export async function startTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  const clock = options.clock ?? movableClock();
  const database = options.database ?? (await createTestDatabase({ cluster: options.cluster }));
  const dataDir = await mkdtemp(join(await placeOfRun(), 'lanyard-test-'));
  const config: Config = {
    ...defaults,
    dataDir,
    storage: { kind: 'disk', folder: join(dataDir, 'binaries') },
    databaseUrl: database.url,
    databaseDirectUrl: database.url,
    ...sharedKeys,
    ...options.config,
  };
  const log = createTestLog(config.logLevel, options.onLog);
  const addresses = { queries: options.pooler ?? database.url, direct: database.url };
  const { context, keys, chainKeys, audit, refusals, end } = await openContext(config, log, addresses, {
    clock: () => clock.now(),
    ...(options.secrets ? { secrets: options.secrets } : {}),
    ...(options.outbound ? { outbound: options.outbound } : {}),
  });
  const passwords = options.passwords ?? cheapPasswords();
  await protectSecondFactors(context, passwords);
  // the sweep at each start claims the storage
  if (!options.config?.storage) await requireOwn(context, clock.now()).catch(() => undefined);
  const app = await buildApp(context, {
    keys,
    audit,
    refusals,
    passwords,
    version: 'test',
    checkAnswers: true,
    arrival: { ...arrivalLimits, ...options.arrival },
  });
  const url = await app.listen({ port: 0, host: '127.0.0.1' });

  async function createPerson(role: RoleName) {
    const email = `${role}-${uuidv7()}@lanyard.test`;
    const passwordHash = await passwords.hash(password);
    const userId = await systemChange(context, clock.now(), async (change) => {
      const person = { email, name: `The ${role}`, passwordHash, role };
      const { id } = await insertUser(change, person);
      await change.tx.updateTable('users').set({ password_is_own: true }).where('user_id', '=', id).execute();
      return id;
    });
    return { userId, email };
  }

  async function signIn(email: string, role: RoleName, plain = password): Promise<Session> {
    const answer = await apiAt(url).call(sessionCalls.login, { body: { email, password: plain } });
    if (answer.status !== 200) throw new Error(`${email} could not sign in: ${answer.text}`);
    const { accessToken, user, permissions } = answer.body.data;
    const cookie = cookieOf(answer.headers)!;
    return {
      userId: user.userId,
      email,
      role,
      accessToken,
      cookie,
      permissions,
      headers: { authorization: `Bearer ${accessToken}` },
      byCookie: { headers: { cookie, 'sec-fetch-site': 'same-origin' } },
    };
  }

  const server: TestServer = {
    url,
    clock,
    db: writable(context.db),
    pool: context.pool,
    context,
    database,
    auditKeys: chainKeys,
    audit,
    refusals,
    api: (who) => apiAt(url, who),
    signInAs: async (role) => signIn((await createPerson(role)).email, role),
    createPerson,
    signIn,
    close: async () => {
      opened.delete(server.close);
      await app.close();
      await end();
      // a look at the storage that is still under way writes a file there
      await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
      if (!options.database) await database.drop();
    },
  };
  opened.add(server.close);
  return server;
}

/** Signs in, and gives the session cookie to send: a bearer token ends after 15 minutes, within a slow run. */
export async function signedInAt(url: string, body: { email: string; password: string }): Promise<Identity> {
  const { status, text, headers } = await apiAt(url).call(sessionCalls.login, { body });
  const cookie = cookieOf(headers);
  if (status !== 200 || !cookie) throw new Error(`${body.email} could not sign in: ${text}`);
  return { headers: { cookie, 'sec-fetch-site': 'same-origin' } };
}

/** `name=value` of the session cookie that an answer sets; undefined when it sets none, empty when it clears it. */
export function cookieOf(headers: Headers): string | undefined {
  const set = headers.getSetCookie().find((line) => /^(__Host-)?lanyard_session=/.test(line));
  return set?.split(';')[0];
}

/** Changes a person in the database and tells every process, as the calls for users do. */
export async function changePerson(server: TestServer, work: (tx: Tx) => Promise<unknown>): Promise<void> {
  await systemChange(server.context, server.clock.now(), async ({ tx, announce }) => {
    await work(tx);
    await announce('sessions');
  });
}

/** The time of a server, as if it had been compared: for jobs that a test runs itself. */
export const checkedTime = ({ clock }: Pick<TestServer, 'clock'>) => ({ now: clock.now() }) as CheckedTime;

/** Another server on the database of the first, as behind a load balancer; it reads the same clock. */
export function startTwin(server: TestServer, options: TestServerOptions = {}): Promise<TestServer> {
  return startTestServer({ clock: server.clock, database: server.database, ...options });
}

/** The audit entries about one thing, the oldest first. */
export function auditOf(server: TestServer, resourceId: string) {
  return server.db
    .selectFrom('audit_entries')
    .selectAll()
    .where('resource_id', '=', resourceId)
    .orderBy('audit_id')
    .execute();
}
