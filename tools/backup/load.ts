import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { CannotStart } from '../../server/cannot-start.ts';
import { makeSchema } from '../../server/db/migrate.ts';
import type { Archive } from './archive.ts';
import { folderOf, copySettings } from './dump.ts';
import type { DatabaseContent } from './manifest.ts';

const decompress = promisify(gunzip);

export type Loaded = {
  rows: number;
  /** Tables in the archive that no migration creates, so they do not belong to Lanyard. */
  skipped: string[];
};

/** Throws CannotStart if the database has a table. */
export async function requireEmpty(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `select relname as name from pg_class
      where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') order by 1 limit 3`,
  );
  if (rows.length > 0)
    throw new CannotStart(
      `The database is not empty (${rows.map(({ name }) => name).join(', ')}): a restore needs an empty database.`,
    );
}

/**
 * Creates the schema of the archive in an empty database and fills it, in one transaction. Throws CannotStart if rows are
 * missing.
 */
export async function loadDatabase(
  client: pg.Client,
  archive: Archive,
  onTable: (name: string) => void,
): Promise<Loaded> {
  const { migrations, tables, partitions, sequences } = archive.manifest.database;
  await client.query(copySettings);
  await client.query('begin');
  await makeSchema(client, migrations);
  const ordered = await inDependencyOrder(client);
  const all = ordered.map((name) => client.escapeIdentifier(name));
  // the archive has what triggers would fill in, and append-only tables have rows from the migrations
  for (const table of all) await client.query(`alter table ${table} disable trigger user`);
  await client.query(`truncate ${all.join(', ')}`);
  await makePartitions(
    client,
    partitions.filter(({ parent }) => ordered.includes(parent)),
  );
  let rows = 0;
  const wanted = new Map(tables.map((table) => [table.name, table]));
  for (const name of ordered) {
    const table = wanted.get(name);
    if (!table) continue;
    onTable(name);
    const loaded = await loadTable(client, archive, table);
    if (loaded !== table.rows)
      throw new CannotStart(`${name} has ${loaded} rows and should have ${table.rows}.`);
    rows += loaded;
  }
  for (const { name, lastValue, isCalled } of sequences)
    await client.query('select setval(to_regclass($1), $2, $3)', [
      client.escapeIdentifier(name),
      lastValue,
      isCalled,
    ]);
  for (const table of all) await client.query(`alter table ${table} enable trigger user`);
  await client.query('commit');
  await client.query('analyze');
  return { rows, skipped: tables.map(({ name }) => name).filter((name) => !ordered.includes(name)) };
}

/** All tables, each after those it references. */
async function inDependencyOrder(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string; needs: string[] }>(`
    select c.relname as name, coalesce(array_agg(t.relname::text) filter (where t.oid <> c.oid), '{}') as needs
      from pg_class c
      left join pg_constraint f on f.conrelid = c.oid and f.contype = 'f'
      left join pg_class t on t.oid = f.confrelid
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
     group by c.oid order by 1`);
  const ordered: string[] = [];
  while (ordered.length < rows.length) {
    const next = rows.find(
      ({ name, needs }) => !ordered.includes(name) && needs.every((need) => ordered.includes(need)),
    );
    if (!next) throw new Error('Tables reference each other in a cycle');
    ordered.push(next.name);
  }
  return ordered;
}

/** The bounds of a range partition, the only kind that Lanyard makes. */
const rangeBounds = /^FOR VALUES FROM \((MINVALUE|'[^']+')\) TO \((MAXVALUE|'[^']+')\)$|^DEFAULT$/;

async function makePartitions(client: pg.Client, partitions: DatabaseContent['partitions']): Promise<void> {
  for (const { name, parent, bounds } of partitions) {
    if (!rangeBounds.test(bounds)) throw new CannotStart(`${name} is no partition by range: ${bounds}`);
    await client.query(
      `create table if not exists ${client.escapeIdentifier(name)}
         partition of ${client.escapeIdentifier(parent)} ${bounds}`,
    );
  }
}

async function loadTable(
  client: pg.Client,
  archive: Archive,
  { name, columns }: DatabaseContent['tables'][number],
): Promise<number> {
  const list = columns.map((column) => client.escapeIdentifier(column)).join(', ');
  const stream = client.query(copyFrom(`copy ${client.escapeIdentifier(name)} (${list}) from stdin`));
  async function* pieces() {
    for (const piece of archive.namesIn(folderOf(name))) yield await decompress(await archive.read(piece));
  }
  await pipeline(Readable.from(pieces()), stream);
  return stream.rowCount;
}
