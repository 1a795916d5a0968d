import type { OpenSession } from '../../../contract/users.ts';
import type { Change } from '../../change.ts';
import type { CheckedTime } from '../../checked-time.ts';
import type { Config } from '../../config.ts';
import type { Db } from '../../db/client.ts';
import { fail, type Failure } from '../../failure.ts';
import { hashToken } from './tokens.ts';

/** The open sessions of a user that were active after `since`, the latest first. */
export async function listOpenSessions(
  db: Db,
  { userId, currentId, since }: { userId: string; currentId: string | undefined; since: Date },
): Promise<OpenSession[]> {
  const rows = await db
    .selectFrom('sessions')
    .select(['session_id', 'ip_address', 'user_agent', 'created_at', 'last_seen_at'])
    .where('user_id', '=', userId)
    .where('ended_at', 'is', null)
    .where('last_seen_at', '>', since)
    .orderBy('last_seen_at', 'desc')
    .execute();
  return rows.map((row) => ({
    sessionId: row.session_id,
    current: row.session_id === currentId,
    ipAddress: row.ip_address,
    userAgent: row.user_agent,
    createdAt: row.created_at.toISOString(),
    lastSeenAt: row.last_seen_at.toISOString(),
  }));
}

/** Ends every open session of a user, except an optional one, and counts them; their next call is refused. */
export async function endSessionsOf(
  change: Change,
  { userId, reason, except }: { userId: string; reason: string; except?: string },
): Promise<number> {
  const ended = await change.tx
    .updateTable('sessions')
    .set({ ended_at: change.now, end_reason: reason })
    .where('user_id', '=', userId)
    .where('ended_at', 'is', null)
    .$call((q) => (except === undefined ? q : q.where('session_id', '<>', except)))
    .executeTakeFirst();
  await change.announce('sessions');
  return Number(ended.numUpdatedRows);
}

/** Ends the previous session of a browser at a new sign-in, by its cookie, rotated or not. */
export async function endSessionBehind(change: Change, cookie: string): Promise<void> {
  const hash = hashToken(cookie);
  const ended = await change.tx
    .updateTable('sessions')
    .set({ ended_at: change.now, end_reason: 'signed in again' })
    .where((eb) =>
      eb.or([
        eb('cookie_hash', '=', hash),
        eb(
          'session_id',
          '=',
          eb.selectFrom('rotated_cookies').select('session_id').where('cookie_hash', '=', hash),
        ),
      ]),
    )
    .where('ended_at', 'is', null)
    .executeTakeFirst();
  if (ended.numUpdatedRows > 0n) await change.announce('sessions');
}

/** Ends one open session of a user. NOT_FOUND when there is none with that id. */
export async function endOpenSession(
  change: Change,
  user: { id: string; email: string },
  { sessionId, reason }: { sessionId: string; reason: string },
): Promise<undefined | Failure> {
  const ended = await change.tx
    .updateTable('sessions')
    .set({ ended_at: change.now, end_reason: reason })
    .where('user_id', '=', user.id)
    .where('session_id', '=', sessionId)
    .where('ended_at', 'is', null)
    .executeTakeFirst();
  if (ended.numUpdatedRows === 0n) return fail('NOT_FOUND', 'There is no such open session.');
  await change.announce('sessions');
  await change.audit('session.ended', { sessionId, email: user.email });
  return undefined;
}

/** Removes sessions 30 days after the last time that they can have been open. */
export async function clearSessions(
  { tx }: Change,
  { now }: CheckedTime,
  { sessionMaxMs }: Pick<Config, 'sessionMaxMs'>,
): Promise<void> {
  const before = new Date(now.getTime() - sessionMaxMs - 30 * 24 * 3_600_000);
  await tx.deleteFrom('sessions').where('created_at', '<', before).execute();
}
