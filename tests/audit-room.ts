import type pg from 'pg';
import type { TestServer } from './harness.ts';

/* What others than Lanyard do to the tables of the audit log. */

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
