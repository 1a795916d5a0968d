import { Kysely, PostgresDialect, type Transaction } from 'kysely';
import pg from 'pg';
import { everyday } from './limits.ts';
import { sharing } from './shared-connections.ts';
import { SafeCursor, watchConnections, type AskWorking } from './silence.ts';
import { NoSlot } from './slots.ts';
import type { Tables } from './tables.ts';
import { onlyRow } from '../invariants.ts';

/** The database for reading. What writes takes the `tx` of a change, which reads take too. */
export type Db = Pick<WritableDb, 'selectFrom' | 'selectNoFrom' | 'fn' | 'getExecutor'>;
export type Tx = Transaction<Tables>;

export type WritableDb = Kysely<Tables>;
/** The handle behind a `Db`, for what opens transactions: changes, and reads of one moment. */
export const writable = (db: Db) => db as WritableDb;

// pg answers int8 (counts) as text; ours stay far below 2^53.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

const parseAnyTimestamp = pg.types.getTypeParser(pg.types.builtins.TIMESTAMPTZ) as (text: string) => Date;
// In UTC, which we ask for, the engine's own ISO parser does it in a tenth of the time.
pg.types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, (text) =>
  text.endsWith('+00') ? new Date(`${text.slice(0, 10)}T${text.slice(11, -3)}Z`) : parseAnyTimestamp(text),
);

export type Pool = pg.Pool & {
  /** Gives up every connection at once; what was under way on them fails as unreachable. */
  discard(): void;
  /** Gives up those that nobody uses. */
  discardIdle(): void;
  /** True when calls wait for a connection and none has got one for a while. */
  isStuck(): boolean;
  /** Opens the connections that are kept open always, as far as the database lets it, so that no call waits for one. */
  fill(): Promise<void>;
};

export type PoolOptions = {
  /** Runs when a connection was given up because it is silent. */
  onSilence?: () => void;
  askWorking?: AskWorking;
  /** How many connections stay open when nobody uses them. */
  fewest?: number;
  /** The address is that of a pooler, which may give every transaction another connection of the server. */
  isShared?: boolean;
};

/** A pool of connections. */
export function createPool(
  databaseUrl: string,
  size = 12,
  limits = everyday,
  { onSilence = () => undefined, askWorking, fewest = 0, isShared = false }: PoolOptions = {},
): Pool {
  const connections = watchConnections(limits.answerMs, askWorking, onSilence);
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    Client: isShared ? sharing(connections.Client, limits) : connections.Client,
    max: size,
    min: fewest,
    connectionTimeoutMillis: limits.waitMs,
    idleTimeoutMillis: 60_000,
    application_name: 'lanyard',
    keepAlive: true,
    keepAliveInitialDelayMillis: 5000,
    // awaited by the pool before the connection's first user gets it
    onConnect: prepare,
  });
  /** By a query, since poolers refuse settings at the start. */
  async function prepare(client: pg.ClientBase): Promise<void> {
    // what stays behind on a shared connection would hold for whoever gets it next; poolers follow the time zone
    if (isShared) return void (await client.query(`set time zone 'UTC'`));
    await client.query(`set time zone 'UTC'; set statement_timeout = ${limits.statementMs};
      set lock_timeout = ${limits.lockMs};
      set idle_in_transaction_session_timeout = ${limits.idleMs};
      set tcp_keepalives_idle = 30; set tcp_keepalives_interval = 10`);
    const backend = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    connections.leadsTo(client, onlyRow(backend).pid);
  }
  pool.on('connect', (client) => {
    // A connection that is checked out but has no query under way belongs to nobody: when it breaks then, its next
    // user hears of it, and an unheard 'error' event would end the process.
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
    isStuck: () => pool.waitingCount > 0 && performance.now() - acquiredAt > stuckAfterMs,
    end: async () => {
      const givingUp = setTimeout(() => connections.cutOff(), endWithinMs).unref();
      await end();
      await connections.closed();
      clearTimeout(givingUp);
      connections.stop();
    },
  });
}

const stuckAfterMs = 500;
/** A silent connection never ends politely. */
const endWithinMs = 5000;

/** The typed query builder over a pool. */
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
  /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|not queryable|^timeout expired$/;

/** True for an error that says "the database cannot be reached", as against "the query is wrong". */
export function isDatabaseUnreachable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, severity } = error as { code?: string; severity?: string };
  // how PgBouncer says that it has no connection to the server
  if (code === '08P01' && severity === 'FATAL') return true;
  return (code !== undefined && unreachable.has(code)) || unreachableText.test(error.message);
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

/** A sentence when the database, though there, could not do now what was asked; undefined for every other error. */
export function whyStrained(error: unknown): string | undefined {
  if (error instanceof NoSlot) return busy;
  return strained[(error as { code?: string } | undefined)?.code ?? ''];
}

/** True when the same query may well succeed later: it was not wrong. */
export const mayPass = (error: unknown): boolean =>
  isDatabaseUnreachable(error) || whyStrained(error) !== undefined;

/** True when a statement waited for a lock longer than it may. */
export const isLockTimeout = (error: unknown): boolean => (error as { code?: string }).code === '55P03';

/** True when the database chose this transaction as the victim of a deadlock: run again, it will do. */
export function isDeadlock(error: unknown): boolean {
  return (error as { code?: string }).code === '40P01';
}

/** True when the database cannot write because its disk is full; it may still read. */
export const isDiskFull = (error: unknown): boolean =>
  (error as { code?: string } | undefined)?.code === '53100';

/** True when a unique constraint of that name refused a row. */
export function violatesUnique(error: unknown, constraint: string): boolean {
  const { code, constraint: name } = error as { code?: string; constraint?: string };
  return code === '23505' && name === constraint;
}
