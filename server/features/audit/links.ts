import { isDeepStrictEqual } from 'node:util';
import type { Selectable } from 'kysely';
import { anyOf } from '../../db/sql.ts';
import type { AuditVerification } from '../../../contract/audit.ts';
import type { Db } from '../../db/client.ts';
import type { Tables } from '../../db/tables.ts';
import { isOurHead, noSeal, sealText } from './chain.ts';
import { hashEntry, textAsRead, type SignedEntryRow } from './entry.ts';
import { isMacOf, type AuditKeys } from './keys.ts';

export const linksAtOnce = 500;

export type Broken = NonNullable<AuditVerification['broken']>;
export type Link = Selectable<Tables['audit_seals']> & { entry: SignedEntryRow | null };
/** The position after which the next link must follow. */
export type Place = { sequence: number; seal: Buffer };

/**
 * The start of the chain: after the last anchor, or at the first entry. `keptAfter`: the number after which there are
 * seals, which is that of the anchor, unless the chain was restarted: then the entries before it stay.
 */
export async function beginningOf(
  tx: Db,
  keys: AuditKeys,
): Promise<Place & { unsignedUntil: number; keptAfter: number }> {
  const anchor = await tx
    .selectFrom('audit_anchors')
    .select(['sequence', 'seal', 'removed'])
    .orderBy('sequence', 'desc')
    .limit(1)
    .executeTakeFirst();
  const head = await tx.selectFrom('audit_head').selectAll().executeTakeFirst();
  // The value is trusted only if the head is ours.
  const unsignedUntil = head && isOurHead(keys, head) ? head.unsigned_until : 0;
  const { removed: count, ...start } = anchor ?? { sequence: 0, seal: noSeal, removed: 0 };
  return { ...start, unsignedUntil, keptAfter: count === 0 ? 0 : start.sequence };
}

/** Numbers missing in the chain after a position; accepted by the operator, or detected. */
export type Gap = { after: number; seal: string; until: number };

export const gapAt = ({ sequence, seal }: Place, until: number): Gap => ({
  after: sequence,
  seal: seal.toString('hex'),
  until,
});

export const gapAccepted = 'audit.gap_accepted';

/** The gaps accepted by the operator; only entries signed by us count. */
export async function acceptedGaps(tx: Db, keys: AuditKeys): Promise<Gap[]> {
  const entries = await tx
    .selectFrom('audit_entries')
    .selectAll()
    .where('event_type', '=', gapAccepted)
    .execute();
  return entries
    .filter((entry) => isOurs(keys, entry))
    .flatMap((entry) => (entry.after as { gaps: Gap[] }).gaps);
}

/** The links after `from`, in order, each with the place that it must follow. */
export async function* linksAfter(tx: Db, from: Place): AsyncGenerator<{ place: Place; link: Link }, void> {
  let place = from;
  for (;;) {
    const links = await readLinks(tx, place.sequence);
    for (const link of links) {
      yield { place, link };
      place = link;
    }
    if (links.length < linksAtOnce) return;
  }
}

/** The next links after that sequence, each with its entry. */
export async function readLinks(tx: Db, after: number): Promise<Link[]> {
  const seals = await tx
    .selectFrom('audit_seals')
    .selectAll()
    .where('sequence', '>', after)
    .orderBy('sequence')
    .limit(linksAtOnce)
    .execute();
  if (seals.length === 0) return [];
  const entries = await tx
    .selectFrom('audit_entries')
    .selectAll()
    .where('audit_id', '=', anyOf(seals.map((seal) => seal.audit_id)))
    .execute();
  const byId = new Map(entries.map((entry) => [entry.audit_id, entry]));
  return seals.map((seal) => ({ ...seal, entry: byId.get(seal.audit_id) ?? null }));
}

/** Exceptions for links: entries up to `unsignedUntil` predate the signing of entries, and gaps were accepted. */
export type Excused = { unsignedUntil: number; gaps: Gap[] };

/** Checks a link that should follow `place`; null if it is valid. */
export function checkLink(keys: AuditKeys, place: Place, link: Link, excused: Excused): Broken | null {
  try {
    return checkRows(keys, place, link, excused);
  } catch {
    const { audit_id, sequence } = link;
    return broken({ audit_id, sequence }, 'The seal of the entry has a form that Lanyard does not write.');
  }
}

function checkRows(
  keys: AuditKeys,
  place: Place,
  link: Link,
  { unsignedUntil, gaps }: Excused,
): Broken | null {
  const { sequence, audit_id, entry } = link;
  if (sequence !== place.sequence + 1) {
    const gap = gapAt(place, sequence - 1);
    if (!gaps.some((one) => isDeepStrictEqual(one, gap))) return removed(place.sequence + 1, sequence - 1);
  }
  if (!entry) return broken({ audit_id, sequence }, 'The entry was removed from the database.');
  const isSealedSo = hashEntry(entry).equals(link.entry_hash);
  if (!isOurs(keys, entry) && !(entry.mac === null && sequence <= unsignedUntil)) {
    return broken(
      { audit_id, sequence },
      isSealedSo ? notOurs : 'The entry was altered after it was written.',
    );
  }
  if (!isMacOf(keys, 'seal', sealText(link), link.seal))
    return broken({ audit_id, sequence }, 'The seal of the entry was altered.');
  if (!isSealedSo) return broken({ audit_id, sequence }, 'The entry was altered after it was sealed.');
  if (!link.previous_seal.equals(place.seal))
    return broken({ audit_id, sequence }, 'The seal does not follow the one before it.');
  return null;
}

export const notOurs =
  'The entry was not written by Lanyard: it was inserted into the database by hand, or altered before it was sealed.';

/** Whether one of our processes wrote the entry in this form. */
export const isOurs = (keys: AuditKeys, entry: SignedEntryRow) =>
  entry.mac !== null && isMacOf(keys, 'entry', textAsRead(entry), entry.mac);

/** The head is missing, has no mac, or its mac is not ours. */
export const altered = (sequence: number): Broken =>
  broken({ sequence }, 'The record of where the chain ends was altered.');

/** A problem at a place of the chain, if it has one. */
export const broken = (at: { audit_id?: string; sequence?: number }, problem: string): Broken => ({
  audit_id: null,
  sequence: null,
  ...at,
  problem,
});

/** Numbers of the chain whose entries are missing. */
export function removed(first: number, last: number): Broken {
  const what =
    first === last
      ? `Entry ${first} of the chain was removed from the database, together with the seal.`
      : `The entries ${first} to ${last} of the chain were removed from the database, together with the seals.`;
  return broken({ sequence: first }, what);
}
