import type { Selectable } from 'kysely';
import { sql } from 'kysely';
import { utcDay } from '../../../contract/durations.ts';
import type { AuditVerification } from '../../../contract/audit.ts';
import type { Db } from '../../db/client.ts';
import { countOf } from '../../db/sql.ts';
import { readOnly } from '../../db/read-only.ts';
import type { Tables } from '../../db/tables.ts';
import { anchorText, isOurHead } from './chain.ts';
import { checkEnd, readEnd } from './end.ts';
import type { KeptHead } from './kept-heads.ts';
import { isSignedByUs, type AuditKeys } from './keys.ts';
import {
  acceptedGaps,
  altered,
  beginningOf,
  broken,
  checkLink,
  isOurs,
  linksAfter,
  linksAtOnce,
  notOurs,
  type Broken,
  type Excused,
  type Gap,
  type Place,
} from './links.ts';

type Anchor = Selectable<Tables['audit_anchors']>;

/**
 * Checks the mac of every entry and the link of every seal, from the last anchor to the end, and reports the first
 * failure. Reads in batches within one snapshot, so that concurrent sealing or cleanup cannot look like a break.
 * `kept`: the heads stored outside of the database, read before.
 */
export async function verifyChain(
  db: Db,
  keys: AuditKeys,
  kept: KeptHead[] = [],
): Promise<AuditVerification> {
  const from = performance.now();
  return inSnapshot(db, async (tx) => {
    const anchors = await readAnchors(tx);
    const gaps = await acceptedGaps(tx, keys);
    const found = await checkAll(tx, keys, anchors, { kept, gaps });
    const unsealedEntries = await countOf(tx.selectFrom('audit_pending'));
    return {
      whole: found.broken === null,
      checkedEntries: found.checked,
      unsealedEntries,
      anchors: anchors.length,
      acceptedGaps: gaps.length,
      broken: found.broken,
      durationMs: Math.round(performance.now() - from),
    };
  });
}

/** Hides concurrent sealing and cleanup. */
const inSnapshot = <T>(db: Db, work: (tx: Db) => Promise<T>): Promise<T> =>
  readOnly(db, async (tx) => {
    await sql`set local statement_timeout = 0`.execute(tx);
    return work(tx);
  });

/**
 * Finds a table of which two queries may read different rows: through a row policy, a rule, inheritance, or two rows with
 * one key. The key is the first column of each table.
 */
async function checkTables(tx: Db): Promise<Broken | null> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class as c
    where oid in ('audit_entries'::regclass, 'audit_seals'::regclass, 'audit_pending'::regclass,
        'audit_head'::regclass, 'audit_anchors'::regclass)
      and (relkind <> 'r' or relrowsecurity or relforcerowsecurity
        -- relhasrules and relhassubclass stay set after the last one is gone
        or exists (select from pg_rewrite where ev_class = c.oid)
        or exists (select from pg_inherits where inhparent = c.oid)
        or not exists (select from pg_index
          where indrelid = c.oid and indisprimary and indisvalid and indkey::text = '1'))
    order by 1 limit 1`.execute(tx);
  const [table] = rows;
  return table
    ? broken({}, `The table ${table.name} was altered: not every query reads the same rows from it.`)
    : null;
}

const readAnchors = (tx: Db) => tx.selectFrom('audit_anchors').selectAll().orderBy('sequence').execute();

const checkAnchors = (keys: AuditKeys, anchors: Anchor[]): Broken | null =>
  anchors.map((anchor) => checkAnchor(keys, anchor)).find((problem) => problem !== null) ?? null;

async function checkAll(
  tx: Db,
  keys: AuditKeys,
  anchors: Anchor[],
  outside: { kept: KeptHead[]; gaps: Gap[] },
): Promise<Pick<Section, 'checked' | 'broken'>> {
  const unread = (await checkTables(tx)) ?? checkAnchors(keys, anchors);
  if (unread) return { checked: 0, broken: unread };
  const { head, last } = await readEnd(tx);
  // Without the head, it is unknown which entries may lack a mac.
  if (!head || !isOurHead(keys, head)) return { checked: 0, broken: altered(last.sequence) };
  const { unsignedUntil, ...start } = await beginningOf(tx, keys);
  const sealed = await checkLinks(tx, keys, start, { unsignedUntil, gaps: outside.gaps });
  const problem =
    sealed.broken ??
    (await checkEnd(tx, keys, await readEnd(tx), outside)) ??
    (await checkUnsealed(tx, keys));
  return { ...sealed, broken: problem };
}

function checkAnchor(keys: AuditKeys, anchor: Anchor): Broken | null {
  // The owner of the table can drop its constraints.
  if (Object.values<unknown>(anchor).includes(null))
    return broken({ sequence: anchor.sequence }, 'The anchor of a cleanup was altered.');
  if (isSignedByUs(keys, anchor.key_id, anchorText(anchor), anchor.signature)) return null;
  const day = utcDay(anchor.made_at);
  return broken(
    { sequence: anchor.sequence },
    `The anchor of the cleanup of ${day} is not signed by this installation.`,
  );
}

/** `checked`: how many links are valid. `next`: where to continue; undefined at the end, and after a problem. */
type Section = { checked: number; broken: Broken | null; next: Place | undefined };

/** Checks the links after `from`, up to `most` or the first problem. */
async function checkLinks(
  tx: Db,
  keys: AuditKeys,
  from: Place,
  excused: Excused,
  most = Infinity,
): Promise<Section> {
  let checked = 0;
  for await (const { place, link } of linksAfter(tx, from)) {
    if (checked === most) return { checked, broken: null, next: place };
    const problem = checkLink(keys, place, link, excused);
    if (problem) return { checked, broken: problem, next: undefined };
    checked++;
  }
  return { checked, broken: null, next: undefined };
}

/**
 * Checks one section of the chain, of `most` links: from `from`, or from the start. After the last section, anchors and unsealed entries
 * are checked as well.
 */
export function checkSection(
  db: Db,
  keys: AuditKeys,
  from: Place | undefined,
  most: number,
): Promise<Section> {
  return inSnapshot(db, async (tx) => {
    const { unsignedUntil, ...start } = await beginningOf(tx, keys);
    const excused = { unsignedUntil, gaps: await acceptedGaps(tx, keys) };
    const isInChain = from && from.sequence > start.sequence;
    const section = await checkLinks(tx, keys, isInChain ? from : start, excused, most);
    if (section.broken || section.next) return section;
    const problem =
      (await checkTables(tx)) ?? checkAnchors(keys, await readAnchors(tx)) ?? (await checkUnsealed(tx, keys));
    return { ...section, broken: problem };
  });
}

/**
 * Checks entries without a seal in the chain, and finds those that disappeared before they were sealed. A seal numbered
 * before the start of the chain does not count.
 */
async function checkUnsealed(tx: Db, keys: AuditKeys): Promise<Broken | null> {
  const gone = await tx
    .selectFrom('audit_pending as p')
    .leftJoin('audit_entries as e', 'e.audit_id', 'p.audit_id')
    .select('p.audit_id')
    .where('e.audit_id', 'is', null)
    .orderBy('p.position')
    .limit(1)
    .executeTakeFirst();
  if (gone) return broken(gone, 'The entry was removed from the database before it was sealed.');
  const { unsignedUntil, keptAfter } = await beginningOf(tx, keys);
  const { last } = await readEnd(tx);
  const entries = tx
    .selectFrom('audit_entries as e')
    .leftJoin('audit_pending as p', 'p.audit_id', 'e.audit_id')
    .selectAll('e')
    .select('p.position')
    .where(
      sql<boolean>`not exists (select from audit_seals s where s.audit_id = e.audit_id and s.sequence > ${keptAfter})`,
    )
    .stream(linksAtOnce);
  for await (const { position, ...entry } of entries) {
    // Before the first seal, positions equal the numbers that the entries will get.
    const mayLackMac =
      last.sequence === 0 && position !== null && position <= unsignedUntil && entry.mac === null;
    if (!isOurs(keys, entry) && !mayLackMac) return broken({ audit_id: entry.audit_id }, notOurs);
    if (position === null)
      return broken(
        { audit_id: entry.audit_id },
        'The entry was cut out of the chain: it has no seal and awaits none.',
      );
  }
  return null;
}
