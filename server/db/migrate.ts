import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { PoolClient } from 'pg';
import pg from 'pg';
import { CannotStart } from '../cannot-start.ts';
import { locks } from './locks.ts';

const folder = path.join(import.meta.dirname, 'migrations');

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
    return await applyPending(client as unknown as PoolClient);
  } finally {
    await client.end();
  }
}

async function applyPending(client: PoolClient): Promise<string[]> {
  await client.query(`create table if not exists schema_migrations (
    name text primary key, applied_at timestamptz(3) not null default now())`);
  const { rows } = await client.query<{ name: string }>('select name from schema_migrations');
  const done = new Set(rows.map((row) => row.name));
  const known = (await readdir(folder)).filter((name) => name.endsWith('.sql')).toSorted();
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

async function applyOne(client: PoolClient, name: string): Promise<void> {
  const sql = await readFile(path.join(folder, name), 'utf8');
  try {
    await client.query('begin');
    await client.query(sql);
    await client.query('insert into schema_migrations (name) values ($1)', [name]);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    throw new Error(`Migration ${name} failed: ${(error as Error).message}`, { cause: error });
  }
}
