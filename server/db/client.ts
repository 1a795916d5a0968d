import { Kysely, PostgresDialect, type Transaction } from 'kysely';
import pg from 'pg';
import Cursor from 'pg-cursor';
import type { Tables } from './tables.ts';

export type Db = Kysely<Tables>;
export type Tx = Transaction<Tables>;

// pg answers int8 (counts) as text; ours stay far below 2^53.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

const parseAnyTimestamp = pg.types.getTypeParser(pg.types.builtins.TIMESTAMPTZ) as (text: string) => Date;
// In UTC, which we ask for, the engine's own ISO parser does it in a tenth of the time.
pg.types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, (text) =>
  text.endsWith('+00') ? new Date(`${text.slice(0, 10)}T${text.slice(11, -3)}Z`) : parseAnyTimestamp(text),
);

/**
 * The pool of connections. `connectionTimeoutMillis` bounds the wait for a connection, so that a lost database
 * is answered with 503 within a second.
 */
export function createPool(databaseUrl: string, size = 12): pg.Pool {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: size,
    connectionTimeoutMillis: 900,
    idleTimeoutMillis: 60_000,
    application_name: 'lanyard',
    // Bound what a stuck query may hold.
    statement_timeout: 30_000,
    idle_in_transaction_session_timeout: 30_000,
    // awaited by the pool before the connection's first user gets it
    onConnect: (client) => client.query("set time zone 'UTC'") as unknown as void,
  });
  pool.on('connect', (client) => {
    // A connection that is checked out but has no query under way belongs to nobody: when it breaks then, its next
    // user hears of it, and an unheard 'error' event would end the process.
    client.on('error', () => undefined);
  });
  return pool;
}

/** The typed query builder over a pool. */
export function createDb(pool: pg.Pool): Db {
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool, cursor: Cursor }) });
}

const unreachable = new Set([
  '57P01', // admin_shutdown
  '57P02', // crash_shutdown
  '57P03', // cannot_connect_now
  '08000',
  '08001',
  '08003',
  '08006',
  '53300', // too_many_connections
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
]);

const unreachableText =
  /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|not queryable/;

/** True for an error that says "the database cannot be reached", as against "the query is wrong". */
export function isDatabaseUnreachable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as { code?: string };
  return (code !== undefined && unreachable.has(code)) || unreachableText.test(error.message);
}

/** True when the database chose this transaction as the victim of a deadlock: run again, it will do. */
export function isDeadlock(error: unknown): boolean {
  return (error as { code?: string }).code === '40P01';
}

/** True when a unique constraint of that name refused a row. */
export function violatesUnique(error: unknown, constraint: string): boolean {
  const { code, constraint: name } = error as { code?: string; constraint?: string };
  return code === '23505' && name === constraint;
}
