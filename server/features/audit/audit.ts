import type { Caller } from '../../caller.ts';
import type { NewEntry } from '../../change.ts';
import type { Db, Tx } from '../../db/client.ts';
import { entryKeyOf } from './keys.ts';
import { insertEntry, toRow } from './write-entry.ts';

export { acceptGaps } from './accept.ts';
export { beganWith } from './begin.ts';
export { beginAnew } from './begin-anew.ts';
export { cleanUp } from './cleanup.ts';
export { headPlaces, readHeadJson, readKept } from './kept-heads.ts';
export type { SignedHead } from './chain.ts';
export { auditKeys, exchangeKeys, withAuditKey, type AuditKeys } from './keys.ts';
export { verifyChain } from './verify.ts';
export { closeWindows } from './refusal-windows.ts';
export { createRefusals, type Refusals } from './refusals.ts';
export { createChainWatch, type ChainWatch } from './watch.ts';

export { entryWriter } from './write-entry.ts';

/** Writes an audit entry. Changes do it by `change.audit`. */
export async function writeAudit(tx: Tx | Db, by: Caller, entry: NewEntry): Promise<string> {
  const row = toRow(by, entry);
  await insertEntry(tx as Tx, entryKeyOf(tx), row);
  return row.audit_id;
}
