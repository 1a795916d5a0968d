import { sql } from 'kysely';
import { counted } from '../../../contract/text.ts';
import { daysFrom } from '../../../contract/durations.ts';
import { shortestRetentionDays, type audit as calls } from '../../../contract/audit.ts';
import type { RouteAnswer } from '../../../contract/route.ts';
import type { Change } from '../../change.ts';
import type { Db, Tx } from '../../db/client.ts';
import { locks, waitForLock } from '../../db/locks.ts';
import { editConflict } from '../../edit-record.ts';
import { fail, type Failure } from '../../failure.ts';
import { checkClock, isJump, jumpSentence, type CheckedTime } from '../../checked-time.ts';
import { closeSwitch, openSwitch } from './begin.ts';
import { anchorText, type Anchor } from './chain.ts';
import { checkEnd, readEnd, readRetention } from './end.ts';
import type { KeptHead } from './kept-heads.ts';
import type { AuditKeys } from './keys.ts';
import { acceptedGaps, beginningOf, checkLink, readLinks, type Place } from './links.ts';
import { retentionChanged } from './sealer.ts';
import { onlyRow } from '../../invariants.ts';

type Config = RouteAnswer<typeof calls.config>;
type Cleaned = RouteAnswer<typeof calls.cleanup>;

/** How long entries are kept. */
export async function retentionOf(db: Db): Promise<Config> {
  const { retention_days } = await readRetention(db);
  return { retentionDays: retention_days, shortestRetentionDays };
}

/** Changes how long entries are kept, from the next cleanup on. `seen`: the value that the user loaded. */
export async function setRetention(
  { tx, audit }: Change,
  { value: retentionDays, seen }: { value: number; seen?: number | undefined },
): Promise<Config | Failure> {
  await tx.selectFrom('audit_settings').select('only_row').forUpdate().execute();
  const stored = await retentionOf(tx);
  const current = stored.retentionDays;
  if (seen !== undefined && seen !== current && retentionDays !== current)
    return editConflict('setting', [{ path: 'value', current, yours: retentionDays }]);
  const before = (await lastSetRetention(tx)) ?? current;
  if (before === retentionDays && current === retentionDays) return stored;
  await tx.updateTable('audit_settings').set({ retention_days: retentionDays }).execute();
  await audit(retentionChanged, null, {
    before: { retentionDays: before },
    after: { retentionDays },
  });
  return { ...stored, retentionDays };
}

/** The retention that was last set in Lanyard, whatever was written into the database since. */
async function lastSetRetention(tx: Tx): Promise<number | null> {
  const { rows } = await sql<{ days: number | null }>`
    select coalesce(
      (select (e.after->>'retentionDays')::int from audit_pending p join audit_entries e using (audit_id)
        where e.event_type = ${retentionChanged} order by p.position desc limit 1),
      (select retention_days from audit_head)) as days`.execute(tx);
  return onlyRow({ rows }).days;
}

/**
 * Removes the start of the chain: sealed entries older than the retention, up to the first that is not. A signed anchor
 * replaces them, so that the rest still verifies. Entries that do not verify are evidence and are kept: if the chain is
 * broken there or at its end, the result is WRONG_STATE, as where the retention is another than the user has `seen`, in
 * days. A scheduled cleanup that removes nothing writes no entry.
 */
export async function cleanUp(
  { tx, by, audit }: Change,
  { now }: CheckedTime,
  keys: AuditKeys,
  kept: KeptHead[],
  seen?: number,
): Promise<Cleaned | Failure> {
  await waitForLock(tx, locks.auditCleanup);
  const { retentionDays } = await retentionOf(tx);
  if (seen !== undefined && seen !== retentionDays)
    return fail(
      'WRONG_STATE',
      `Nothing was removed. Entries are kept for ${retentionDays} days now, not ${seen}.`,
    );
  const refusal = await whyNotNow(tx, keys, kept, retentionDays);
  if (refusal) return fail('WRONG_STATE', `Nothing was removed. ${refusal}`);
  const before = daysFrom(now, -retentionDays);
  const { removed, last, broken } = await removeOldest(tx, keys, before);
  await closeSwitch(tx);
  if (broken) {
    return fail(
      'WRONG_STATE',
      `The chain is broken among the entries to be removed, so nothing was removed. ${broken.problem}`,
    );
  }
  if (last) await writeAnchor(tx, keys, { ...last, removed, before, made_at: now });
  // entries as old may stay, behind one that a clock ahead has dated: so do the figures of their days
  if (removed > 0)
    await tx
      .deleteFrom('audit_days')
      .where(
        'day',
        '<',
        sql<Date>`(least(${before}::timestamptz, (select min(timestamp) from audit_entries)) at time zone 'utc')::date`,
      )
      .execute();
  if (removed > 0 || by.actor.kind !== 'system') {
    await audit('audit.cleaned_up', null, {
      what: `removed ${counted(removed, 'entry', 'entries')} from before ${before.toISOString()}`,
      after: { removed, before, retentionDays, lastSequence: last?.sequence ?? null },
    });
  }
  return { removed, before: before.toISOString() };
}

/** The same when a user asks for it: WRONG_STATE too if the clock cannot be trusted. */
export async function cleanUpNow(
  change: Change,
  keys: AuditKeys,
  kept: KeptHead[],
  seen: number | undefined,
): Promise<Cleaned | Failure> {
  const time = await checkClock(change.tx, change.now);
  return isJump(time) ? fail('WRONG_STATE', jumpSentence(time)) : cleanUp(change, time, keys, kept, seen);
}

/**
 * The sealed entries that a cleanup would remove at present: those before a restart of the chain with the first one
 * behind it.
 */
export async function impactOfCleanUp(
  db: Db,
  now: Date,
  days?: number,
): Promise<RouteAnswer<typeof calls.cleanupImpact>> {
  const retentionDays = days ?? (await retentionOf(db)).retentionDays;
  const before = daysFrom(now, -retentionDays);
  const { rows } = await sql<{ entries: number; oldest: Date | null; newest: Date | null }>`
    with start as (select coalesce(max(sequence), 0) as anchor from audit_anchors),
    young as (
      select sequence from start, audit_seals join audit_entries using (audit_id)
      where sequence > anchor and timestamp >= ${before} order by sequence limit 1
    ),
    last as (
      select max(sequence) as sequence from start, audit_seals
      where sequence > anchor and sequence < coalesce((select sequence from young), ${Number.MAX_SAFE_INTEGER})
    )
    select count(*) as entries, min(timestamp) as oldest, max(timestamp) as newest
    from audit_seals join audit_entries using (audit_id)
    where sequence <= (select sequence from last)
  `.execute(db);
  const { entries, oldest, newest } = onlyRow({ rows });
  return { entries, oldest: oldest?.toISOString() ?? null, newest: newest?.toISOString() ?? null };
}

/** The data of an end that is not ours cannot be trusted, including the retention. */
async function whyNotNow(
  tx: Tx,
  keys: AuditKeys,
  kept: KeptHead[],
  retentionDays: number,
): Promise<string | undefined> {
  const end = await readEnd(tx);
  const problem = await checkEnd(tx, keys, end, { kept, gaps: await acceptedGaps(tx, keys) });
  if (problem) return problem.problem;
  if (end.head?.retention_days !== retentionDays)
    return 'The retention in the database is not the one that was set in Lanyard; set it again.';
  if (!(await openSwitch(tx, keys)))
    return 'The retention switch of the database was not made by this installation.';
  return undefined;
}

async function removeOldest(tx: Tx, keys: AuditKeys, before: Date) {
  const { unsignedUntil, keptAfter, ...start } = await beginningOf(tx, keys);
  const excused = { unsignedUntil, gaps: await acceptedGaps(tx, keys) };
  let place: Place = start;
  let removed = 0;
  for (;;) {
    const links = await readLinks(tx, place.sequence);
    const young = links.findIndex(({ entry }) => entry !== null && entry.timestamp >= before);
    const old = young < 0 ? links : links.slice(0, young);
    for (const link of old) {
      const broken = checkLink(keys, place, link, excused);
      if (broken) return { removed: 0, broken };
      place = link;
    }
    if (old.length > 0) removed += await removeBetween(tx, keptAfter, place.sequence);
    if (young >= 0 || links.length === 0) break;
  }
  return { removed, last: removed > 0 ? place : undefined };
}

/** Removes the entries with these numbers, and how many; also those that stayed when the chain was restarted. */
async function removeBetween(tx: Tx, after: number, until: number): Promise<number> {
  // before a restart there may be millions
  await sql`set local statement_timeout = 0`.execute(tx);
  const seals = tx.selectFrom('audit_seals').where('sequence', '>', after).where('sequence', '<=', until);
  const { numDeletedRows } = await tx
    .deleteFrom('audit_entries')
    .where('audit_id', 'in', seals.select('audit_id'))
    .executeTakeFirstOrThrow();
  await tx.deleteFrom('audit_seals').where('sequence', '<=', until).execute();
  return Number(numDeletedRows);
}

/** Signs the new start of the chain. */
export async function writeAnchor(tx: Tx, keys: AuditKeys, what: Omit<Anchor, 'key_id'>): Promise<void> {
  const { signer } = keys.current;
  const { sequence, seal, removed, before, made_at } = what;
  const anchor = { sequence, seal, removed, before, made_at, key_id: signer.keyId };
  await tx
    .insertInto('audit_anchors')
    .values({ ...anchor, signature: signer.sign(anchorText(anchor)) })
    .execute();
}
