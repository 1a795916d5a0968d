import { sql } from 'kysely';
import type { Tx } from '../../db/client.ts';
import { locks, waitForLock } from '../../db/locks.ts';
import { beginSwitch } from './begin.ts';
import type { SignedHead } from './chain.ts';
import { writeAnchor } from './cleanup.ts';
import { readEnd, readRetention, writeHead } from './end.ts';
import type { AuditKeys } from './keys.ts';
import { readWaiting, sealAfter } from './sealer.ts';

/**
 * Restarts the chain after its end, for use when a key that sealed it is lost: existing entries stay but can no longer
 * be verified. `tx` signs entries with the current key; `record` writes the entry about the restart, the first
 * verifiable one. Returns the head, to be stored in all places for heads.
 */
export async function restartChain(
  tx: Tx,
  keys: AuditKeys,
  now: Date,
  record: () => Promise<unknown>,
): Promise<SignedHead> {
  await sql`set local statement_timeout = 0`.execute(tx);
  await waitForLock(tx, locks.auditSealer);
  const { last } = await readEnd(tx);
  const { retention_days } = await readRetention(tx);
  // Both depend on the lost key, and triggers prevent any other change.
  for (const table of ['audit_anchors', 'audit_switch']) {
    await sql`alter table ${sql.table(table)} disable trigger user`.execute(tx);
    await sql`delete from ${sql.table(table)}`.execute(tx);
    await sql`alter table ${sql.table(table)} enable trigger user`.execute(tx);
  }
  await beginSwitch(tx, keys);
  let head = await writeHead(tx, keys, { ...last, unsigned_until: 0, retention_days });
  const sealWaiting = async () => {
    for (let waiting = await readWaiting(tx); waiting.length > 0; waiting = await readWaiting(tx))
      head = await sealAfter(tx, keys, head, waiting, now);
  };
  await sealWaiting();
  const { sequence, seal } = head;
  if (sequence > 0) await writeAnchor(tx, keys, { sequence, seal, removed: 0, before: now, made_at: now });
  await record();
  await sealWaiting();
  return head;
}
