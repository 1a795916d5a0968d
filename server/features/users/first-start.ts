import { randomBytes } from 'node:crypto';
import { roleDescriptions, roleMatrix, roleNames } from '../../../contract/permissions.ts';
import { systemChange, type ChangeParts } from '../../change.ts';
import type { Config } from '../../config.ts';
import type { Db, Tx } from '../../db/client.ts';
import type { Passwords } from '../../passwords.ts';
import { insertUser } from './user-row.ts';

/** Inserts missing roles of the contract into the database; changes made by staff stay. */
export async function seedRoles(tx: Tx): Promise<void> {
  for (const role_id of roleNames) {
    const added = await tx
      .insertInto('roles')
      .values({ role_id, description: roleDescriptions[role_id], built_in: true })
      .onConflict((conflict) => conflict.doNothing())
      .returning('role_id')
      .executeTakeFirst();
    const permissions = roleMatrix[role_id].map((p) => ({ role_id, ...p }));
    if (added && permissions.length > 0)
      await tx.insertInto('role_permissions').values(permissions).execute();
  }
}

/**
 * At first start, with no user in the database, creates a super admin from the settings or, without them,
 * `admin@localhost` with a random password. Returns the text to print once on the terminal, if any.
 */
export async function ensureFirstAdmin(
  parts: ChangeParts,
  passwords: Passwords,
  config: Config,
  now: Date,
): Promise<{ email: string; password: string } | undefined> {
  if (await anyUser(parts.db)) return undefined;
  const chosen = config.admin ?? {
    email: 'admin@localhost',
    password: randomBytes(15).toString('base64url'),
  };
  const passwordHash = await passwords.hash(chosen.password);
  const made = await systemChange(parts, now, async (change) => {
    const { tx } = change;
    // Two processes may start concurrently on an empty database: the lock lets one create the admin.
    await tx.selectFrom('roles').select('role_id').where('role_id', '=', 'super_admin').forUpdate().execute();
    if (await anyUser(tx)) return false;
    await insertUser(change, {
      email: chosen.email,
      name: 'Administrator',
      passwordHash,
      role: 'super_admin',
    });
    return true;
  });
  return made && !config.admin ? chosen : undefined;
}

async function anyUser(db: Db): Promise<boolean> {
  return (await db.selectFrom('users').select('user_id').limit(1).executeTakeFirst()) !== undefined;
}
