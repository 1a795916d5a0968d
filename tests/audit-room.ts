import type pg from 'pg';
import { systemChange, type NewEntry } from '../server/change.ts';
import { makeCustomer } from './factories.ts';
import type { Api, TestServer } from './harness.ts';

/* What the tests of the audit log write, and what others than Lanyard do to its tables. */

/** Writes entries by calls, and seals them. */
export async function fillLog(
  { audit }: Pick<TestServer, 'audit'>,
  api: Api,
  entries: number,
): Promise<void> {
  for (let n = 0; n < entries; n++) await makeCustomer(api);
  await audit.seal();
}

/** Writes entries of that time, of no event that there is. */
export const writeEntries = (
  { context }: Pick<TestServer, 'context'>,
  time: Date,
  fields: Partial<NewEntry> = {},
  count = 1,
): Promise<void> =>
  systemChange(context, time, async ({ tx, by }) => {
    const entry = { event: 'test.made', resourceType: 'test', resourceId: null, summary: 'x', ...fields };
    for (let n = 0; n < count; n++) await context.writeEntry(tx, by, entry);
  });

type Statements = (string | pg.QueryConfig)[];

/** What whoever may write rows can do, with the triggers on. */
export async function writeRows(
  { pool }: Pick<TestServer, 'pool'>,
  ...statements: Statements
): Promise<void> {
  const client = await pool.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    // its settings must not reach the next user of the connection
    client.release(true);
  }
}

/** What the owner of the tables can do: triggers off. */
export const writeUnguarded = (server: Pick<TestServer, 'pool'>, ...statements: Statements) =>
  writeRows(server, "set session_replication_role = 'replica'", ...statements);
