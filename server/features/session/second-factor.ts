import { createHash, randomInt } from 'node:crypto';
import { generateSecret, generateURI, verifySync } from 'otplib';
import type { Caller } from '../../caller.ts';
import type { Db, Tx } from '../../db/client.ts';
import { fail, type Failure } from '../../failure.ts';
import { writeAudit } from '../audit/audit.ts';

const recoveryCodeCount = 10;
const codeSigns = 'abcdefghjkmnpqrstuvwxyz23456789';
/** A clock may be off by one step of half a minute. */
const toleranceSeconds = 30;

const hashCode = (code: string) => createHash('sha256').update(code.toLowerCase()).digest();

function newRecoveryCode(): string {
  const signs = Array.from({ length: 10 }, () => codeSigns[randomInt(codeSigns.length)]).join('');
  return `${signs.slice(0, 5)}-${signs.slice(5)}`;
}

/** The time step that a code of the app proves, later than `lastStep`; undefined when it proves none. */
function provenStep(secret: string, code: string, lastStep: number | null, now: Date): number | undefined {
  const result = verifySync({
    secret,
    token: code,
    epoch: Math.floor(now.getTime() / 1000),
    epochTolerance: toleranceSeconds,
  });
  if (!result.valid || !('timeStep' in result)) return undefined;
  return lastStep === null || result.timeStep > lastStep ? result.timeStep : undefined;
}

/** What a code proved: a recovery code, or a time step of the authenticator app. Not used up yet. */
export type Proof = { recoveryCode: Buffer } | { step: number };

/** What this code proves of the person; undefined when it proves nothing. */
export async function proveSecondFactor(
  db: Db,
  userId: string,
  code: string,
  now: Date,
): Promise<Proof | undefined> {
  if (code.includes('-')) {
    const known = await db
      .selectFrom('recovery_codes')
      .select('code_hash')
      .where('user_id', '=', userId)
      .where('code_hash', '=', hashCode(code))
      .executeTakeFirst();
    return known && { recoveryCode: known.code_hash };
  }
  const user = await db
    .selectFrom('users')
    .select(['totp_secret', 'totp_last_step'])
    .where('user_id', '=', userId)
    .executeTakeFirst();
  const step = user?.totp_secret && provenStep(user.totp_secret, code, user.totp_last_step, now);
  return step ? { step } : undefined;
}

/**
 * Uses up what was proven, in the transaction of the sign-in; undefined when it is used up already. Each code works
 * once, also when it comes twice at the same moment: the guard stands in the WHERE.
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
      .where((eb) => eb.or([eb('totp_last_step', 'is', null), eb('totp_last_step', '<', proof.step)]))
      .executeTakeFirst();
    return used.numUpdatedRows === 1n ? {} : undefined;
  }
  const used = await tx
    .deleteFrom('recovery_codes')
    .where('user_id', '=', userId)
    .where('code_hash', '=', proof.recoveryCode)
    .executeTakeFirst();
  return used.numDeletedRows === 1n ? { recoveryCodesLeft: await countRecoveryCodes(tx, userId) } : undefined;
}

async function countRecoveryCodes(tx: Tx, userId: string): Promise<number> {
  const { left } = await tx
    .selectFrom('recovery_codes')
    .select((eb) => eb.fn.countAll<number>().as('left'))
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow();
  return left;
}

/** Begins with a second factor: a new secret, of no effect until a code of it is confirmed. */
export async function enrollSecondFactor(
  tx: Tx,
  userId: string,
  email: string,
): Promise<{ secret: string; otpauthUrl: string } | Failure> {
  const secret = generateSecret();
  const begun = await tx
    .updateTable('users')
    .set({ totp_secret: secret, totp_last_step: null })
    .where('user_id', '=', userId)
    .where('totp_confirmed_at', 'is', null)
    .executeTakeFirst();
  if (begun.numUpdatedRows === 0n)
    return fail('WRONG_STATE', 'There is a second factor already. Remove it first.');
  return { secret, otpauthUrl: generateURI({ issuer: 'Lanyard', label: email, secret }) };
}

/** Proves the authenticator app and makes the recovery codes, the only time that they are shown. */
export async function confirmSecondFactor(
  tx: Tx,
  by: Caller,
  userId: string,
  code: string,
): Promise<{ recoveryCodes: string[] } | Failure> {
  const user = await tx
    .selectFrom('users')
    .select(['totp_secret', 'totp_confirmed_at'])
    .where('user_id', '=', userId)
    .forUpdate()
    .executeTakeFirst();
  if (!user?.totp_secret || user.totp_confirmed_at)
    return fail('WRONG_STATE', 'No second factor is being set up.');
  const step = provenStep(user.totp_secret, code, null, by.now);
  if (step === undefined)
    return fail('RULE_VIOLATED', 'The code is not right. Check the clock of your phone.');
  const recoveryCodes = Array.from({ length: recoveryCodeCount }, newRecoveryCode);
  await tx
    .updateTable('users')
    .set({ totp_confirmed_at: by.now, totp_last_step: step })
    .where('user_id', '=', userId)
    .execute();
  await tx
    .insertInto('recovery_codes')
    .values(recoveryCodes.map((recovery) => ({ user_id: userId, code_hash: hashCode(recovery) })))
    .execute();
  await writeAudit(tx, by, {
    event: 'user.second_factor_set',
    resourceType: 'user',
    resourceId: userId,
    summary: 'Set up a second factor',
  });
  return { recoveryCodes };
}

/** Takes the second factor off a person. False when there is none. */
export async function removeSecondFactor(tx: Tx, by: Caller, userId: string): Promise<boolean> {
  const removed = await tx
    .updateTable('users')
    .set({ totp_secret: null, totp_confirmed_at: null, totp_last_step: null })
    .where('user_id', '=', userId)
    .where('totp_confirmed_at', 'is not', null)
    .executeTakeFirst();
  if (removed.numUpdatedRows === 0n) return false;
  await tx.deleteFrom('recovery_codes').where('user_id', '=', userId).execute();
  await writeAudit(tx, by, {
    event: 'user.second_factor_removed',
    resourceType: 'user',
    resourceId: userId,
    summary: 'Removed the second factor',
  });
  return true;
}
