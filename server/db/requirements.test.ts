import { expect, test } from 'vitest';
import { createTestDatabase } from '../../tests/harness.ts';
import { ask } from '../../tests/work.ts';
import {
  behaviorProblems,
  otherProduct,
  requireDatabase,
  serverProblems,
  type ServerProperties,
} from './requirements.ts';

const good: ServerProperties = {
  version: 'PostgreSQL 15.14 (Debian 15.14-0+deb12u1) on x86_64-pc-linux-gnu',
  versionNumber: 150_014,
  isReadOnly: false,
  isReplica: false,
  encoding: 'UTF8',
  createsInDatabase: true,
  createsInSchema: true,
  trigrams: 'creatable',
  distributed: [],
};

test('a server that has everything has no problems', () => {
  expect(otherProduct(good.version)).toBeUndefined();
  expect(serverProblems(good)).toEqual([]);
  expect(serverProblems({ ...good, trigrams: 'usable', createsInDatabase: false })).toEqual([]);
  const behavior = { isPooledByTransaction: false, locksAcrossSessions: true, notifies: true };
  expect(behaviorProblems(behavior, false)).toEqual([]);
});

test.each([
  [{ versionNumber: 130_012 }, /^The server is PostgreSQL 13\. Use 14 or newer\.$/],
  [{ isReplica: true, isReadOnly: true }, /^The server is a replica .* Name the primary server/],
  [{ isReadOnly: true }, /^The server only lets this role read .*disk is full/],
  [{ encoding: 'SQL_ASCII' }, /^The encoding of the database is SQL_ASCII\. .*encoding 'UTF8'/],
  [{ createsInSchema: false }, /^The role may not create tables .*alter database … owner to ….$/],
  [{ createsInSchema: false, versionNumber: 140_023 }, /owner to …. And the schema: grant all on schema/],
  [{ createsInDatabase: false }, /^The role may not create the extension pg_trgm: .*administrator/],
  [{ trigrams: 'untrusted' as const }, /^Only a superuser may create the extension pg_trgm/],
  [{ trigrams: 'missing' as const }, /^The server does not have the extension pg_trgm/],
  [{ trigrams: 'hidden' as const }, /^The extension pg_trgm lies in a schema .*search_path/],
  [{ distributed: ['licenses'] }, /^Citus distributes these tables: licenses\./],
])('%j is one sentence', (fact, sentence) => {
  const problems = serverProblems({ ...good, ...fact });
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatch(sentence);
});

test.each([
  ['CockroachDB CCL v24.1.0 (x86_64-pc-linux-gnu)', 'CockroachDB'],
  ['PostgreSQL 15.2-YB-2025.1.0.0-b0 on x86_64-pc-linux-gnu', 'YugabyteDB'],
  ['PostgreSQL 8.0.2 on i686-pc-linux-gnu, compiled by GCC, Redshift 1.0', 'Redshift'],
])('%s is not taken for PostgreSQL', (version, product) => {
  expect(otherProduct(version)).toContain(`The server is ${product}, not PostgreSQL`);
});

test('what processes agree by must work, and a pooler is named by its setting', () => {
  const works = { isPooledByTransaction: false, locksAcrossSessions: true, notifies: true };
  expect(behaviorProblems({ ...works, locksAcrossSessions: false }, false)[0]).toMatch(/^Advisory locks/);
  expect(behaviorProblems({ ...works, notifies: false }, false)[0]).toMatch(/NOTIFY does not arrive/);
  expect(behaviorProblems({ isPooledByTransaction: true }, false)[0]).toMatch(
    /^DATABASE_URL leads to a pooler/,
  );
  expect(behaviorProblems({ isPooledByTransaction: true }, true)[0]).toMatch(/^DATABASE_DIRECT_URL leads to/);
});

test('a real server is asked: one that may serve, and a database that is only read', async () => {
  const database = await createTestDatabase({ empty: true });
  const both = { queries: database.url, direct: database.url };
  await requireDatabase(both);
  const { pathname } = new URL(database.url);
  await ask(database.url, `alter database ${pathname.slice(1)} set default_transaction_read_only = on`);
  await expect(requireDatabase(both)).rejects.toThrow(
    'Lanyard cannot start on this database:\n  - The server only lets this role read',
  );
});
