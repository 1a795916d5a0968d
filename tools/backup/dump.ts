import pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { CannotStart } from '../../server/cannot-start.ts';
import { isLockTimeout } from '../../server/db/client.ts';
import { withoutForeignLimits } from '../../server/db/limits.ts';
import { backupName, locks } from '../../server/db/locks.ts';
import type { ArchiveWriter } from './archive.ts';
import type { DatabaseContent } from './manifest.ts';
import { onlyRow } from '../../server/invariants.ts';

/** Rows are compressed in pieces of about this many bytes, each a file in the archive. */
const pieceBytes = 4 * 1024 * 1024;
const compress = promisify(gzip);

/** Locks of the jobs that delete rows, which do not run while the backup reads them. */
const jobsOfRows = [locks.housekeeping, locks.validationRotation, locks.eventRotation, locks.auditCleanup];
/** That of the job that deletes releases with their files, which are read last. */
const jobOfFiles = locks.trashPurge;

/** Settings that make the output of COPY independent of the configuration of the server. */
export const copySettings = `set client_encoding = 'UTF8'; set datestyle = 'ISO'; set intervalstyle = 'iso_8601';
  set timezone = 'UTC'; set bytea_output = 'hex'; set extra_float_digits = 1;
  ${withoutForeignLimits}; set lock_timeout = '60s'`;

/** A consistent view of the database while others write. */
export type Snapshot = {
  client: pg.Client;
  /** What was changed before is in it. */
  madeAt: Date;
  /**
   * Ends the view, which keeps old rows from the vacuum, and lets jobs and migrations go on. Only the files of releases
   * still stay.
   */
  release(): Promise<void>;
  end(): Promise<void>;
};

/** `readKeys` runs before any key can be replaced after the snapshot. Throws CannotStart if it is no Lanyard database. */
export async function openSnapshot(databaseUrl: string, readKeys: () => Promise<void>): Promise<Snapshot> {
  const client = new pg.Client({ connectionString: databaseUrl });
  // a query in progress is rejected too
  client.on('error', () => undefined);
  await client.connect();
  try {
    const madeAt = await begin(client, readKeys);
    return {
      client,
      madeAt,
      async release() {
        await client.query('commit');
        for (const lock of jobsOfRows) await client.query('select pg_advisory_unlock($1)', [lock]);
      },
      end: () => client.end(),
    };
  } catch (error) {
    await client.end();
    throw error;
  }
}

async function begin(client: pg.Client, readKeys: () => Promise<void>): Promise<Date> {
  await client.query(copySettings);
  // not at connecting, where a name in the address would replace it
  await client.query(`set application_name = '${backupName}'`);
  if (!(await hasTable(client, 'schema_migrations')))
    throw new CannotStart('There is nothing to back up: Lanyard was never started on this database.');
  for (const lock of [...jobsOfRows, jobOfFiles])
    await client.query('select pg_advisory_lock($1)', [lock]).catch(busyJob);
  await client.query('select pg_advisory_lock($1)', [locks.keys]);
  const madeAt = new Date();
  await client.query('begin isolation level repeatable read read only');
  await client.query('select from schema_migrations');
  await readKeys();
  await client.query('select pg_advisory_unlock($1)', [locks.keys]);
  return madeAt;
}

/** A database that was not migrated to this version may lack a table. */
export async function hasTable(client: pg.Client, name: string): Promise<boolean> {
  const found = await client.query<{ isThere: boolean }>(
    `select to_regclass('public.' || $1) is not null as "isThere"`,
    [name],
  );
  return onlyRow(found).isThere;
}

function busyJob(error: unknown): never {
  if (!isLockTimeout(error)) throw error;
  throw new CannotStart(
    'A job of the service is removing old records, or another backup is running. Try again in a few minutes.',
  );
}

/** Writes every table in the schema `public` into the archive, as of the snapshot. */
export async function dumpDatabase(
  { client }: Snapshot,
  archive: ArchiveWriter,
  onTable: (name: string) => void,
): Promise<DatabaseContent> {
  const tables = await listTables(client);
  const migrations = await client.query<{ name: string }>('select name from schema_migrations order by name');
  const partitions = await client.query<DatabaseContent['partitions'][number]>(`
    select c.relname as name, p.relname as parent, pg_get_expr(c.relpartbound, c.oid) as bounds
      from pg_inherits i join pg_class c on c.oid = i.inhrelid join pg_class p on p.oid = i.inhparent
     where c.relispartition and c.relkind = 'r' and c.relnamespace = 'public'::regnamespace order by 1`);
  const content: DatabaseContent = {
    migrations: migrations.rows.map(({ name }) => name),
    tables: [],
    partitions: partitions.rows,
    sequences: [],
  };
  for (const { name, columns } of tables) {
    onTable(name);
    const rows = await dumpTable(client, archive, name, columns);
    content.tables.push({ name, columns, rows });
  }
  // sequences are not part of a snapshot: read last, they are never behind the rows
  content.sequences = await readSequences(client);
  return content;
}

/** Lists all tables without partitions, which are read through their parents, and prevents changes to their columns. */
async function listTables(client: pg.Client): Promise<{ name: string; columns: string[] }[]> {
  const { rows } = await client.query<{ name: string; columns: string[] }>(`
    select c.relname as name, array_agg(a.attname::text order by a.attnum) as columns
      from pg_class c join pg_attribute a on a.attrelid = c.oid
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
       and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
       and not exists (select from pg_depend d
         where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
     group by c.oid order by 1`);
  const names = rows.map(({ name }) => client.escapeIdentifier(name));
  await client.query(`lock table ${names.join(', ')} in access share mode`);
  return rows;
}

async function dumpTable(
  client: pg.Client,
  archive: ArchiveWriter,
  name: string,
  columns: string[],
): Promise<number> {
  const list = columns.map((column) => client.escapeIdentifier(column)).join(', ');
  const stream = client.query(
    copyTo(`copy (select ${list} from ${client.escapeIdentifier(name)}) to stdout`),
  );
  let buffered: Buffer[] = [];
  let [bytes, pieces] = [0, 0];
  const flush = async () => {
    const piece = await compress(Buffer.concat(buffered), { level: 3 });
    [buffered, bytes] = [[], 0];
    await archive.add(`${folderOf(name)}/${String(++pieces).padStart(6, '0')}.copy.gz`, piece);
  };
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    buffered.push(chunk);
    bytes += chunk.length;
    if (bytes >= pieceBytes) await flush();
  }
  if (bytes > 0) await flush();
  return stream.rowCount;
}

/** The folder in the archive with the rows of a table. */
export const folderOf = (table: string): string => `database/${table}`;

async function readSequences(client: pg.Client): Promise<DatabaseContent['sequences']> {
  const { rows } = await client.query<{ name: string }>(
    `select relname as name from pg_class
      where relkind = 'S' and relnamespace = 'public'::regnamespace order by 1`,
  );
  const sequences: DatabaseContent['sequences'] = [];
  for (const { name } of rows) {
    const state = await client.query<{ lastValue: string; isCalled: boolean }>(
      `select last_value::text as "lastValue", is_called as "isCalled" from ${client.escapeIdentifier(name)}`,
    );
    sequences.push({ name, ...onlyRow(state) });
  }
  return sequences;
}
