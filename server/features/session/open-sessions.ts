import { sql, type RawBuilder, type SqlBool } from 'kysely';
import { dayMs } from '../../../contract/durations.ts';
import type { OpenSession } from '../../../contract/users.ts';
import type { Change } from '../../change.ts';
import { aheadOf, clearBefore, type CheckedTime } from '../../checked-time.ts';
import type { Config } from '../../config.ts';
import type { Db } from '../../db/client.ts';
import { fail, type Failure } from '../../failure.ts';

/** The condition for a session `s` that still counts: it was not ended, nor by its idle or total time. */
export const isOpen = (
  { sessionIdleMs, sessionMaxMs }: Pick<Config, 'sessionIdleMs' | 'sessionMaxMs'>,
  now: Date,
): RawBuilder<SqlBool> => {
  const before = (ms: number) => new Date(now.getTime() - ms);
  return sql`(s.ended_at is null and s.last_seen_at > ${before(sessionIdleMs)}
    and s.created_at > ${before(sessionMaxMs)})`;
};

/** The open sessions of a user, the latest first. */
export async function listOpenSessions(
  db: Db,
  { userId, currentId, open }: { userId: string; currentId: string | undefined; open: RawBuilder<SqlBool> },
): Promise<OpenSession[]> {
  const rows = await db
    .selectFrom('sessions as s')
    .select(['session_id', 'ip_address', 'user_agent', 'created_at', 'last_seen_at'])
    .where('user_id', '=', userId)
    .where(open)
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

/** Ends the open sessions `s` that match, and counts them; their next call is refused. */
export async function endSessions(
  { tx, now, announce }: Change,
  matching: RawBuilder<SqlBool>,
  reason: string,
): Promise<number> {
  const { numUpdatedRows } = await tx
    .updateTable('sessions as s')
    .set({ ended_at: now, end_reason: reason })
    .where('s.ended_at', 'is', null)
    .where(matching)
    .executeTakeFirst();
  if (numUpdatedRows > 0n) await announce('sessions');
  return Number(numUpdatedRows);
}

/**
 * Ends sessions that began while a clock was ahead: they are refused until then, but would be open again once that time
 * comes. Those that were only used then go on; what would keep them open longer is set to now.
 */
export async function endSessionsAhead({ tx, announce }: Change, time: CheckedTime): Promise<void> {
  const [now, ahead] = [sql`${time.now}::timestamptz`, sql`${aheadOf(time)}::timestamptz`];
  const inTime = (column: string) => {
    const at = sql.ref(column);
    return sql<Date>`case when ${at} > ${ahead} then ${now} else ${at} end`;
  };
  const began = sql`created_at > ${ahead}`;
  const { numUpdatedRows } = await tx
    .updateTable('sessions')
    .set({
      created_at: inTime('created_at'),
      last_seen_at: inTime('last_seen_at'),
      access_expires_at: inTime('access_expires_at'),
      ended_at: sql`case when ${began} then ${now} else ${inTime('ended_at')} end`,
      end_reason: sql`case when ${began} then coalesce(end_reason, 'the clock was ahead') else end_reason end`,
    })
    .where(sql<boolean>`greatest(created_at, last_seen_at, access_expires_at, ended_at) > ${ahead}`)
    .executeTakeFirst();
  // a cookie that was replaced then would open its session until that time
  await tx
    .deleteFrom('rotated_cookies')
    .where(sql<boolean>`rotated_at > ${ahead}`)
    .execute();
  if (numUpdatedRows > 0n) await announce('sessions');
}

/** Ends every open session of a user, except an optional one, and counts them. */
export const endSessionsOf = (
  change: Change,
  { userId, reason, except = null }: { userId: string; reason: string; except?: string | null },
): Promise<number> =>
  endSessions(change, sql`s.user_id = ${userId} and s.session_id is distinct from ${except}::uuid`, reason);

/** Ends one open session of a user. NOT_FOUND when there is none with that id. */
export async function endOpenSession(
  change: Change,
  user: { id: string; email: string },
  { sessionId, reason }: { sessionId: string; reason: string },
): Promise<undefined | Failure> {
  const ended = await endSessions(
    change,
    sql`s.user_id = ${user.id} and s.session_id = ${sessionId}`,
    reason,
  );
  if (ended === 0) return fail('NOT_FOUND', 'There is no such open session.');
  await change.audit('session.ended', { sessionId, email: user.email });
  return undefined;
}

/** Removes sessions 30 days after the last time that they can have been open. */
export const clearSessions = (
  change: Change,
  time: CheckedTime,
  { sessionMaxMs }: Pick<Config, 'sessionMaxMs'>,
): Promise<number> => clearBefore('sessions', 'created_at', sessionMaxMs + 30 * dayMs)(change, time);
