import { createHash, randomInt } from 'node:crypto';
import { parse } from 'uuid';
import type { Db, Tx } from '../../db/client.ts';
import { countOf, exists } from '../../db/sql.ts';
import type { Passwords } from '../../passwords.ts';

const recoveryCodeCount = 10;
const codeCharacters = 'abcdefghjkmnpqrstuvwxyz23456789';

export type RecoveryCodes = { codes: string[]; hashes: Buffer[] };

/** New recovery codes of a user, and the hashes to store. */
export async function makeRecoveryCodes(passwords: Passwords, userId: string): Promise<RecoveryCodes> {
  const codes = Array.from({ length: recoveryCodeCount }, newCode);
  return { codes, hashes: await Promise.all(codes.map((code) => hashCode(passwords, userId, code))) };
}

function newCode(): string {
  const characters = Array.from({ length: 10 }, () => codeCharacters[randomInt(codeCharacters.length)]).join(
    '',
  );
  return `${characters.slice(0, 5)}-${characters.slice(5)}`;
}

/** The hash of a user's recovery code, as stored. */
export const hashCode = (passwords: Passwords, userId: string, code: string): Promise<Buffer> =>
  strengthen(passwords, userId, createHash('sha256').update(code.toLowerCase()).digest());

/**
 * argon2id over the SHA-256 that earlier versions stored, so that their codes can be converted. The salt is the user's
 * id: one hash finds a code among ten, and no hash is valid for two users.
 */
export const strengthen = (passwords: Passwords, userId: string, sha256: Buffer): Promise<Buffer> =>
  passwords.derive(sha256.toString('hex'), Buffer.from(parse(userId)));

export async function keepRecoveryCodes(tx: Tx, userId: string, { hashes }: RecoveryCodes): Promise<void> {
  const rows = hashes.map((code_hash) => ({ user_id: userId, code_hash, is_argon2: true }));
  await tx.insertInto('recovery_codes').values(rows).execute();
}

/** Whether a user has a recovery code with this hash. */
export const hasRecoveryCode = (db: Db, userId: string, code_hash: Buffer): Promise<boolean> =>
  exists(db.selectFrom('recovery_codes').where('user_id', '=', userId).where('code_hash', '=', code_hash));

/** Uses up a code and returns the number left; undefined when it was already used. */
export async function spendRecoveryCode(
  tx: Tx,
  userId: string,
  code_hash: Buffer,
): Promise<number | undefined> {
  const used = await tx
    .deleteFrom('recovery_codes')
    .where('user_id', '=', userId)
    .where('code_hash', '=', code_hash)
    .executeTakeFirst();
  if (used.numDeletedRows === 0n) return undefined;
  return countOf(tx.selectFrom('recovery_codes').where('user_id', '=', userId));
}
