import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { systemChange, type ChangeParts } from '../../change.ts';
import type { Db, Tx } from '../../db/client.ts';
import { locks, waitForLock } from '../../db/locks.ts';
import { exists } from '../../db/sql.ts';
import { oldHeadText, type Head } from './chain.ts';
import { readEnd, readRetention, writeHead, type End } from './end.ts';
import type { KeptHead } from './kept-heads.ts';
import { isMacOf, type AuditKeys } from './keys.ts';

/** The value of the PostgreSQL setting that opens the retention switch. */
const opener = (retention: Buffer) => retention.toString('hex');
const hashOf = (text: string) => createHash('sha256').update(text).digest();

/** Whether the first head was created. */
export const hasBegun = (db: Db): Promise<boolean> => exists(db.selectFrom('audit_switch'));

/**
 * Creates the first head with its mac, once per database: `audit_switch` records this and cannot be reset by changing
 * rows. A chain from before heads were stored outside is adopted, which an entry records. If a stored head exists, or
 * the head in the database is not ours, nothing is created: the chain is broken.
 */
export function beginChain(parts: ChangeParts, keys: AuditKeys, kept: KeptHead[], now: Date): Promise<void> {
  return systemChange(parts, now, async ({ tx, audit }) => {
    await waitForLock(tx, locks.auditSealer);
    if (await hasBegun(tx)) return;
    await beginSwitch(tx, keys);
    const end = await readEnd(tx);
    if (!end.head) return;
    const { retention_days } = await readRetention(tx);
    const head: Head = { ...end.head, retention_days };
    const isFirst = isNew(end) && kept.length === 0;
    if (!isFirst && !isFromBefore(keys, end)) return;
    await writeHead(tx, keys, head);
    if (isFirst) return;
    await audit('audit.chain_taken_over', null, {
      what: `from entry ${head.sequence} on, the end of the chain is kept outside of the database too`,
      after: { sequence: head.sequence, seal: head.seal.toString('hex'), retentionDays: retention_days },
    });
  });
}

/** Makes the current key open the retention switch from now on. */
export const beginSwitch = (tx: Tx, { current }: AuditKeys) =>
  tx
    .insertInto('audit_switch')
    .values({ opened_by: hashOf(opener(current.retention)) })
    .execute();

const isNew = ({ head, last }: End) => head?.mac === null && head.sequence === 0 && last.sequence === 0;

const isFromBefore = (keys: AuditKeys, { head, last }: End) =>
  head !== undefined &&
  head.mac !== null &&
  isMacOf(keys, 'seal', oldHeadText(head), head.mac) &&
  head.sequence === last.sequence &&
  head.seal.equals(last.seal);

/** Allows this transaction to remove sealed entries; false if the switch was not created with one of our keys. */
export async function openSwitch(tx: Tx, keys: AuditKeys): Promise<boolean> {
  const value = await openerOf(tx, keys);
  if (value === undefined) return false;
  await sql`select set_config('lanyard.audit_retention', ${value}, true)`.execute(tx);
  return true;
}

/** Whether the chain of this database began with one of these keys, or has not begun. */
export const beganWith = async (db: Db, keys: AuditKeys): Promise<boolean> =>
  !(await hasBegun(db)) || (await openerOf(db, keys)) !== undefined;

async function openerOf(db: Db, { known }: AuditKeys): Promise<string | undefined> {
  const row = await db.selectFrom('audit_switch').select('opened_by').executeTakeFirst();
  return known.map((keys) => opener(keys.retention)).find((text) => row?.opened_by.equals(hashOf(text)));
}

export const closeSwitch = (tx: Tx) =>
  sql`select set_config('lanyard.audit_retention', '', true)`.execute(tx);
