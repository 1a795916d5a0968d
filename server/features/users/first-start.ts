import { randomBytes } from 'node:crypto';
import { roleDescriptions, roleMatrix, roleNames } from '../../../contract/permissions.ts';
import { systemChange, type ChangeParts } from '../../change.ts';
import type { Config } from '../../config.ts';
import type { Tx } from '../../db/client.ts';
import { exists } from '../../db/sql.ts';
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
 * `admin@localhost` with a random password. `tell` gets that password before the commit: what it cannot tell, or a crash,
 * leaves no user whose password nobody knows.
 */
export async function ensureFirstAdmin(
  parts: ChangeParts,
  passwords: Passwords,
  config: Pick<Config, 'admin'>,
  now: Date,
  tell: (made: { email: string; password: string }) => Promise<void>,
): Promise<void> {
  if (await exists(parts.db.selectFrom('users'))) return;
  const chosen = config.admin ?? {
    email: 'admin@localhost',
    password: randomBytes(15).toString('base64url'),
  };
  const passwordHash = await passwords.hash(chosen.password);
  await systemChange(parts, now, async (change) => {
    const { tx } = change;
    // Two processes may start concurrently on an empty database: the lock lets one create the admin.
    await tx.selectFrom('roles').select('role_id').where('role_id', '=', 'super_admin').forUpdate().execute();
    if (await exists(tx.selectFrom('users'))) return;
    await insertUser(change, {
      email: chosen.email,
      name: 'Administrator',
      passwordHash,
      role: 'super_admin',
    });
    if (!config.admin) await tell(chosen);
  });
}
