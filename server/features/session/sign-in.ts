import { v7 as uuidv7 } from 'uuid';
import type { RouteAnswer } from '../../../contract/route.ts';
import type { session as calls } from '../../../contract/session.ts';
import type { Caller } from '../../caller.ts';
import { runChange } from '../../change.ts';
import type { Context } from '../../context.ts';
import type { Tx } from '../../db/client.ts';
import { fail, isFailure, type Failure } from '../../failure.ts';
import type { Passwords } from '../../passwords.ts';
import { countFailure, secondsToWait, signInCounters, type Counter } from '../../throttle.ts';
import type { Refusals } from '../audit/index.ts';
import { deviceCookie, markOf, readDevice } from './device.ts';
import { endSessions } from './open-sessions.ts';
import { proveSecondFactor, spendProof, type Proof } from './second-factor.ts';
import { findUser, hasCookie, isServiceAccount, me, toIdentity, type FoundUser } from './session-row.ts';
import { accessTokenMs, hashToken, newToken } from './tokens.ts';

type SignIn = RouteAnswer<typeof calls.login>;
/** The typed email, and its account: an unknown one must cost no further look for it. */
type Tried = { email: string; user: FoundUser | undefined };

const wrongCredentials = fail('WRONG_CREDENTIALS', 'Email or password is not right.');
const codeRequired = fail('SECOND_FACTOR_REQUIRED', 'Enter the code of your authenticator app.');
const wrongCode = fail(
  'WRONG_CREDENTIALS',
  'The code is not right, or was used before. Wait for the next one.',
);

/** Signs staff in with email, password and second factor. */
export function createSignIn(context: Context, passwords: Passwords, refusals: Refusals) {
  const { db, config, secrets } = context;
  // Verified for a missing account, so that both responses take the same time.
  const decoyHash = passwords.hash('no account has this password');
  decoyHash.catch(() => undefined);

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
    const tried = { email, user };
    const device = readDevice(secrets, cookies.device);
    const isKnown = user !== undefined && device?.people.includes(markOf(secrets, user)) === true;
    const counters = signInCounters(secrets, by, user?.email ?? email, isKnown ? device.id : undefined);
    const wait = await secondsToWait(db, counters, by.now);
    if (wait !== undefined) return throttled(by, tried, wait);
    const matches = await passwords.verify(user?.password_hash ?? (await decoyHash), password);
    const found = admit(user, matches);
    if (isFailure(found)) return failed(by, { ...tried, counters }, found);
    // A known device has its own counter for codes too, which attackers elsewhere cannot use up.
    if (!isKnown) counters.push({ kind: 'code', of: found.user_id });
    const proven = await checkSecondFactor(by, found, code);
    if (isFailure(proven) && proven !== codeRequired) return failed(by, { ...tried, counters }, proven);
    const waitNow = await secondsToWait(db, counters, by.now);
    if (waitNow !== undefined) return throttled(by, tried, waitNow);
    if (isFailure(proven)) return askForCode(by, found, proven);
    const opened = await open(by, found, proven, cookies.session);
    if (isFailure(opened)) return failed(by, { ...tried, counters }, opened);
    return { ...opened, device: deviceCookie(secrets, device, markOf(secrets, found)) };
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
    { counters, ...tried }: Tried & { counters: Counter[] },
    refusal: Failure,
  ) {
    const wait = await countFailure(context, counters, by.now);
    if (wait !== undefined) return throttled(by, tried, wait);
    await auditFailure(by, tried, refusal.message, 'sign_in_failed');
    return refusal;
  }

  /** Not a failed attempt, but whoever gets no further has the password. */
  async function askForCode(by: Caller, { email }: FoundUser, asked: Failure): Promise<Failure> {
    await refusals.record(by, {
      kind: 'code_required',
      subject: email,
      perNetwork: true,
      audit: (change) => change.audit('session.code_required', { sessionId: null, email }),
    });
    return asked;
  }

  async function throttled(by: Caller, tried: Tried, retryAfter: number): Promise<Failure> {
    await auditFailure(by, tried, 'Too many failed sign-ins', 'sign_in_throttled');
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
    { email, user }: Tried,
    error: string,
    kind: 'sign_in_failed' | 'sign_in_throttled',
  ): Promise<void> {
    const session = { sessionId: null, email: user?.email ?? refusals.shortened(email) };
    await refusals.record(by, {
      kind,
      // a password could be guessed from the bare hash under which subjects are counted
      subject: session.email,
      audit: (change) => change.audit('session.login_failed', session, { error }),
    });
  }

  return login;
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
