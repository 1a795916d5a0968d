import { v7 as uuidv7 } from 'uuid';
import type { User } from '../../../contract/users.ts';
import type { Change } from '../../change.ts';
import type { Db, Tx } from '../../db/client.ts';
import { noSuch, type Failure } from '../../failure.ts';
import { rolesOfUser } from '../session/index.ts';

/** Users with their roles, the source of every response about a user. */
export function selectUsers(db: Db) {
  return db
    .selectFrom('users as u')
    .select(['u.user_id', 'u.email', 'u.name', 'u.status', 'u.last_sign_in_at', 'u.totp_confirmed_at'])
    .select(['u.created_at', 'u.updated_at'])
    .select(rolesOfUser);
}

type UserRow = Awaited<ReturnType<ReturnType<typeof selectUsers>['executeTakeFirstOrThrow']>>;

export function toUser(row: UserRow): User {
  return {
    id: row.user_id,
    email: row.email,
    name: row.name,
    role: row.roles[0] ?? '',
    roles: row.roles,
    status: row.status,
    secondFactor: row.totp_confirmed_at !== null,
    lastSignInAt: row.last_sign_in_at?.toISOString() ?? null,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}

export const noUser = noSuch('user');

/** One user. */
export async function getUser(db: Db, userId: string): Promise<User | Failure> {
  const row = await selectUsers(db).where('u.user_id', '=', userId).executeTakeFirst();
  return row ? toUser(row) : noUser;
}

/** The user, locked until the transaction ends: by itself, since a query that waits reads the roles of before. */
export async function lockUser(tx: Tx, userId: string): Promise<User | Failure> {
  await tx.selectFrom('users').select('user_id').where('user_id', '=', userId).forUpdate().execute();
  return getUser(tx, userId);
}

export type NewUser = { email: string; name: string; passwordHash: string; role: string };

/** Inserts a user with one role and a temporary password, and the audit entry. The caller checks grants. */
export async function insertUser(change: Change, user: NewUser): Promise<User> {
  const { tx, now } = change;
  const userId = uuidv7();
  await tx
    .insertInto('users')
    .values({
      user_id: userId,
      email: user.email,
      name: user.name,
      password_hash: user.passwordHash,
      password_is_own: false,
      created_at: now,
      updated_at: now,
    })
    .execute();
  await tx.insertInto('user_roles').values({ user_id: userId, role_id: user.role }).execute();
  const made = toUser(await selectUsers(tx).where('u.user_id', '=', userId).executeTakeFirstOrThrow());
  await change.audit('user.created', made, { what: `created as ${user.role}`, after: made });
  return made;
}
