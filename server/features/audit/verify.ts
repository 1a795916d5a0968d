import type { Selectable } from 'kysely';
import { sql } from 'kysely';
import type { AuditVerification } from '../../../contract/audit.ts';
import type { Db, Tx } from '../../db/client.ts';
import type { Tables } from '../../db/tables.ts';
import { anchorText, headText } from './chain.ts';
import { isMacOf, isSignedBy, type AuditKeys } from './keys.ts';
import {
  beginningOf,
  broken,
  checkLink,
  isOurs,
  linksAtOnce,
  notOurs,
  readLinks,
  removed,
  type Broken,
  type Place,
} from './links.ts';

type Anchor = Selectable<Tables['audit_anchors']>;
type Head = Selectable<Tables['audit_head']>;
type Found = { checkedEntries: number; broken: Broken | null };

/**
 * Checks every entry against its mac and every seal against the one before, from the last anchor to the end, and
 * names the first that does not hold. Reads in batches, in one snapshot: neither the sealer nor a clean-up that
 * works meanwhile can look like a break.
 */
export async function verifyChain(db: Db, keys: AuditKeys): Promise<AuditVerification> {
  const from = performance.now();
  return db
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(async (tx) => {
      await sql`set local statement_timeout = 0`.execute(tx);
      const anchors = await tx.selectFrom('audit_anchors').selectAll().orderBy('sequence').execute();
      const found = await checkAll(tx, keys, anchors);
      const { waiting } = await tx
        .selectFrom('audit_pending')
        .select((eb) => eb.fn.countAll<number>().as('waiting'))
        .executeTakeFirstOrThrow();
      return {
        whole: found.broken === null,
        checkedEntries: found.checkedEntries,
        unsealedEntries: waiting,
        anchors: anchors.length,
        broken: found.broken,
        durationMs: Math.round(performance.now() - from),
      };
    });
}

async function checkAll(tx: Tx, keys: AuditKeys, anchors: Anchor[]): Promise<Found> {
  const head = await tx.selectFrom('audit_head').selectAll().executeTakeFirst();
  const badAnchor = anchors.map((anchor) => checkAnchor(keys, anchor)).find((problem) => problem !== null);
  if (badAnchor) return { checkedEntries: 0, broken: badAnchor };
  const sealed = await checkSealed(tx, keys, head);
  if (sealed.broken) return sealed;
  return { ...sealed, broken: await checkUnsealed(tx, keys) };
}

function checkAnchor(keys: AuditKeys, anchor: Anchor): Broken | null {
  if (isSignedBy(keys, anchor.key_id, anchorText(anchor), anchor.signature)) return null;
  const day = anchor.made_at.toISOString().slice(0, 10);
  return broken(
    null,
    anchor.sequence,
    `The anchor of the clean-up of ${day} is not signed by this installation.`,
  );
}

async function checkSealed(tx: Tx, keys: AuditKeys, head: Head | undefined): Promise<Found> {
  const start = await beginningOf(tx);
  let place: Place = start;
  for (let checkedEntries = 0; ;) {
    const links = await readLinks(tx, place.sequence);
    for (const link of links) {
      const problem = checkLink(keys, place, link, start.unsignedUntil);
      if (problem) return { checkedEntries, broken: problem };
      checkedEntries += 1;
      place = link;
    }
    if (links.length < linksAtOnce) return { checkedEntries, broken: checkHead(keys, place, head) };
  }
}

/** The chain may neither end before the place that the last sealer noted, nor go on behind it. */
function checkHead(keys: AuditKeys, last: Place, head: Head | undefined): Broken | null {
  const altered = broken(null, last.sequence, 'The record of where the chain ends was altered.');
  if (!head) return altered;
  if (head.mac === null) return last.sequence === 0 && head.sequence === 0 ? null : altered;
  if (!isMacOf(keys, 'seal', headText(head), head.mac)) return altered;
  if (head.sequence > last.sequence) return removed(last.sequence + 1, head.sequence);
  return head.sequence === last.sequence && head.seal.equals(last.seal) ? null : altered;
}

/** Entries that no seal holds yet, and what was to be sealed but is gone. */
async function checkUnsealed(tx: Tx, keys: AuditKeys): Promise<Broken | null> {
  const gone = await tx
    .selectFrom('audit_pending as p')
    .leftJoin('audit_entries as e', 'e.audit_id', 'p.audit_id')
    .select('p.audit_id')
    .where('e.audit_id', 'is', null)
    .orderBy('p.position')
    .limit(1)
    .executeTakeFirst();
  if (gone)
    return broken(gone.audit_id, null, 'The entry was removed from the database before it was sealed.');
  const unsigned = await tx.selectFrom('audit_head').select(['mac', 'unsigned_until']).executeTakeFirst();
  const entries = tx
    .selectFrom('audit_entries as e')
    .leftJoin('audit_pending as p', 'p.audit_id', 'e.audit_id')
    .selectAll('e')
    .select('p.position')
    .where(sql<boolean>`not exists (select from audit_seals s where s.audit_id = e.audit_id)`)
    .stream(linksAtOnce);
  for await (const { position, ...entry } of entries) {
    const mayLackMac =
      unsigned?.mac === null &&
      position !== null &&
      position <= unsigned.unsigned_until &&
      entry.mac === null;
    if (!isOurs(keys, entry) && !mayLackMac) return broken(entry.audit_id, null, notOurs);
    if (position === null)
      return broken(
        entry.audit_id,
        null,
        'The entry was cut out of the chain: it has no seal and awaits none.',
      );
  }
  return null;
}
