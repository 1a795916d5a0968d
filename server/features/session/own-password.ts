import { personOf, type Caller } from '../../caller.ts';
import type { ChangeParts } from '../../change.ts';
import { fail, isFailure, type Failure } from '../../failure.ts';
import type { Passwords } from '../../passwords.ts';
import type { Refusals } from '../audit/index.ts';
import { countFailure, secondsToWait, type Counter } from '../../throttle.ts';

export const wrongPassword = fail('WRONG_CREDENTIALS', 'The current password is not right.', {
  details: [{ path: 'currentPassword', message: 'Is not right' }],
});

const tooMany = (retryAfter: number) =>
  fail('TOO_MANY_REQUESTS', 'Too many wrong passwords or codes. Wait a few minutes and try again.', {
    retryAfter,
  });

export type Guarded = ChangeParts & { passwords: Passwords; refusals: Refusals };

/** How long a sign-in counts as proof. */
const provenMs = 5 * 60_000;

/** For calls that could let a stolen session take over another account. */
export const unproven = fail(
  'RULE_VIOLATED',
  'Enter your own password too: you signed in more than five minutes ago.',
  { details: [{ path: 'currentPassword', message: 'Is needed' }] },
);

/** Whether the caller proves to be the user: the current password is right or, where none was sent, the sign-in recent. */
export async function isProven(
  guarded: Guarded,
  by: Caller,
  typed: string | undefined,
): Promise<boolean | Failure> {
  if (typed !== undefined) return (await refuseCurrentPassword(guarded, by, typed)) ?? true;
  const opened = await guarded.db
    .selectFrom('sessions')
    .select('created_at')
    .where('session_id', '=', personOf(by).sessionId)
    .executeTakeFirst();
  return opened !== undefined && by.now.getTime() - opened.created_at.getTime() < provenMs;
}

/** `unproven` unless the caller proves to be the user. */
export async function refuseUnproven(
  guarded: Guarded,
  by: Caller,
  typed: string | undefined,
): Promise<Failure | undefined> {
  const proven = await isProven(guarded, by, typed);
  return proven === false ? unproven : proven === true ? undefined : proven;
}

/**
 * What `verify` finds for a right guess, else `wrong`. Wrong ones count for this session alone: a stolen session cannot be
 * used for guessing, and guesses elsewhere cannot prevent a user from changing their password.
 */
export async function limitGuesses<T>(
  parts: ChangeParts,
  by: Caller,
  wrong: Failure,
  verify: () => Promise<T | undefined>,
): Promise<T | Failure> {
  const counters: Counter[] = [{ kind: 'session', of: personOf(by).sessionId }];
  const wait = await secondsToWait(parts.db, counters, by.now);
  if (wait !== undefined) return tooMany(wait);
  const found = await verify();
  const waitNow =
    found === undefined
      ? await countFailure(parts, counters, by.now)
      : await secondsToWait(parts.db, counters, by.now);
  return waitNow === undefined ? (found ?? wrong) : tooMany(waitNow);
}

/** Undefined when the current password is right. */
export async function refuseCurrentPassword(
  guarded: Guarded,
  by: Caller,
  typed: string,
): Promise<Failure | undefined> {
  const verified = await verifyCurrentPassword(guarded, by, typed);
  return isFailure(verified) ? verified : undefined;
}

/** The same for a change that replaces the password: returns the hash that must still be there then. */
export async function verifyCurrentPassword(
  guarded: Guarded,
  by: Caller,
  typed: string,
): Promise<string | Failure> {
  const { db, passwords, refusals } = guarded;
  const { userId, email } = personOf(by);
  const verified = await limitGuesses(guarded, by, wrongPassword, async () => {
    const user = await db
      .selectFrom('users')
      .select('password_hash')
      .where('user_id', '=', userId)
      .executeTakeFirst();
    const isRight = user && typed && (await passwords.verify(user.password_hash, typed));
    return isRight ? user.password_hash : undefined;
  });
  if (isFailure(verified)) {
    const error = verified === wrongPassword ? verified.message : 'Too many wrong passwords';
    await refusals.record(by, {
      kind: 'current_password_wrong',
      subject: userId,
      audit: (change) => change.audit('user.password_refused', { id: userId, email }, { error }),
    });
  }
  return verified;
}
