import { sql } from 'kysely';
import type { Db, Tx } from '../../db/client.ts';
import { isOurHead, noSeal, signHead, type Head, type SignedHead } from './chain.ts';
import type { AuditKeys } from './keys.ts';
import type { KeptHead } from './kept-heads.ts';
import { altered, broken, gapAt, removed, type Broken, type Gap, type Place } from './links.ts';

export type End = { head: (Head & { mac: Buffer | null }) | undefined; last: Place };

type Row = NonNullable<End['head']> & { head: boolean };

/** The head and the last seal, read in one snapshot. */
export async function readEnd(tx: Db): Promise<End> {
  const { rows } = await sql<Row>`
    select true as head, sequence, seal, unsigned_until, retention_days, mac from audit_head
    union all
    (select false, sequence, coalesce(seal, ''), 0, 0, null from audit_seals order by sequence desc limit 1)
    union all
    (select false, sequence, seal, 0, 0, null from audit_anchors order by sequence desc limit 1)`.execute(tx);
  const last = rows.find((row) => !row.head) ?? { sequence: 0, seal: noSeal };
  return { head: rows.find((row) => row.head), last: { sequence: last.sequence, seal: last.seal } };
}

/**
 * Checks the end of the chain: it must match the head, the head must be ours, and each head stored outside of the
 * database must be part of the chain. Stored heads must be read before `end`.
 */
export async function checkEnd(
  tx: Db,
  keys: AuditKeys,
  { head, last }: End,
  { kept, gaps }: { kept: KeptHead[]; gaps: Gap[] },
): Promise<Broken | null> {
  if (!head || !isOurHead(keys, head)) return altered(last.sequence);
  if (head.sequence > last.sequence) return removed(last.sequence + 1, head.sequence);
  // A seal covers its own number.
  if (!head.seal.equals(last.seal)) return altered(last.sequence);
  for (const one of kept) {
    const problem = await checkKept(tx, keys, last, one, gaps);
    if (problem) return problem;
  }
  return null;
}

async function checkKept(
  tx: Db,
  keys: AuditKeys,
  last: Place,
  { place, head }: KeptHead,
  gaps: Gap[],
): Promise<Broken | null> {
  if (!head || !isOurHead(keys, head)) {
    return broken({}, `The head of the chain that is kept in ${place} was not made by this installation.`);
  }
  const { sequence, seal } = head;
  if (sequence === 0 || gaps.some((gap) => gap.after < sequence && sequence <= gap.until)) return null;
  if (last.sequence < sequence) {
    const from = last.sequence + 1;
    const what = from === sequence ? `entry ${from}` : `the entries ${from} to ${sequence}`;
    return broken(
      { sequence: from },
      `The database was put back to an earlier state: ${what} of the chain had been sealed, as the head in ${place} says, and can no longer be found.`,
    );
  }
  const stored = await sealAt(tx, sequence);
  if (stored && !stored.equals(seal)) {
    return broken(
      { sequence },
      `The chain was rewritten: at place ${sequence} it is not the one whose head is kept in ${place}.`,
    );
  }
  return stored || (await isCleanedUp(tx, sequence)) ? null : removed(sequence, sequence);
}

async function sealAt(tx: Db, sequence: number): Promise<Buffer | undefined> {
  const found = await sql<{ seal: Buffer }>`
    select seal from audit_seals where sequence = ${sequence}
    union all select seal from audit_anchors where sequence = ${sequence}`.execute(tx);
  return found.rows[0]?.seal;
}

/** Checked after the lookup of the seal: if a concurrent cleanup removed it, its anchor exists by now. */
async function isCleanedUp(tx: Db, sequence: number): Promise<boolean> {
  const { rows } = await sql`select 1 from audit_anchors where sequence >= ${sequence} limit 1`.execute(tx);
  return rows.length > 0;
}

/** The position of the next seal. */
export type Resume = { head: Head; gap: Gap | undefined };

/**
 * Where sealing continues. If the end is not as a sealer left it, or is before a number known to be sealed, at least
 * one number is skipped: every later verification finds the gap.
 */
export function resumeFrom(keys: AuditKeys, { head, last }: End, knownUntil: number): Resume {
  const isOurs =
    head && isOurHead(keys, head) && head.sequence === last.sequence && head.seal.equals(last.seal);
  if (isOurs && knownUntil <= last.sequence) return { head, gap: undefined };
  const until = Math.max(isOurs ? 0 : last.sequence + 1, knownUntil, isOurs ? 0 : (head?.sequence ?? 0));
  return {
    head: isOurs
      ? { ...head, sequence: until }
      : { sequence: until, seal: last.seal, unsigned_until: 0, retention_days: 0 },
    gap: gapAt(last, until),
  };
}

/** The retention as the database has it; the head holds the one that was set in Lanyard. */
export const readRetention = (tx: Db): Promise<{ retention_days: number }> =>
  tx.selectFrom('audit_settings').select('retention_days').executeTakeFirstOrThrow();

/** Moves the head to the end of the chain. */
export async function writeHead(tx: Tx, keys: AuditKeys, head: Head): Promise<SignedHead> {
  const values = signHead(keys, head);
  await tx
    .insertInto('audit_head')
    .values(values)
    .onConflict((oc) => oc.column('only_row').doUpdateSet(values))
    .execute();
  return values;
}
