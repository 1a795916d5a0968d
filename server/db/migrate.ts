import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { CannotStart } from '../cannot-start.ts';
import { isLockTimeout } from './client.ts';
import { locks } from './locks.ts';

const folder = path.join(import.meta.dirname, 'migrations');

/**
 * Whoever comes after a migration that waits for a table waits too, and processes of the last version serve meanwhile:
 * it gives up before their calls do, and tries again.
 */
const lockMs = 400;
const pauseMs = 1000;

/**
 * Brings the schema up to date: every file of `migrations/` that the database has not seen, in the order of the
 * names, each in its own transaction, all under an advisory lock so that processes which start together take
 * turns. Returns the names applied. Throws when the database knows a migration that this build does not: an
 * older build must not run on a newer schema.
 */
export async function migrate(databaseUrl: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: 10_000 });
  client.on('error', () => undefined);
  await client.connect();
  try {
    await client.query('select pg_advisory_lock($1)', [locks.migration]);
    return await applyPending(client);
  } finally {
    await client.end();
  }
}

/** The names of the migrations of this build, in their order. */
export const knownMigrations = async (): Promise<string[]> =>
  (await readdir(folder)).filter((name) => name.endsWith('.sql')).toSorted();

/** Makes the schema as these migrations left it, in the transaction of the client. */
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
  await client.query(await readFile(path.join(folder, name), 'utf8'));
  await client.query('insert into schema_migrations (name) values ($1)', [name]);
}
