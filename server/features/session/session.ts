import { sql } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import type { RouteAnswer } from '../../../contract/route.ts';
import type { session as calls } from '../../../contract/session.ts';
import { networkOf } from '../../address.ts';
import type { Caller, Staff } from '../../caller.ts';
import { runChange, systemChange } from '../../change.ts';
import type { Context } from '../../context.ts';
import { createCache } from '../../db/cache.ts';
import { onlyReads, type Tx } from '../../db/client.ts';
import { signInAgain } from '../../ended-caller.ts';
import { fail, isFailure, type Failure } from '../../failure.ts';
import type { Passwords } from '../../passwords.ts';
import type { Refusals } from '../audit/index.ts';
import {
  findUser,
  hasCookie,
  isServiceAccount,
  loadSession,
  toIdentity,
  toStaff,
  type FoundUser,
  type Identity,
  type SessionRow,
} from './session-row.ts';
import { proveSecondFactor, spendProof, type Proof } from './second-factor.ts';
import { deviceCookie, readDevice } from './device.ts';
import { endSessions } from './open-sessions.ts';
import { countFailure, secondsToWait, signInCounters, type Counter } from '../../throttle.ts';
import { hashToken, newToken, nextCookie } from './tokens.ts';

const accessTokenMs = 15 * 60_000;
/** Parallel tabs may send the cookie that was just rotated; later use counts as theft, unless the answer was lost. */
const rotationGraceMs = 10_000;
/** Maximum clock difference of processes. A session dated later is invalid, since it would last too long. */
const clockSkewMs = 5 * 60_000;

type SignIn = RouteAnswer<typeof calls.login>;
export type Sessions = ReturnType<typeof createSessions>;

const wrongCredentials = fail('WRONG_CREDENTIALS', 'Email or password is not right.');
const codeRequired = fail('SECOND_FACTOR_REQUIRED', 'Enter the code of your authenticator app.');
const wrongCode = fail(
  'WRONG_CREDENTIALS',
  'The code is not right, or was used before. Wait for the next one.',
);

/** Sign-in, sign-out, rotation and recognition of staff sessions. */
export function createSessions(context: Context, passwords: Passwords, refusals: Refusals) {
  const { db, signals, config, clock, secrets } = context;
  const cached = createCache<SessionRow | undefined>(signals, 'sessions', { max: 10_000, ttlMs: 60_000 });
  // Verified for a missing account, so that both responses take the same time.
  const decoyHash = passwords.hash('no account has this password');
  decoyHash.catch(() => undefined);

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
   * Checks email and password and opens a session; the previous session of the browser ends. Every attempt is in the
   * audit log. `cookies` are those of the browser.
   */
  async function login(
    by: Caller,
    { email, password, code }: { email: string; password: string; code?: string | undefined },
    cookies: { session: string | undefined; device: string | undefined },
  ): Promise<{ answer: SignIn; cookie: string; device: string } | Failure> {
    const user = await findUser(db, email);
    const device = readDevice(secrets, cookies.device);
    const isKnown = user !== undefined && device?.people.includes(user.user_id) === true;
    const counters = signInCounters(secrets, by, user?.email ?? email, isKnown ? device.id : undefined);
    const wait = await secondsToWait(db, counters, by.now);
    if (wait !== undefined) return throttled(by, email, wait);
    const matches = await passwords.verify(user?.password_hash ?? (await decoyHash), password);
    const found = admit(user, matches);
    if (isFailure(found)) return failed(by, { email, user, counters }, found);
    // A known device has its own counter for codes too, which attackers elsewhere cannot use up.
    if (!isKnown) counters.push({ kind: 'code', of: found.user_id });
    const proven = await checkSecondFactor(by, found, code);
    if (isFailure(proven) && proven !== codeRequired) return failed(by, { email, user, counters }, proven);
    const waitNow = await secondsToWait(db, counters, by.now);
    if (waitNow !== undefined) return throttled(by, email, waitNow);
    if (isFailure(proven)) return askForCode(by, found, proven);
    const opened = await open(by, found, proven, cookies.session);
    if (isFailure(opened)) return failed(by, { email, user, counters }, opened);
    return { ...opened, device: deviceCookie(secrets, device, found.user_id) };
  }

  /** Verifies the second factor; undefined where the password is enough. */
  async function checkSecondFactor(
    by: Caller,
    user: FoundUser,
    code: string | undefined,
  ): Promise<Proof | undefined | Failure> {
    if (!user.totp_confirmed_at) return undefined;
    if (code === undefined) return codeRequired;
    return (await proveSecondFactor({ db, secrets, passwords }, user.user_id, code, by.now)) ?? wrongCode;
  }

  async function failed(
    by: Caller,
    { email, user, counters }: { email: string; user: FoundUser | undefined; counters: Counter[] },
    refusal: Failure,
  ) {
    const wait = await countFailure(context, counters, by.now);
    if (wait !== undefined) return throttled(by, email, wait);
    await auditFailure(by, email, refusal.message, 'sign_in_failed', user);
    return refusal;
  }

  /** Not a failed attempt, but whoever gets no further has the password. */
  async function askForCode(by: Caller, { email }: FoundUser, asked: Failure): Promise<Failure> {
    await refusals.record(by, {
      kind: 'code_required',
      subject: `${email} ${networkOf(by.ip)}`,
      audit: (change) => change.audit('session.code_required', { sessionId: null, email }),
    });
    return asked;
  }

  async function throttled(by: Caller, email: string, retryAfter: number): Promise<Failure> {
    await auditFailure(by, email, 'Too many failed sign-ins', 'sign_in_throttled');
    return fail('TOO_MANY_REQUESTS', 'Too many failed sign-ins. Wait a few minutes and try again.', {
      retryAfter,
    });
  }

  async function open(by: Caller, user: FoundUser, proof: Proof | undefined, oldSession: string | undefined) {
    const cookie = newToken();
    const access = newToken();
    const session_id = uuidv7();
    const identity = toIdentity(user, config);
    const signedIn = {
      ...by,
      actor: { kind: 'staff', sessionId: session_id, via: 'cookie', ...identity } as const,
    };
    const refusal = await runChange(context, signedIn, async (change) => {
      const { tx } = change;
      if (!(await lockVerified(tx, user))) return wrongCredentials;
      const used = proof && (await spendProof(tx, user.user_id, proof));
      if (proof && !used) return wrongCode;
      if (oldSession) await endSessions(change, hasCookie(hashToken(oldSession)), 'signed in again');
      await tx
        .updateTable('users')
        .set({ last_sign_in_at: by.now })
        .where('user_id', '=', user.user_id)
        .execute();
      await tx
        .insertInto('sessions')
        .values({
          session_id,
          user_id: user.user_id,
          cookie_hash: cookie.hash,
          access_hash: access.hash,
          access_expires_at: new Date(by.now.getTime() + accessTokenMs),
          created_at: by.now,
          last_seen_at: by.now,
          ip_address: by.ip,
          user_agent: by.userAgent,
        })
        .execute();
      const what = howSignedIn(used?.recoveryCodesLeft);
      await change.audit('session.login', { sessionId: session_id, email: user.email }, { what });
      return undefined;
    });
    if (refusal) return refusal;
    return { answer: { accessToken: access.token, ...me(identity) }, cookie: cookie.token };
  }

  /** Users type passwords into the email field by mistake, so text that matches no account is not stored as is. */
  async function auditFailure(
    by: Caller,
    email: string,
    error: string,
    kind: 'sign_in_failed' | 'sign_in_throttled',
    found?: FoundUser,
  ): Promise<void> {
    const user = found ?? (await findUser(db, email));
    const session = { sessionId: null, email: user?.email ?? refusals.shortened(email) };
    await refusals.record(by, {
      kind,
      // a password could be guessed from the bare hash under which subjects are counted
      subject: session.email,
      audit: (change) => change.audit('session.login_failed', session, { error }),
    });
  }

  /**
   * Rotates the cookie and the access token. A cookie that was rotated before, by a parallel tab or a request whose answer
   * was lost, gets the same new cookie again, unless that one was rotated as well.
   */
  async function refresh(
    by: Caller,
    token: string | undefined,
  ): Promise<{ answer: SignIn; cookie?: string } | Failure> {
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

/** Why a user may not sign in. An inactive account looks like a wrong password to the caller. */
function admit(user: FoundUser | undefined, matches: boolean): FoundUser | Failure {
  if (!user || !matches || user.status !== 'active') return wrongCredentials;
  return isServiceAccount(user)
    ? fail('FORBIDDEN', 'A service account cannot sign in to the console. Use an API key.')
    : user;
}

/** Locks the user if what was verified is still so: a reset or deactivation meanwhile has ended every session. */
const lockVerified = (tx: Tx, { user_id, password_hash, totp_confirmed_at }: FoundUser) =>
  tx
    .selectFrom('users')
    .select('user_id')
    .where('user_id', '=', user_id)
    .where('password_hash', '=', password_hash)
    .where('totp_confirmed_at', 'is not distinct from', totp_confirmed_at)
    .where('status', '=', 'active')
    .forNoKeyUpdate()
    .executeTakeFirst();

/** An unexpected use of a recovery code indicates theft, so the audit log shows it. */
const howSignedIn = (recoveryCodesLeft: number | undefined) =>
  recoveryCodesLeft === undefined ? 'signed in' : `signed in with a recovery code; ${recoveryCodesLeft} left`;

/** The user with permissions and roles, as `GET /api/v1/auth/me` returns them. */
export function me(identity: Identity): RouteAnswer<typeof calls.me> {
  const { userId, email, name, permissions, secondFactorMissing, ownPasswordMissing } = identity;
  const { firstScreen, advice } = identity;
  const roles = identity.roles.map((role) => ({ name: role }));
  return {
    user: { userId, email, name },
    permissions,
    roles,
    secondFactorMissing,
    ownPasswordMissing,
    firstScreen,
    advice,
  };
}
