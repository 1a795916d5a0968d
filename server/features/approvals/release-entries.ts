import { sql } from 'kysely';
import type { ChangeRequest } from '../../../contract/approvals.ts';
import type { Release } from '../../../contract/releases.ts';
import type { Db } from '../../db/client.ts';
import { entriesAbout, withoutName } from '../audit/index.ts';

/* What the audit log tells the user who decides about a release; anyone who may see the release may know it. */

const mostShown = 10;

/** What was done to a release after its version `seen`, the newest first; at most 10 changes. */
export async function changesSince(db: Db, releaseId: string, seen: Date): Promise<ChangeRequest['since']> {
  const rows = await entriesAbout(db, 'release', releaseId)
    .select(['timestamp', 'user_email', 'changes_summary'])
    .where(sql<boolean>`(after->>'updatedAt')::timestamptz > ${seen}`)
    .limit(mostShown)
    .execute();
  return rows.map((row) => ({
    at: row.timestamp.toISOString(),
    by: row.user_email ?? 'system',
    what: withoutName(row.changes_summary),
  }));
}

/** A release as it was when it was last in the feeds; undefined if it was not. */
export async function lastOut(
  db: Db,
  releaseId: string,
): Promise<Pick<Release, 'minimumAppVersion'> | undefined> {
  const left = await entriesAbout(db, 'release', releaseId)
    .select('before')
    .where(sql`before->>'isDraft'`, '=', 'false')
    .where(sql`before->>'isActive'`, '=', 'true')
    .where(sql`before->>'deletedAt'`, 'is', null)
    .limit(1)
    .executeTakeFirst();
  return left?.before as Release | undefined;
}

/** Who alone ended the last pause by the service, whatever came later, and its reason; undefined if two people did. */
export async function pauseEndedAlone(
  db: Db,
  releaseId: string,
): Promise<{ by: string; reason: string } | undefined> {
  const version = sql<string>`after->>'updatedAt'`;
  const paused = await entriesAbout(db, 'release', releaseId)
    .select([version.as('version'), sql<string | null>`after->>'pauseReason'`.as('reason')])
    .where('event_type', '=', 'release.rollout_paused')
    .where(sql`after->>'pausedBy'`, 'is', null)
    .limit(1)
    .executeTakeFirst();
  if (!paused) return undefined;
  const ended = await entriesAbout(db, 'release', releaseId)
    .clearOrderBy()
    .select(['user_email', 'changes_summary'])
    .where('event_type', '=', 'release.rollout_resumed')
    .where(version, '>', paused.version)
    .orderBy(version)
    .limit(1)
    .executeTakeFirst();
  if (!ended || ended.changes_summary.includes(' (requested by ')) return undefined;
  return { by: ended.user_email ?? 'system', reason: paused.reason ?? 'no reason given' };
}
