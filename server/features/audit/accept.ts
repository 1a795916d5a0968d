import { sql } from 'kysely';
import { systemChange, type ChangeParts } from '../../change.ts';
import type { Tx } from '../../db/client.ts';
import { locks, waitForLock } from '../../db/locks.ts';
import { fail, type Failure } from '../../failure.ts';
import { checkEnd, readEnd, readRetention, resumeFrom } from './end.ts';
import { highestSequence, keepHead, readKept, type HeadPlace } from './kept-heads.ts';
import type { AuditKeys } from './keys.ts';
import {
  acceptedGaps,
  beginningOf,
  checkLink,
  gapAccepted,
  gapAt,
  linksAfter,
  type Broken,
  type Gap,
} from './links.ts';
import { sealAfter } from './sealer.ts';

/**
 * Accepts missing entries, for example after a backup was restored. The entry that records this, with the reason, is
 * the next in the chain and makes it verify again; the stored heads advance to it. Returns the summary of that entry,
 * and sentences about the places that did not take the head. WRONG_STATE if nothing is missing, or if an entry was altered or forged, which cannot be accepted.
 */
export async function acceptGaps(
  parts: ChangeParts,
  keys: AuditKeys,
  places: HeadPlace[],
  { reason, now }: { reason: string; now: Date },
): Promise<{ summary: string; notKept: string[] } | Failure> {
  const kept = await readKept(places);
  const done = await systemChange(parts, now, async ({ tx, audit }) => {
    await sql`set local statement_timeout = 0`.execute(tx);
    await waitForLock(tx, locks.auditSealer);
    const known = await acceptedGaps(tx, keys);
    const end = await readEnd(tx);
    const problem = await checkEnd(tx, keys, end, { kept, gaps: known });
    const { gaps, broken } = await findGaps(tx, keys, known);
    if (broken) return fail('WRONG_STATE', `This cannot be accepted: ${broken.problem}`);
    if (!problem && gaps.length === 0) return fail('WRONG_STATE', 'Nothing is missing from the chain.');
    const { head, gap } = resumeFrom(keys, end, highestSequence(kept));
    if (gap) gaps.push(gap);
    const what = `accepted that entries are missing (${gaps.map(described).join(', ') || 'none'}): ${reason}`;
    const { retention_days } = await readRetention(tx);
    const audit_id = await audit(gapAccepted, null, {
      what,
      after: { reason, gaps, problem: problem?.problem ?? null, retentionDays: retention_days },
    });
    const entry = await tx
      .selectFrom('audit_entries')
      .selectAll()
      .where('audit_id', '=', audit_id)
      .executeTakeFirstOrThrow();
    const next = await sealAfter(tx, keys, { ...head, retention_days }, [entry], now);
    return { summary: entry.changes_summary, next };
  });
  if ('failure' in done) return done;
  return { summary: done.summary, notKept: await keepHead(places, done.next, now) };
}

const described = ({ after, until }: Gap) =>
  after + 1 === until ? `number ${until}` : `numbers ${after + 1} to ${until}`;

/** Checks the whole chain; stops at any problem other than missing entries. */
async function findGaps(
  tx: Tx,
  keys: AuditKeys,
  known: Gap[],
): Promise<{ gaps: Gap[]; broken: Broken | null }> {
  const { unsignedUntil, ...start } = await beginningOf(tx, keys);
  const gaps: Gap[] = [];
  for await (const { place, link } of linksAfter(tx, start)) {
    const gap = gapAt(place, link.sequence - 1);
    const isKnown = known.some((one) => one.after === gap.after && one.seal === gap.seal);
    if (link.sequence !== place.sequence + 1 && !isKnown) gaps.push(gap);
    const broken = checkLink(keys, place, link, { unsignedUntil, gaps: [...known, ...gaps] });
    if (broken) return { gaps, broken };
  }
  return { gaps, broken: null };
}
