import { systemChange } from '../../change.ts';
import type { Context } from '../../context.ts';
import type { Tx } from '../../db/client.ts';
import { countOf } from '../../db/sql.ts';
import type { Passwords } from '../../passwords.ts';
import { sealed, type Secrets } from '../../secrets.ts';
import { strengthen } from './recovery-codes.ts';
import { present } from '../../invariants.ts';

/**
 * At start: encrypts the authenticator secrets and hashes the recovery codes stored by earlier versions, and logs an
 * error for secrets that the key of this data directory cannot decrypt.
 */
export async function protectSecondFactors(context: Context, passwords: Passwords): Promise<void> {
  await sealSecrets(context);
  await hashCodes(context, passwords);
  await reportUnreadable(context);
}

async function sealSecrets(context: Context): Promise<void> {
  const { db, secrets, clock } = context;
  const plain = await db
    .selectFrom('users')
    .select(['user_id', 'totp_secret'])
    .where('totp_secret', 'is not', null)
    .where('totp_secret', 'not like', `${sealed}%`)
    .execute();
  for (const { user_id, totp_secret } of plain) {
    await systemChange(context, clock(), ({ tx }) =>
      tx
        .updateTable('users')
        .set({ totp_secret: secrets.seal(present(totp_secret, 'the query asks for it'), user_id) })
        .where('user_id', '=', user_id)
        // skip if another process did the same, or the user has set up a new one
        .where('totp_secret', '=', totp_secret)
        .execute(),
    );
  }
}

/** Encrypts second factors again with `to` instead of `from`; returns their number. Skips damaged ones. */
export async function sealAgain(tx: Tx, from: Secrets, to: Secrets): Promise<number> {
  const users = await tx
    .selectFrom('users')
    .select(['user_id', 'totp_secret'])
    .where('totp_secret', 'like', `${from.sealedPrefix}%`)
    .forUpdate()
    .execute();
  const readable = users.flatMap(({ user_id, totp_secret }) => {
    const secret = from.open(present(totp_secret, 'the query asks for it'), user_id);
    return secret === undefined ? [] : [{ user_id, totp_secret: to.seal(secret, user_id) }];
  });
  for (const { user_id, totp_secret } of readable)
    await tx.updateTable('users').set({ totp_secret }).where('user_id', '=', user_id).execute();
  return readable.length;
}

async function hashCodes(context: Context, passwords: Passwords): Promise<void> {
  const { db, clock } = context;
  const old = await db
    .selectFrom('recovery_codes')
    .select(['user_id', 'code_hash'])
    .where('is_argon2', '=', false)
    .execute();
  for (const { user_id, code_hash } of old) {
    const stronger = await strengthen(passwords, user_id, code_hash);
    await systemChange(context, clock(), ({ tx }) =>
      tx
        .updateTable('recovery_codes')
        .set({ code_hash: stronger, is_argon2: true })
        .where('user_id', '=', user_id)
        .where('code_hash', '=', code_hash)
        .execute(),
    );
  }
}

async function reportUnreadable({ db, secrets, log }: Context): Promise<void> {
  const people = await countOf(
    db
      .selectFrom('users')
      .where('totp_confirmed_at', 'is not', null)
      .where('totp_secret', 'not like', `${secrets.sealedPrefix}%`),
  );
  if (people === 0) return;
  log.error(
    { people },
    'Second factors were encrypted with another key than DATA_DIR/secrets-key. Put that file back from a backup or ' +
      'from another process; else these people sign in with a recovery code, or an administrator resets their ' +
      'second factor.',
  );
}
