import { sql } from 'kysely';
import type { RouteAnswer } from '../../../contract/route.ts';
import type { session as calls } from '../../../contract/session.ts';
import type { Caller, Staff } from '../../caller.ts';
import { runChange, systemChange } from '../../change.ts';
import type { Context } from '../../context.ts';
import { createCache } from '../../db/cache.ts';
import { onlyReads } from '../../db/client.ts';
import { signInAgain } from '../../ended-caller.ts';
import type { Failure } from '../../failure.ts';
import type { Passwords } from '../../passwords.ts';
import type { Refusals } from '../audit/index.ts';
import { isServiceAccount, loadSession, me, toStaff, type SessionRow } from './session-row.ts';
import { endSessions } from './open-sessions.ts';
import { createSignIn } from './sign-in.ts';
import { accessTokenMs, hashToken, newToken, nextCookie } from './tokens.ts';

/** Parallel tabs may send the cookie that was just rotated; later use counts as theft, unless the answer was lost. */
const rotationGraceMs = 10_000;
/** Maximum clock difference of processes. A session dated later is invalid, since it would last too long. */
const clockSkewMs = 5 * 60_000;

export type Sessions = ReturnType<typeof createSessions>;

/** Sign-in, sign-out, rotation and recognition of staff sessions. */
export function createSessions(context: Context, passwords: Passwords, refusals: Refusals) {
  const { db, signals, config, clock, secrets } = context;
  const login = createSignIn(context, passwords, refusals);
  const cached = createCache<SessionRow | undefined>(signals, 'sessions', { max: 10_000, ttlMs: 60_000 });

  // A write every 30 seconds is precise enough for an idle time of minutes; a shorter one needs more.
  const touchEveryMs = Math.min(30_000, config.sessionIdleMs / 20);

  const expired = (row: SessionRow, now: Date) =>
    row.created_at.getTime() > now.getTime() + clockSkewMs ||
    now.getTime() >= row.created_at.getTime() + config.sessionMaxMs ||
    now.getTime() >= row.last_seen_at.getTime() + config.sessionIdleMs;

  const issuedAt = (row: SessionRow) => row.access_expires_at.getTime() - accessTokenMs;

  /** The answer with the next cookie has not arrived: neither that nor the access token beside it was used so far. */
  const isAnswerLost = (row: SessionRow, cookie: string) =>
    row.cookie_hash.equals(nextCookie(secrets, cookie).hash) && row.last_seen_at.getTime() <= issuedAt(row);

  /** The user of a token; undefined when it is unknown, has ended, or exceeded its idle or total time. */
  async function recognize(token: string, kind: Staff['via'], by: Caller): Promise<Staff | undefined> {
    const hash = hashToken(token);
    const load = () => loadSession(db, hash, kind);
    const now = clock();
    let row = await cached(`${kind}:${hash.toString('base64')}`, load);
    // Another process may have updated the session meanwhile.
    if (row && expired(row, now)) row = await load();
    if (!row || expired(row, now)) return undefined;
    // a sign-in that was under way opens a session after the others have ended
    if (isServiceAccount(row)) return undefined;
    if (kind === 'bearer' && now >= row.access_expires_at) return undefined;
    if (row.rotated_at && now.getTime() > row.rotated_at.getTime() + rotationGraceMs) {
      // as it is now: another process may know that the next cookie is in use
      row = await load();
      if (!row) return undefined;
      if (!isAnswerLost(row, token)) {
        await endStolen(row, by);
        return undefined;
      }
    }
    if (!row.rotated_at) await touch(row, now);
    return toStaff(row, kind, config);
  }

  /** Stores when the session was last seen: now and then, and when what a refresh issued is first used. */
  async function touch(row: SessionRow, now: Date): Promise<void> {
    const [{ session_id }, issued, seen] = [row, issuedAt(row), row.last_seen_at.getTime()];
    if (seen > issued && now.getTime() - seen < touchEveryMs) return;
    const last_seen_at = new Date(Math.max(now.getTime(), issued + 1));
    row.last_seen_at = last_seen_at;
    await systemChange(context, now, ({ tx }) =>
      tx.updateTable('sessions').set({ last_seen_at }).where('session_id', '=', session_id).execute(),
    ).catch((error: unknown) => {
      // what only reads still works
      if (!onlyReads(error)) throw error;
    });
  }

  /** Two clients hold the cookie, so one of them stole it: the session ends for both. */
  async function endStolen({ session_id, email }: SessionRow, by: Caller): Promise<void> {
    const ended = await runChange(context, by, async (change) => {
      const count = await endSessions(change, sql`s.session_id = ${session_id}`, 'rotated cookie came back');
      const error = 'The cookie was used twice, so it may be stolen.';
      if (count > 0) await change.audit('session.cookie_reused', { sessionId: session_id, email }, { error });
      return count;
    });
    if (ended > 0) refusals.count('rotated_cookie');
  }

  /**
   * Rotates the cookie and the access token. A cookie that was rotated before, by a parallel tab or a request whose answer
   * was lost, gets the same new cookie again, unless that one was rotated as well.
   */
  async function refresh(
    by: Caller,
    token: string | undefined,
  ): Promise<{ answer: RouteAnswer<typeof calls.refresh>; cookie?: string } | Failure> {
    const staff = token === undefined ? undefined : await recognize(token, 'cookie', by);
    if (token === undefined || !staff) return signInAgain;
    const cookie = nextCookie(secrets, token);
    const access = newToken();
    const accessSet = {
      access_hash: access.hash,
      access_expires_at: new Date(by.now.getTime() + accessTokenMs),
      // nothing of what is issued now has been used
      last_seen_at: by.now,
    };
    const isNext = await runChange(context, by, async ({ tx, announce }) => {
      const update = tx
        .updateTable('sessions')
        .where('session_id', '=', staff.sessionId)
        .where('ended_at', 'is', null);
      const ours = await update
        .where('cookie_hash', '=', hashToken(token))
        .set({ ...accessSet, cookie_hash: cookie.hash })
        .executeTakeFirst();
      await announce('sessions');
      if (ours.numUpdatedRows === 1n) {
        const old = { cookie_hash: hashToken(token), session_id: staff.sessionId, rotated_at: by.now };
        await tx.insertInto('rotated_cookies').values(old).execute();
        return true;
      }
      const before = await update.set(accessSet).returning('cookie_hash').executeTakeFirst();
      return before?.cookie_hash.equals(cookie.hash) ?? false;
    });
    return {
      answer: { accessToken: access.token, ...me(staff) },
      ...(isNext ? { cookie: cookie.token } : {}),
    };
  }

  /** Ends the caller's session, if there is one. */
  async function logout(by: Caller): Promise<void> {
    const { actor } = by;
    if (actor.kind !== 'staff') return;
    const { sessionId, email } = actor;
    await runChange(context, by, async (change) => {
      await endSessions(change, sql`s.session_id = ${sessionId}`, 'logout');
      await change.audit('session.logout', { sessionId, email });
    });
  }

  return { recognize, login, refresh, logout };
}
