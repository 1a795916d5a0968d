import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { CannotStart } from '../cannot-start.ts';
import { migrations } from '../root.ts';
import { codeOf, isLockTimeout } from './client.ts';
import { withoutForeignLimits } from './limits.ts';
import { locks } from './locks.ts';
import { withClient } from './with-client.ts';

/**
 * While a migration waits for a table lock, later queries on the table queue behind it, and processes of the previous
 * version still serve. So it times out before their calls do, and retries.
 */
const lockMs = 400;
const pauseMs = 1000;

/**
 * A process that is ended, frozen or lost leaves its locks soon: those on the tables, and that of the migration, which
 * each next start waits for. No pause is as long, and who waits for a lock is not idle.
 */
const untilWeAreGone = `
  set idle_in_transaction_session_timeout = '30s'; set idle_session_timeout = '30s';
  set tcp_keepalives_idle = 30; set tcp_keepalives_interval = 10; set tcp_keepalives_count = 3`;

/** Otherwise PostgreSQL carries out all of a file before it sees that nobody waits for it. */
const noticed = "set client_connection_check_interval = '2s'";

/** PostgreSQL for Windows refuses it. */
const unlessUnsupported = (error: unknown): void => {
  if (codeOf(error) !== '22023') throw error;
};

/**
 * Brings the schema up to date: applies every new file of `migrations/` in the order of their names, each in its own
 * transaction, all under an advisory lock so that processes that start together take turns. Returns the names applied.
 * Throws if the database has a migration that this build does not know: an older build must not run on a newer schema.
 */
export async function migrate(databaseUrl: string): Promise<string[]> {
  return withClient({ connectionString: databaseUrl, connectionTimeoutMillis: 10_000 }, async (client) => {
    await client.query(withoutForeignLimits);
    await client.query(untilWeAreGone);
    await client.query(noticed).catch(unlessUnsupported);
    await client.query('select pg_advisory_lock($1)', [locks.migration]);
    return applyPending(client);
  });
}

/** The names of the migrations of this build, in order. */
export const knownMigrations = async (): Promise<string[]> =>
  (await readdir(migrations)).filter((name) => name.endsWith('.sql')).toSorted();

/** Creates the schema of these migrations in the transaction of the client. */
export async function makeSchema(client: pg.Client, names: string[]): Promise<void> {
  await client.query(tableOfMigrations);
  for (const name of names.toSorted()) await runOne(client, name);
}

const tableOfMigrations = `create table if not exists schema_migrations (
  name text primary key, applied_at timestamptz(3) not null default now())`;

async function applyPending(client: pg.Client): Promise<string[]> {
  await client.query(tableOfMigrations);
  const { rows } = await client.query<{ name: string }>('select name from schema_migrations');
  const done = new Set(rows.map((row) => row.name));
  const known = await knownMigrations();
  const foreign = [...done].filter((name) => !known.includes(name));
  if (foreign.length > 0) {
    throw new CannotStart(
      `The database was migrated by a newer Lanyard (${foreign.join(', ')}). Start that version.`,
    );
  }
  const pending = known.filter((name) => !done.has(name));
  for (const name of pending) await applyOne(client, name);
  return pending;
}

async function applyOne(client: pg.Client, name: string): Promise<void> {
  for (;;) {
    try {
      await client.query('begin');
      await client.query(`set local lock_timeout = ${lockMs}`);
      await runOne(client, name);
      return void (await client.query('commit'));
    } catch (error) {
      await client.query('rollback');
      if (!isLockTimeout(error))
        throw new Error(`Migration ${name} failed: ${(error as Error).message}`, { cause: error });
      await sleep(pauseMs);
    }
  }
}

async function runOne(client: pg.Client, name: string): Promise<void> {
  await client.query(await readFile(path.join(migrations, name), 'utf8'));
  await client.query('insert into schema_migrations (name) values ($1)', [name]);
}
