import { generateSecret, generateURI, verifySync } from 'otplib';
import type { SubjectOf } from '../../../contract/audit-events.ts';
import { personOf, type Caller } from '../../caller.ts';
import type { Change, ChangeParts } from '../../change.ts';
import type { Db, Tx } from '../../db/client.ts';
import { laterThan } from '../../db/sql.ts';
import { fail, isFailure, type Failure } from '../../failure.ts';
import type { Passwords } from '../../passwords.ts';
import type { Secrets } from '../../secrets.ts';
import { limitGuesses } from './own-password.ts';
import {
  hasRecoveryCode,
  hashCode,
  keepRecoveryCodes,
  makeRecoveryCodes,
  spendRecoveryCode,
  type RecoveryCodes,
} from './recovery-codes.ts';

/** Tolerates a clock that is off by one time step of 30 seconds. */
const toleranceSeconds = 30;
/** Codes that are valid at one moment are at most so many steps apart. */
const validApart = 2;

type FactorTools = { db: Db; secrets: Secrets; passwords: Passwords };

const isSet = fail('WRONG_STATE', 'There is a second factor already. Remove it first.');
const noneBegun = fail('WRONG_STATE', 'No second factor is being set up.');

const isWrongAppCode =
  'The code is not right. Check the clock of your phone, and that no other window started to set up a newer key.';
const wrongAppCode = fail('RULE_VIOLATED', isWrongAppCode, {
  details: [{ path: 'code', message: isWrongAppCode }],
});

const unreadable = fail(
  'WRONG_STATE',
  'This server cannot read your second factor: the key in its data directory is another one. Sign in with a recovery code, or ask an administrator to reset your second factor.',
);

/**
 * The time step of a valid code of the app, later than `lastStep`; undefined for an invalid code. A last step that lies in
 * the future was recorded while the clock was ahead, and does not count: its user would be locked out until then.
 */
function provenStep(secret: string, code: string, lastStep: number | null, now: Date): number | undefined {
  const result = verifySync({
    secret,
    token: code,
    epoch: Math.floor(now.getTime() / 1000),
    epochTolerance: toleranceSeconds,
  });
  if (!result.valid || !('timeStep' in result)) return undefined;
  const step = result.timeStep;
  return lastStep === null || step > lastStep || lastStep > step + validApart ? step : undefined;
}

/** The result of a valid code: a recovery code, or a time step of the authenticator app. Not used up yet. */
export type Proof = { recoveryCode: Buffer } | { step: number };

/** Verifies a code of the user; undefined when it is invalid. A Failure when the key is missing. */
export async function proveSecondFactor(
  { db, secrets, passwords }: FactorTools,
  userId: string,
  code: string,
  now: Date,
): Promise<Proof | undefined | Failure> {
  if (code.includes('-')) {
    const recoveryCode = await hashCode(passwords, userId, code);
    return (await hasRecoveryCode(db, userId, recoveryCode)) ? { recoveryCode } : undefined;
  }
  const user = await db
    .selectFrom('users')
    .select(['totp_secret', 'totp_last_step'])
    .where('user_id', '=', userId)
    .executeTakeFirst();
  if (!user?.totp_secret) return undefined;
  const secret = secrets.open(user.totp_secret, userId);
  if (secret === undefined) return unreadable;
  const step = provenStep(secret, code, user.totp_last_step, now);
  return step === undefined ? undefined : { step };
}

/**
 * Uses up a verified code in the transaction of the sign-in; undefined when it was already used. The WHERE ensures that
 * each code works once, even for concurrent requests.
 */
export async function spendProof(
  tx: Tx,
  userId: string,
  proof: Proof,
): Promise<{ recoveryCodesLeft?: number } | undefined> {
  if ('step' in proof) {
    const used = await tx
      .updateTable('users')
      .set({ totp_last_step: proof.step })
      .where('user_id', '=', userId)
      .where((eb) =>
        eb.or([
          eb('totp_last_step', 'is', null),
          eb('totp_last_step', '<', proof.step),
          eb('totp_last_step', '>', proof.step + validApart),
        ]),
      )
      .executeTakeFirst();
    return used.numUpdatedRows === 1n ? {} : undefined;
  }
  const recoveryCodesLeft = await spendRecoveryCode(tx, userId, proof.recoveryCode);
  return recoveryCodesLeft === undefined ? undefined : { recoveryCodesLeft };
}

/** Starts the enrollment of a second factor: the caller's new secret has no effect until a code confirms it. */
export async function enrollSecondFactor(
  change: Change,
  secrets: Secrets,
): Promise<{ secret: string; otpauthUrl: string } | Failure> {
  const { userId, email } = personOf(change.by);
  const secret = generateSecret();
  const begun = await change.tx
    .updateTable('users')
    .set({ totp_secret: secrets.seal(secret, userId), totp_last_step: null })
    .where('user_id', '=', userId)
    .where('totp_confirmed_at', 'is', null)
    .executeTakeFirst();
  if (begun.numUpdatedRows === 0n) return isSet;
  await change.audit('user.second_factor_begun', { id: userId, email });
  return { secret, otpauthUrl: generateURI({ issuer: 'Lanyard', label: email, secret }) };
}

type ProvenApp = { sealedSecret: string; step: number; recovery: RecoveryCodes };

/** Verifies a code of the caller's new app and creates the recovery codes, which have no effect until confirmed. */
export async function proveApp(
  tools: FactorTools & ChangeParts,
  by: Caller,
  code: string,
): Promise<ProvenApp | Failure> {
  const { db, secrets, passwords } = tools;
  const { userId } = personOf(by);
  const user = await db
    .selectFrom('users')
    .select(['totp_secret', 'totp_confirmed_at'])
    .where('user_id', '=', userId)
    .executeTakeFirst();
  const sealedSecret = user?.totp_secret;
  const secret = sealedSecret && secrets.open(sealedSecret, userId);
  if (user?.totp_confirmed_at) return isSet;
  if (!sealedSecret || !secret) return noneBegun;
  const step = await limitGuesses(tools, by, wrongAppCode, async () =>
    provenStep(secret, code, null, by.now),
  );
  if (isFailure(step)) return step;
  return { sealedSecret, step, recovery: await makeRecoveryCodes(passwords, userId) };
}

/**
 * Activates the caller's verified second factor and returns the recovery codes, which are never shown again.
 * Permissions withheld until then apply from the next call.
 */
export async function confirmSecondFactor(
  change: Change,
  { sealedSecret, step, recovery }: ProvenApp,
): Promise<{ recoveryCodes: string[] } | Failure> {
  const { userId: id, email } = personOf(change.by);
  const set = await change.tx
    .updateTable('users')
    .set({ totp_confirmed_at: change.now, totp_last_step: step, updated_at: laterThan(change.now) })
    .where('user_id', '=', id)
    .where('totp_secret', '=', sealedSecret)
    .where('totp_confirmed_at', 'is', null)
    .executeTakeFirst();
  if (set.numUpdatedRows === 0n) return noneBegun;
  await keepRecoveryCodes(change.tx, id, recovery);
  await change.announce('sessions');
  await change.audit('user.second_factor_set', { id, email });
  return { recoveryCodes: recovery.codes };
}

/** Removes the second factor of a user. False when there is none. */
export async function removeSecondFactor(
  change: Change,
  user: SubjectOf<'user.second_factor_removed'>,
): Promise<boolean> {
  const removed = await change.tx
    .updateTable('users')
    .set({
      totp_secret: null,
      totp_confirmed_at: null,
      totp_last_step: null,
      updated_at: laterThan(change.now),
    })
    .where('user_id', '=', user.id)
    .where('totp_confirmed_at', 'is not', null)
    .executeTakeFirst();
  if (removed.numUpdatedRows === 0n) return false;
  await change.tx.deleteFrom('recovery_codes').where('user_id', '=', user.id).execute();
  await change.announce('sessions');
  await change.audit('user.second_factor_removed', user);
  return true;
}
