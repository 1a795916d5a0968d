import { sql, type Selectable } from 'kysely';
import { systemChange, type ChangeParts } from '../../change.ts';
import type { Tx } from '../../db/client.ts';
import { locks, tryLock } from '../../db/locks.ts';
import type { Tables } from '../../db/tables.ts';
import { sealOf, type Head, type SignedHead } from './chain.ts';
import { countDays } from './day-counts.ts';
import { readEnd, resumeFrom, writeHead } from './end.ts';
import { hashEntry, type SignedEntryRow } from './entry.ts';
import type { AuditKeys } from './keys.ts';
import { isOurs } from './links.ts';
import { present } from '../../invariants.ts';

/** The event that records a change of the retention. */
export const retentionChanged = 'audit.config_changed';

const atOnce = 500;

type SealRow = Selectable<Tables['audit_seals']>;

/**
 * Seals all committed entries without a seal, in write order. Only one sealer works at a time across all processes; the
 * others return. `knownUntil`: the highest number known from outside of the database to be sealed. Returns how many
 * entries this call sealed.
 */
export async function sealPending(
  parts: ChangeParts,
  keys: AuditKeys,
  clock: () => Date,
  knownUntil: () => number = () => 0,
): Promise<number> {
  for (let sealed = 0; ;) {
    // Usually there is nothing to do, so avoid a transaction.
    const waiting = await parts.db.selectFrom('audit_pending').select('position').limit(1).executeTakeFirst();
    if (!waiting) return sealed;
    const batch = await systemChange(parts, clock(), ({ tx, now }) => sealBatch(tx, keys, now, knownUntil()));
    sealed += batch;
    if (batch < atOnce) return sealed;
  }
}

async function sealBatch(tx: Tx, keys: AuditKeys, now: Date, knownUntil: number): Promise<number> {
  if (!(await tryLock(tx, locks.auditSealer))) return 0;
  const waiting = await readWaiting(tx);
  if (waiting.length === 0) return 0;
  const { head } = resumeFrom(keys, await readEnd(tx), knownUntil);
  await sealAfter(tx, keys, head, waiting, now);
  return waiting.length;
}

/** Seals the entries after that head, in order, and moves the head to the last of them. */
export async function sealAfter(
  tx: Tx,
  keys: AuditKeys,
  head: Head,
  entries: SignedEntryRow[],
  now: Date,
): Promise<SignedHead> {
  const seals: SealRow[] = [];
  for (const entry of entries) {
    const before = seals.at(-1);
    const seal = {
      sequence: (before?.sequence ?? head.sequence) + 1,
      audit_id: entry.audit_id,
      entry_hash: hashEntry(entry),
      previous_seal: before?.seal ?? head.seal,
      sealed_at: now,
    };
    seals.push({ ...seal, seal: sealOf(keys.current.seal, seal) });
  }
  await writeSeals(tx, seals);
  const retention_days = entries.reduce(
    (days, entry) => retentionSetBy(keys, entry) ?? days,
    head.retention_days,
  );
  const { sequence, seal } = present(seals.at(-1), 'there is something to seal');
  const next = await writeHead(tx, keys, { ...head, sequence, seal, retention_days });
  await countDays(tx, entries);
  await sql`delete from audit_pending where audit_id = any(${entries.map((e) => e.audit_id)}::uuid[])`.execute(
    tx,
  );
  return next;
}

/** The retention set by an entry, if the entry is ours. */
function retentionSetBy(keys: AuditKeys, entry: SignedEntryRow): number | undefined {
  if (entry.event_type !== retentionChanged || !isOurs(keys, entry)) return undefined;
  return (entry.after as { retentionDays: number }).retentionDays;
}

/** Skips rows of audit_pending whose entry is gone, which verification reports, or is already sealed. */
export async function readWaiting(tx: Tx): Promise<SignedEntryRow[]> {
  return tx
    .selectFrom('audit_pending')
    .innerJoin('audit_entries', 'audit_entries.audit_id', 'audit_pending.audit_id')
    .selectAll('audit_entries')
    .where(sql<boolean>`not exists (select from audit_seals s where s.audit_id = audit_pending.audit_id)`)
    .orderBy('audit_pending.position')
    .limit(atOnce)
    .execute();
}

async function writeSeals(tx: Tx, seals: SealRow[]): Promise<void> {
  await sql`insert into audit_seals (sequence, audit_id, entry_hash, previous_seal, seal, sealed_at)
    select * from unnest(
      ${seals.map((s) => s.sequence)}::bigint[], ${seals.map((s) => s.audit_id)}::uuid[],
      ${seals.map((s) => s.entry_hash)}::bytea[], ${seals.map((s) => s.previous_seal)}::bytea[],
      ${seals.map((s) => s.seal)}::bytea[], ${seals.map((s) => s.sealed_at)}::timestamptz[])`.execute(tx);
}
