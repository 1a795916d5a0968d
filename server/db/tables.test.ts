import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, expect, test } from 'vitest';
import { createTestDatabase } from '../../tests/harness.ts';
import { createDb, createPool } from './client.ts';

const db = createDb(createPool((await createTestDatabase()).url, 1));
afterAll(() => db.destroy());

/** `table.column` to what a program reads there, from the source: its types are gone when a test runs. */
async function described(): Promise<Map<string, string>> {
  const folder = join(import.meta.dirname, 'tables');
  const files = await readdir(folder);
  const sources = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')));
  const tables = sources.flatMap((source) => [
    ...source.slice(source.search(/export type \w*Tables = /)).matchAll(/^ {2}(\w+): \{([^}]*)\};/gm),
  ]);
  return new Map(
    tables.flatMap(([, table, body]) =>
      [...body!.matchAll(/(\w+): ([^;]+?)(?:;|\s*$)/gm)].map(([, column, type]) => [
        `${table}.${column}`,
        reading(type!),
      ]),
    ),
  );
}

/** The basic type, `[]` behind it for arrays, `?` where null is read, `=` where an insert may leave it out. */
function reading(type: string): string {
  const inner = /^Generated(?:Always)?<(.+)>$/.exec(type)?.[1];
  if (type.startsWith('ColumnType<unknown')) return 'json?';
  if (type.startsWith('ColumnType<object')) return 'json';
  const json = /^Json<(.+)>$/.exec(type)?.[1];
  if (json) return json.endsWith(' | null') ? 'json?' : 'json';
  const read = inner ?? type;
  const isNullable = read.endsWith(' | null');
  const base = read.replace(' | null', '');
  const basic = /^(string|number|boolean|Date|Buffer)(\[\])?$/.exec(base);
  // names of the contract and texts in quotes are texts
  const shown = basic ? base : base.endsWith('[]') ? 'string[]' : 'string';
  return `${shown}${isNullable ? '?' : ''}${inner ? '=' : ''}`;
}

const basics: Record<string, string> = {
  text: 'string',
  bpchar: 'string',
  uuid: 'string',
  inet: 'string',
  bool: 'boolean',
  int2: 'number',
  int4: 'number',
  int8: 'number',
  float8: 'number',
  date: 'Date',
  timestamptz: 'Date',
  bytea: 'Buffer',
  jsonb: 'json',
  json: 'json',
};

/** The same from the catalog. */
async function catalogued(): Promise<Map<string, string>> {
  const { rows } = await sql<{ name: string; type: string; nullable: boolean; filled: boolean }>`
    select c.relname || '.' || a.attname as name, t.typname as type, not a.attnotnull as nullable,
           a.atthasdef or a.attidentity <> '' as filled
      from pg_class c join pg_attribute a on a.attrelid = c.oid join pg_type t on t.oid = a.atttypid
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
       and a.attnum > 0 and not a.attisdropped and c.relname <> 'schema_migrations'`.execute(db);
  return new Map(
    rows.map(({ name, type, nullable, filled }) => {
      const array = type.startsWith('_') ? '[]' : '';
      return [
        name,
        `${basics[type.replace('_', '')] ?? type}${array}${nullable ? '?' : ''}${filled ? '=' : ''}`,
      ];
    }),
  );
}

test('tables.ts says what the catalog of the database says, column by column', async () => {
  const [ours, theirs] = [await described(), await catalogued()];
  expect([...ours.keys()].toSorted()).toEqual([...theirs.keys()].toSorted());
  const differing = [...theirs].filter(([name, type]) => !holds(ours.get(name)!, type));
  expect(differing.map(([name, type]) => `${name} is ${type}, not ${ours.get(name)}`)).toEqual([]);
});

/** An insert may be asked for more than the database needs, never for less. */
const holds = (ours: string, theirs: string): boolean =>
  ours === theirs || `${ours}=` === theirs || (theirs.endsWith('?') && ours === `${theirs}=`);
