import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';
import { pino, type Logger } from 'pino';
import { v7 as uuidv7 } from 'uuid';
import type { Permission, RoleName } from '../contract/permissions.ts';
import { session as sessionCalls } from '../contract/session.ts';
import { buildApp } from '../server/app.ts';
import { systemChange } from '../server/change.ts';
import { readConfig, type Config } from '../server/config.ts';
import type { Context } from '../server/context.ts';
import { writable, type Tx, type WritableDb } from '../server/db/client.ts';
import type { AuditKeys, ChainWatch, Refusals } from '../server/features/audit/index.ts';
import { newSigningKey } from '../server/signer.ts';
import { protectSecondFactors } from '../server/features/session/index.ts';
import { requireOwn } from '../server/features/uploads/index.ts';
import { insertUser } from '../server/features/users/index.ts';
import { arrivalLimits, type ArrivalLimits } from '../server/http/arrivals.ts';
import { openContext } from '../server/open-context.ts';
import type { Outbound } from '../server/outbound-http.ts';
import { loggedError } from '../server/log.ts';
import { createPasswords, type Passwords } from '../server/passwords.ts';
import { newSecretsKey, type Secrets } from '../server/secrets.ts';
import type { CheckedTime } from '../server/checked-time.ts';
import { apiAt, cookieOf, password, type Api, type Identity } from './api-client.ts';
import { opened } from './opened.ts';
import { newFolder } from './place.ts';
import { createTestDatabase, type TestDatabase } from './test-database.ts';
import { days, movableClock, type Clock } from './time.ts';

export { addressOf } from '../contract/address.ts';
export {
  apiAt,
  cookieOf,
  password,
  patiently,
  signedInAt,
  type Answer,
  type Api,
  type Identity,
} from './api-client.ts';
export { createTestDatabase, openClient, type TestDatabase } from './test-database.ts';
export {
  days,
  eventually,
  hours,
  isExplainedByLoad,
  minutes,
  movableClock,
  numbers,
  patience,
  seconds,
  within,
  type Clock,
} from './time.ts';

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

// --- the server -----------------------------------------------------------------------------------------------

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

const defaults: Config = {
  ...readConfig({}),
  port: 0,
  // A machine that is busy with hundreds of calls and other tests takes long; the rules they test know no 503.
  databaseLimitFactor: 60,
  // they outlive every move of the clock
  sessionIdleMs: days(9999),
  sessionMaxMs: days(9999),
  cacheBytes: 10_000_000,
  journalMaxBytes: 10_000_000,
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
  const dataDir = await newFolder();
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
