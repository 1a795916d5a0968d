import { Kysely, PostgresDialect, type Transaction } from 'kysely';
import pg from 'pg';
import { everyday, withoutForeignLimits } from './limits.ts';
import { sharing, unshared } from './pool-clients.ts';
import { SafeCursor, watchConnections, type AskWorking } from './silence.ts';
import { NoSlot } from './slots.ts';
import type { Tables } from './tables.ts';
import type { Failure } from '../failure.ts';
import { onlyRow } from '../invariants.ts';

/** The database for reading. Functions that write take the `tx` of a change, which is also accepted for reading. */
export type Db = Pick<WritableDb, 'selectFrom' | 'selectNoFrom' | 'fn' | 'getExecutor'>;
export type Tx = Transaction<Tables>;

export type WritableDb = Kysely<Tables>;
/** The handle behind a `Db`, for code that opens transactions: changes and snapshot reads. */
export const writable = (db: Db) => db as WritableDb;

// pg returns int8 (counts) as text; ours stay far below 2^53.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

const parseAnyTimestamp = pg.types.getTypeParser(pg.types.builtins.TIMESTAMPTZ) as (text: string) => unknown;
const furthestMs = 8.64e15;
/** The nearest time that a Date can be, as for `infinity`: what someone wrote by hand must not stop who reads it. */
function parseFarTimestamp(text: string): Date {
  const ms = Number(parseAnyTimestamp(text));
  return new Date(Number.isNaN(ms) ? furthestMs : Math.min(Math.max(ms, -furthestMs), furthestMs));
}
const isInUtc = (text: string) => text.endsWith('+00') && text[4] === '-';
// We set the time zone to UTC, so the engine's own ISO parser works, ten times faster than that of pg.
pg.types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, (text) =>
  isInUtc(text) ? new Date(`${text.slice(0, 10)}T${text.slice(11, -3)}Z`) : parseFarTimestamp(text),
);

const timestamp: number = pg.types.builtins.TIMESTAMPTZ;
/** For lists that send their times as they are: a tenth of the work of a `Date` and its `toISOString`. */
export const isoTimes: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format) =>
    oid === timestamp ? isoTime : (pg.types.getTypeParser(oid, format) as typeof isoTime),
};
const isoTime = (text: string): string =>
  isInUtc(text)
    ? `${text.slice(0, 10)}T${text.slice(11, 19)}.${text.slice(20, -3).padEnd(3, '0').slice(0, 3)}Z`
    : parseFarTimestamp(text).toISOString();

// its types name only the basic ones
const textArray = 1009 as typeof pg.types.builtins.TEXT;
const parseAnyArray = pg.types.getTypeParser(textArray) as (text: string) => unknown;
// pg reads an array letter by letter, which only quoted, missing and nested elements need.
pg.types.setTypeParser(textArray, (text) => {
  if (!text.startsWith('{') || /["\\]|NULL|.\{/.test(text)) return parseAnyArray(text);
  return text === '{}' ? [] : text.slice(1, -1).split(',');
});

export type Pool = pg.Pool & {
  /** Drops every connection; their queries fail as unreachable. */
  discard(): void;
  /** Drops the idle connections. */
  discardIdle(): void;
  /** True if calls are queued for a connection and none has received one for a while. */
  isStuck(): boolean;
  /** Opens the minimum number of connections, as far as the database allows, so that no call waits for one. */
  fill(): Promise<void>;
};

type PoolOptions = {
  /** Runs when an unresponsive connection was dropped. */
  onSilence?: () => void;
  askWorking?: AskWorking;
  /** The minimum number of open connections. */
  fewest?: number;
  /** The address is that of a pooler, which may assign a different server connection to every transaction. */
  isShared?: boolean;
};

export function createPool(
  databaseUrl: string,
  size = 12,
  limits = everyday,
  { onSilence = () => undefined, askWorking, fewest = 0, isShared = false }: PoolOptions = {},
): Pool {
  const connections = watchConnections(limits.silentMs, askWorking, onSilence);
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    Client: isShared ? sharing(connections.Client, limits) : unshared(connections.Client),
    max: size,
    min: fewest,
    connectionTimeoutMillis: limits.waitMs,
    idleTimeoutMillis: 60_000,
    application_name: 'lanyard',
    keepAlive: true,
    keepAliveInitialDelayMillis: 5000,
    // oxlint-disable-next-line typescript/no-misused-promises -- the pool awaits it, which its types do not say
    onConnect: prepare,
  });
  /** By query, since poolers reject startup parameters. */
  async function prepare(client: pg.ClientBase): Promise<void> {
    // Settings on a shared connection would leak to other clients; poolers track the time zone.
    if (isShared) return void (await client.query(`set time zone 'UTC'`));
    await client.query(`${withoutForeignLimits}; set time zone 'UTC'; set statement_timeout = ${limits.statementMs};
      set lock_timeout = ${limits.lockMs};
      set idle_in_transaction_session_timeout = ${limits.idleMs};
      set tcp_keepalives_idle = 30; set tcp_keepalives_interval = 10`);
    const backend = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    connections.leadsTo(client, onlyRow(backend).pid);
  }
  pool.on('connect', (client) => {
    // Without a listener, a connection that breaks between two queries would end the process; its next query fails
    // anyway.
    client.on('error', () => undefined);
  });
  let acquiredAt = 0;
  pool.on('acquire', () => (acquiredAt = performance.now()));
  const end = pool.end.bind(pool);
  return Object.assign(pool, {
    discard: () => connections.cutOff(),
    discardIdle: () => connections.cutOff(connections.isIdle),
    fill: async () => {
      const opening = await Promise.allSettled(Array.from({ length: fewest }, () => pool.connect()));
      for (const one of opening) if (one.status === 'fulfilled') one.value.release();
    },
    isStuck: () => pool.waitingCount > 0 && performance.now() - acquiredAt > limits.stuckMs,
    end: async () => {
      const givingUp = setTimeout(() => connections.cutOff(), endWithinMs).unref();
      await end();
      await connections.closed();
      clearTimeout(givingUp);
      connections.stop();
    },
  });
}

/** An unresponsive connection never closes gracefully. */
const endWithinMs = 2000;

/** The typed query builder on a pool. */
export function createDb(pool: pg.Pool): WritableDb {
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool, cursor: SafeCursor }) });
}

const unreachable = new Set([
  '57P01', // admin_shutdown
  '57P02', // crash_shutdown
  '57P03', // cannot_connect_now
  '25006', // read_only_sql_transaction: a replica that is not promoted yet
  '25P03', // idle_in_transaction_session_timeout
  '57P05', // idle_session_timeout
  // both end a new connection: of processes that hold an old password, or a role that is being replaced
  '28000', // invalid_authorization_specification
  '28P01', // invalid_password
  '08000',
  '08001',
  '08003',
  '08006',
  '53300', // too_many_connections
  'ECONNABORTED',
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTDOWN',
  'EHOSTUNREACH',
  'ENETDOWN',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);

const unreachableText =
  /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|not queryable|^timeout expired$|^Query read timeout$|does not support SSL|establishing an SSL connection|^SASL: /;

/** The codes of Node for TLS that fails, or a certificate that does not verify. */
const ofTls = /CERT|^ERR_(TLS|SSL|OSSL)_|^UNABLE_TO_/;

/** True if the database cannot be reached, as opposed to an error in the query. */
export function isDatabaseUnreachable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, severity } = error as { code?: string; severity?: string };
  // PgBouncer's error if it has no connection to the server.
  if (code === '08P01' && severity === 'FATAL') return true;
  if (code !== undefined && (unreachable.has(code) || ofTls.test(code))) return true;
  return unreachableText.test(error.message);
}

const busy = 'Another change holds what this call needs. Try again in a moment.';
const strained: Record<string, string> = {
  '40001': busy, // serialization_failure
  '40P01': busy, // deadlock_detected
  '55P03': busy, // lock_not_available
  '57014': 'The database took too long for this call. Try again in a moment.', // query_canceled
  '53000': 'The database lacks what this call needs. Try again later.', // insufficient_resources
  '53100': 'The disk of the database is full. Try again later.', // disk_full
  '53200': 'The database is out of memory. Try again later.', // out_of_memory
};

/** A sentence if the reachable database could not run the query at this time; undefined for every other error. */
export function whyStrained(error: unknown): string | undefined {
  if (error instanceof NoSlot) return busy;
  return strained[codeOf(error) ?? ''];
}

/** True if the same query may succeed later. */
export const mayPass = (error: unknown): boolean =>
  isDatabaseUnreachable(error) || whyStrained(error) !== undefined;

/** True if a statement exceeded its lock timeout. */
export const isLockTimeout = (error: unknown): boolean => codeOf(error) === '55P03';

/** True if the database canceled this transaction because of a deadlock: it can be retried. */
export const isDeadlock = (error: unknown): boolean => codeOf(error) === '40P01';

/** True if the database cannot write because its disk is full; reads may still work. */
export const isDiskFull = (error: unknown): boolean => codeOf(error) === '53100';

/** True if the database can only be read: its disk is full, or a managed service allows no writes because it is. */
export const onlyReads = (error: unknown): boolean => isDiskFull(error) || codeOf(error) === '25006';

/** The result of a write, or a Failure if it violates the unique constraint of that name. */
export const orTaken = <T>(writing: Promise<T>, constraint: string, taken: () => Failure) =>
  writing.catch((error: unknown): Failure => {
    if (codeOf(error) === '23505' && (error as { constraint?: string }).constraint === constraint)
      return taken();
    throw error;
  });

/** The code that PostgreSQL or Node gave to an error. */
export const codeOf = (error: unknown): string | undefined => (error as { code?: string } | undefined)?.code;
