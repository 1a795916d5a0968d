import type pg from 'pg';
import { systemChange, type NewEntry } from '../server/change.ts';
import { verifyChain } from '../server/features/audit/index.ts';
import { makeCustomer } from './factories.ts';
import type { Api, TestServer } from './harness.ts';

/* What the tests of the audit log write, and what others than Lanyard do to its tables. */

type Statements = (string | pg.QueryConfig)[];

/** What whoever may write rows can do, with the triggers on. */
async function writeRows({ pool }: Pick<TestServer, 'pool'>, ...statements: Statements): Promise<void> {
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

/** The chain of the server of the present test, and what others than Lanyard do to it. */
export function auditRoom(present: () => { server: TestServer; api: Api }) {
  const asOwner = (...statements: Statements) => writeUnguarded(present().server, ...statements);
  const chain = () => present().server.db.selectFrom('audit_seals').selectAll().orderBy('sequence').execute();
  const head = () => present().server.db.selectFrom('audit_head').selectAll().executeTakeFirstOrThrow();
  const seal = (on = present().server) => on.audit.seal();
  return {
    asOwner,
    asWriter: (...statements: Statements) => writeRows(present().server, ...statements),
    chain,
    head,
    seal,
    behindOurBack: (text: string, values: unknown[] = []) => asOwner({ text, values }),
    at: async (sequence: number) => (await chain()).find((one) => one.sequence === sequence)!,
    verify: async (on = present().server) => verifyChain(on.db, on.auditKeys, await on.audit.readHeads()),
    /** Writes entries by calls, and seals them. */
    fill: async (entries: number): Promise<void> => {
      for (let n = 0; n < entries; n++) await makeCustomer(present().api);
      await seal();
    },
    /** Writes entries of that time, of no event that there is. */
    write: (time: Date, fields: Partial<NewEntry> = {}, count = 1): Promise<void> =>
      systemChange(present().server.context, time, async ({ tx, by }) => {
        const entry = { event: 'test.made', resourceType: 'test', resourceId: null, summary: 'x', ...fields };
        for (let n = 0; n < count; n++) await present().server.context.writeEntry(tx, by, entry);
      }),
    /** The database as it was at that number: the entries behind it gone, the head of then with its own mac. */
    putBackTo: (old: Awaited<ReturnType<typeof head>>): Promise<void> =>
      asOwner(
        `delete from audit_entries where audit_id not in (select audit_id from audit_seals where sequence <= ${old.sequence})`,
        `delete from audit_seals where sequence > ${old.sequence}`,
        'delete from audit_pending',
        `update audit_head set sequence = ${old.sequence}, seal = '\\x${old.seal.toString('hex')}', mac = '\\x${old.mac!.toString('hex')}'`,
      ),
  };
}
