import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createTestDatabase, eventually, openClient, patience } from '../../tests/harness.ts';
import { startSwitch } from '../../tests/tcp-switch.ts';
import { knownMigrations, makeSchema, migrate } from './migrate.ts';

/* Processes of the last version serve while a new one migrates: docs/decisions/042-backup-and-upgrades.md. */

test('a migration that waits for a table lets others pass, and is done when the table is free', async () => {
  const database = await createTestDatabase({ empty: true });
  const [reader, other] = [await openClient(database.url), await openClient(database.url)];
  const last = '0013_installation.sql';
  const known = await knownMigrations();
  await makeSchema(
    reader,
    known.filter((name) => name <= last),
  );
  // a long report; the next migration alters the table
  await reader.query('begin; select from validations');
  const migrated = migrate(database.url);
  const waiting = async () =>
    (
      await other.query(
        'select from pg_locks join pg_database d on d.oid = database where not granted and datname = current_database()',
      )
    ).rowCount!;
  await eventually(async () => (await waiting()) > 0);
  const from = performance.now();
  await other.query('insert into validations (occurred_at, code, duration_us) values (now(), $1, 1)', [
    'VALID',
  ]);
  expect(performance.now() - from, 'what waits behind the migration').toBeLessThan(patience(15_000));
  await reader.query('commit');
  expect(await migrated).toEqual(known.filter((name) => name > last));
});

test('a migration whose process is gone leaves its locks within seconds', async () => {
  const database = await createTestDatabase({ empty: true });
  const other = await openClient(database.url);
  await other.query(
    `create table schema_migrations (name text primary key, applied_at timestamptz(3) not null default now());
     create function wait() returns trigger language plpgsql as 'begin perform pg_sleep(600); return new; end';
     create trigger wait before insert on schema_migrations for each row execute function wait()`,
  );
  const line = await startSwitch(database.url);
  const migrated = migrate(line.url);
  const migrating = async () =>
    (
      await other.query(
        `select from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`,
      )
    ).rowCount!;
  await eventually(async () => (await migrating()) > 0);
  line.reset();
  await expect(migrated).rejects.toThrow();
  await eventually(async () => (await migrating()) === 0);
});

/** The migrations after that one, with their SQL. */
const migrationsAfter = async (last: string): Promise<[name: string, sql: string][]> =>
  Promise.all(
    (await knownMigrations())
      .filter((name) => name > last)
      .map(async (name) => [name, await readFile(join(import.meta.dirname, 'migrations', name), 'utf8')]),
  );

/** The last migration of before the rule. */
const before = '0023_newest_moment.sql';
/** What a process of the last version would miss, or would fail at. */
const breaking: [RegExp, string][] = [
  [/\bdrop\s+(?:table|column|view|function|type|schema)\b/i, 'removes what the last version uses'],
  [/\brename\b/i, 'renames what the last version uses'],
  [/\balter\s+column\s+\w+\s+(?:set\s+data\s+)?type\b/i, 'changes a type, under a lock on the whole table'],
  [/\bset\s+not\s+null\b/i, 'refuses rows as the last version writes them'],
  [
    /\badd\s+column\s+(?:(?!,|;|\bdefault\b)[^])*\bnot\s+null\b(?:(?!,|;|\bdefault\b)[^])*(?=[,;])/i,
    'wants a value that the last version does not give',
  ],
];

/** Why a migration may not run beside the last version; statements behind `-- unused: <reason>` may. */
function breaches(sql: string): string[] {
  const statements = sql.split(/;\s*\n/).filter((statement) => !/^\s*-- unused: \S/m.test(statement));
  const text = statements.map((statement) => statement.replace(/--.*$/gm, '')).join(';\n');
  return breaking.filter(([pattern]) => pattern.test(`${text};`)).map(([, why]) => why);
}

test('a migration leaves what the last version reads and writes', async () => {
  expect(breaches('alter table users drop column name;')).toHaveLength(1);
  expect(breaches('alter table users rename column name to title;')).toHaveLength(1);
  expect(breaches('alter table users add column age integer not null;')).toHaveLength(1);
  expect(breaches('alter table users add column age integer not null, add column b text;')).toHaveLength(1);
  expect(breaches('alter table users alter column name set not null;')).toHaveLength(1);
  expect(breaches('alter table users add column age integer not null default 0, add column b text;')).toEqual(
    [],
  );
  expect(breaches('-- unused: nothing reads it since 1.1\nalter table users drop column name;\n')).toEqual(
    [],
  );
  expect(breaches('create table ages (age integer not null);\n-- drop table ages;\n')).toEqual([]);
  for (const [name, sql] of await migrationsAfter(before))
    expect(breaches(sql), `${name}: see "Migrations" in CONTRIBUTING.md`).toEqual([]);
});

/** The last migration of before this rule. */
const beforeSplit = '0037_today.sql';

/** Existing tables that a migration fills or indexes while it keeps all others from a table that it alters. */
function slowUnderLock(sql: string): string[] {
  const text = sql.replace(/--.*$/gm, '').replace(/\$\$[^]*?\$\$/g, '');
  const tablesOf = (pattern: RegExp) => [...text.matchAll(pattern)].map(([, table]) => table!);
  const made = tablesOf(/^create table (\w+)/gim);
  const existing = (pattern: RegExp) => tablesOf(pattern).filter((table) => !made.includes(table));
  if (existing(/^alter table (\w+)/gim).length === 0) return [];
  return existing(/^(?:insert into|update|delete from|create (?:unique )?index \w+ on) (\w+)/gim);
}

test('a migration that alters a table does nothing long under that lock', async () => {
  expect(slowUnderLock('alter table a add column b text;\nupdate a set b = 1;\n')).toEqual(['a']);
  expect(slowUnderLock('alter table a add column b text;\ninsert into c select from a;\n')).toEqual(['c']);
  expect(slowUnderLock('alter table a add column b text;\ncreate index i on c (b);\n')).toEqual(['c']);
  expect(
    slowUnderLock('alter table a add column b text;\ncreate table c ();\ncreate index i on c (b);\n'),
  ).toEqual([]);
  expect(slowUnderLock('insert into a select from c;\n')).toEqual([]);
  for (const [name, sql] of await migrationsAfter(beforeSplit))
    expect(slowUnderLock(sql), `${name}: see "Migrations" in CONTRIBUTING.md`).toEqual([]);
});
