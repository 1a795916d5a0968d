import { sql, type Selectable } from 'kysely';
import { dayMs } from '../../../contract/durations.ts';
import { mayAskFor, type ChangeRequest } from '../../../contract/approvals.ts';
import type { Caller } from '../../caller.ts';
import type { Change } from '../../change.ts';
import { aheadOf, latestTime, type CheckedTime } from '../../checked-time.ts';
import type { Context } from '../../context.ts';
import { presentPermissions } from '../../db/sql.ts';
import type { Db, Tx } from '../../db/client.ts';
import type { Tables } from '../../db/tables.ts';
import { changesSince } from './release-entries.ts';

/** How long the list shows a request. */
const shownMs = 7 * dayMs;
const mostShown = 200;
/** How far the clocks of two processes may differ. */
const skewMs = 60_000;

export type RequestRow = Selectable<Tables['change_requests']>;

/** The state at that time. A request from the future, made while a clock was ahead, does not count either. */
export function stateOf(row: RequestRow, at: Date): ChangeRequest['state'] {
  if (row.state !== 'open') return row.state;
  const isFromFuture = row.requested_at.getTime() > at.getTime() + skewMs;
  return isFromFuture || row.expires_at <= at ? 'expired' : 'open';
}

/** Ends requests made while a clock was ahead: they would be open again once that time comes. */
export async function endRequestsAhead({ tx }: Change, time: CheckedTime): Promise<void> {
  await tx
    .updateTable('change_requests')
    .set({ requested_at: time.now, expires_at: time.now })
    .where('requested_at', '>', aheadOf(time))
    .execute();
}

/** Requests that are open or were made in the last 7 days, the newest first; `waiting`: those that the caller may approve. */
export async function listRequests(
  context: Pick<Context, 'db' | 'config'>,
  { actor, now }: Caller,
  { waiting = false }: { waiting?: boolean | undefined } = {},
): Promise<ChangeRequest[]> {
  const all = await recentRequests(context, now);
  if (!waiting) return Promise.all(all.map((one) => withChangesSince(context.db, one)));
  if (actor.kind !== 'staff') return [];
  return all
    .map(({ request }) => request)
    .filter(
      ({ state, isOutdated, requesterMay, requestedById, call }) =>
        state === 'open' &&
        !isOutdated &&
        requesterMay &&
        requestedById !== actor.userId &&
        mayAskFor(call, actor.permissions),
    );
}

type Found = { row: RequestRow; request: ChangeRequest };

async function withChangesSince(db: Db, { row, request }: Found): Promise<ChangeRequest> {
  if (request.state !== 'open' || !request.isOutdated) return request;
  return { ...request, since: await changesSince(db, row.subject_id, row.seen) };
}

async function recentRequests({ db, config }: Pick<Context, 'db' | 'config'>, now: Date): Promise<Found[]> {
  const at = await latestTime(db, now);
  const rows = await db
    .selectFrom('change_requests as q')
    .leftJoin('releases as r', (join) =>
      join.on(sql<string>`r.release_id::text`, '=', (eb) => eb.ref('q.subject_id')),
    )
    .leftJoin('channel_approvals as c', (join) =>
      join.on(sql<string>`c.channel`, '=', (eb) => eb.ref('q.subject_id')),
    )
    .leftJoin('users as u', (join) =>
      join.onRef('u.user_id', '=', 'q.requested_by').on('u.status', '=', 'active'),
    )
    .selectAll('q')
    .select(presentPermissions(config))
    .select(sql<Date | null>`coalesce(r.updated_at, c.updated_at)`.as('version'))
    .where('q.requested_at', '>', new Date(at.getTime() - shownMs))
    // none that waits is left out for those that were decided
    .orderBy(sql`q.state = 'open' and q.expires_at > ${at}`, 'desc')
    .orderBy('q.requested_at', 'desc')
    .orderBy('q.request_id', 'desc')
    .limit(mostShown)
    .execute();
  const newestFirst = rows.toSorted((a, b) => b.requested_at.getTime() - a.requested_at.getTime());
  return newestFirst.map(({ version, permissions, ...row }) => ({
    row,
    request: { ...toRequest(row, version, at), requesterMay: mayAskFor(row.call, permissions) },
  }));
}

/** The version of what a request is about, locked; undefined if it does not exist. */
export async function lockVersion(tx: Tx, subjectId: string): Promise<Date | undefined> {
  const channel = await tx
    .selectFrom('channel_approvals')
    .select('updated_at')
    .where(sql<string>`channel`, '=', subjectId)
    .forUpdate()
    .executeTakeFirst();
  if (channel) return channel.updated_at;
  const release = await tx
    .selectFrom('releases')
    .select('updated_at')
    .where('release_id', '=', subjectId)
    .forUpdate()
    .executeTakeFirst();
  return release?.updated_at;
}

/** A row in the format of the contract; `version`: that of its subject now. */
export const toRequest = (row: RequestRow, version: Date | null | undefined, at: Date): ChangeRequest => ({
  id: row.request_id,
  call: row.call,
  subject: row.subject,
  releaseId: (row.params as { releaseId?: string }).releaseId ?? null,
  what: row.what,
  changes: row.changes as ChangeRequest['changes'],
  state: stateOf(row, at),
  isOutdated: row.state === 'open' && version?.getTime() !== row.seen.getTime(),
  requesterMay: true,
  since: [],
  requestedBy: row.requested_by_email,
  requestedById: row.requested_by,
  requestedAt: row.requested_at.toISOString(),
  expiresAt: row.expires_at.toISOString(),
  decidedBy: row.decided_by_email,
  decidedAt: row.decided_at?.toISOString() ?? null,
  reason: row.reason,
});
