import { sql, type Selectable } from 'kysely';
import type { Db, Tx } from '../../db/client.ts';
import { locks, tryLock } from '../../db/locks.ts';
import type { Tables } from '../../db/tables.ts';
import { headText, sealOf, type Head } from './chain.ts';
import { countDays } from './day-counts.ts';
import { hashEntry, type SignedEntryRow } from './entry.ts';
import { isMacOf, macOf, type AuditKeys } from './keys.ts';

const atOnce = 500;

type Waiting = SignedEntryRow & { position: number };
type SealRow = Selectable<Tables['audit_seals']>;

/**
 * Seals every committed entry that has none, in the order of writing. One sealer works at a time among all
 * processes: while another does, this one leaves it to it. Answers how many this one sealed.
 */
export async function sealPending(db: Db, keys: AuditKeys, clock: () => Date): Promise<number> {
  for (let sealed = 0; ;) {
    // Mostly there is nothing to do, and that is not worth a transaction.
    const waiting = await db.selectFrom('audit_pending').select('position').limit(1).executeTakeFirst();
    if (!waiting) return sealed;
    const batch = await db.transaction().execute((tx) => sealBatch(tx, keys, clock()));
    sealed += batch;
    if (batch < atOnce) return sealed;
  }
}

async function sealBatch(tx: Tx, keys: AuditKeys, now: Date): Promise<number> {
  if (!(await tryLock(tx, locks.auditSealer))) return 0;
  const waiting = await readWaiting(tx);
  if (waiting.length === 0) return 0;
  const head = await continueFrom(tx, keys);
  const seals: SealRow[] = [];
  for (const entry of waiting) {
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
  await moveHead(tx, keys, { ...head, sequence: seals.at(-1)!.sequence, seal: seals.at(-1)!.seal });
  await countDays(tx, waiting);
  await sql`delete from audit_pending where position = any(${waiting.map((e) => e.position)}::bigint[])`.execute(
    tx,
  );
  return seals.length;
}

/** What was removed before its seal, or has one, stays behind in audit_pending: the verification names the first. */
async function readWaiting(tx: Tx): Promise<Waiting[]> {
  return tx
    .selectFrom('audit_pending')
    .innerJoin('audit_entries', 'audit_entries.audit_id', 'audit_pending.audit_id')
    .selectAll('audit_entries')
    .select('audit_pending.position')
    .where(sql<boolean>`not exists (select from audit_seals s where s.audit_id = audit_pending.audit_id)`)
    .orderBy('audit_pending.position')
    .limit(atOnce)
    .execute();
}

/**
 * The end of the chain. Where it is not what a sealer left there, somebody cut or changed the chain: sealing goes
 * on, with one number left out, so that the break stays for every later verification to find.
 */
async function continueFrom(tx: Tx, keys: AuditKeys): Promise<Head> {
  const head = await tx.selectFrom('audit_head').selectAll().executeTakeFirst();
  const last = await tx
    .selectFrom('audit_seals')
    .select(['sequence', 'seal'])
    .orderBy('sequence', 'desc')
    .limit(1)
    .executeTakeFirst();
  const anchor = await tx
    .selectFrom('audit_anchors')
    .select(['sequence', 'seal'])
    .orderBy('sequence', 'desc')
    .limit(1)
    .executeTakeFirst();
  const end = last ?? anchor;
  const isFirst = head?.mac === null && head.sequence === 0 && !end;
  const isOurs =
    head?.mac &&
    isMacOf(keys, 'seal', headText(head), head.mac) &&
    end?.sequence === head.sequence &&
    end.seal.equals(head.seal);
  if (head && (isFirst || isOurs)) return head;
  const furthest = Math.max(head?.sequence ?? 0, last?.sequence ?? 0, anchor?.sequence ?? 0);
  return { sequence: furthest + 1, seal: end?.seal ?? Buffer.alloc(32), unsigned_until: 0 };
}

async function writeSeals(tx: Tx, seals: SealRow[]): Promise<void> {
  await sql`insert into audit_seals (sequence, audit_id, entry_hash, previous_seal, seal, sealed_at)
    select * from unnest(
      ${seals.map((s) => s.sequence)}::bigint[], ${seals.map((s) => s.audit_id)}::uuid[],
      ${seals.map((s) => s.entry_hash)}::bytea[], ${seals.map((s) => s.previous_seal)}::bytea[],
      ${seals.map((s) => s.seal)}::bytea[], ${seals.map((s) => s.sealed_at)}::timestamptz[])`.execute(tx);
}

async function moveHead(tx: Tx, keys: AuditKeys, head: Head): Promise<void> {
  const values = {
    sequence: head.sequence,
    seal: head.seal,
    unsigned_until: head.unsigned_until,
    mac: macOf(keys.current.seal, headText(head)),
  };
  await tx
    .insertInto('audit_head')
    .values(values)
    .onConflict((oc) => oc.column('only_row').doUpdateSet(values))
    .execute();
}
