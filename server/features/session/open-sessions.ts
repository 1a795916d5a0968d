import type { OpenSession } from '../../../contract/users.ts';
import type { Db, Tx } from '../../db/client.ts';
import { announce } from '../../db/signals.ts';
import { hashToken } from './tokens.ts';

/** The sessions of a person that have not ended and were seen after `since`, the latest first. */
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

/** Ends every open session of a person, except one if named, and counts them; they are refused with their next call. */
export async function endSessionsOf(
  tx: Tx,
  { userId, reason, now, except }: { userId: string; reason: string; now: Date; except?: string },
): Promise<number> {
  const ended = await tx
    .updateTable('sessions')
    .set({ ended_at: now, end_reason: reason })
    .where('user_id', '=', userId)
    .where('ended_at', 'is', null)
    .$if(except !== undefined, (q) => q.where('session_id', '<>', except!))
    .executeTakeFirst();
  await announce(tx, 'sessions');
  return Number(ended.numUpdatedRows);
}

/** Ends the session that a browser had when somebody signs in there again, by its cookie, rotated or not. */
export async function endSessionBehind(tx: Tx, cookie: string, now: Date): Promise<void> {
  const hash = hashToken(cookie);
  const ended = await tx
    .updateTable('sessions')
    .set({ ended_at: now, end_reason: 'signed in again' })
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
  if (ended.numUpdatedRows > 0n) await announce(tx, 'sessions');
}

/** Ends one open session of a person. False when there is none of that id. */
export async function endOpenSession(
  tx: Tx,
  { userId, sessionId, reason, now }: { userId: string; sessionId: string; reason: string; now: Date },
): Promise<boolean> {
  const ended = await tx
    .updateTable('sessions')
    .set({ ended_at: now, end_reason: reason })
    .where('user_id', '=', userId)
    .where('session_id', '=', sessionId)
    .where('ended_at', 'is', null)
    .executeTakeFirst();
  await announce(tx, 'sessions');
  return ended.numUpdatedRows === 1n;
}
