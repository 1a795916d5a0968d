import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { createDb, createPool } from '../server/db/client.ts';
import { migrate } from '../server/db/migrate.ts';
import { seedRoles } from '../server/features/users/first-start.ts';
import { opened } from './opened.ts';

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
