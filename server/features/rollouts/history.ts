import { historyLength, type rollouts as calls } from '../../../contract/rollouts.ts';
import type { RouteAnswer } from '../../../contract/route.ts';
import type { Db } from '../../db/client.ts';
import { isFailure, type Failure } from '../../failure.ts';
import { entriesAbout, withoutName } from '../audit/index.ts';
import { getRelease } from '../releases/index.ts';

/**
 * What was done to a release, by whom, the newest first. Who may read a release may know this, without the audit log,
 * whose values before and after and addresses it leaves out.
 */
export async function releaseHistory(
  db: Db,
  releaseId: string,
): Promise<NonNullable<RouteAnswer<typeof calls.history>> | Failure> {
  const release = await getRelease(db, releaseId);
  if (isFailure(release)) return release;
  const rows = await entriesAbout(db, 'release', releaseId)
    .select(['audit_id', 'timestamp', 'user_email', 'event_type', 'changes_summary'])
    .limit(historyLength)
    .execute();
  return rows.map((row) => ({
    id: row.audit_id,
    at: row.timestamp.toISOString(),
    by: row.user_email ?? 'system',
    event: row.event_type,
    what: withoutName(row.changes_summary),
  }));
}
