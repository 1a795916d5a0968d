import { sql, type RawBuilder, type SqlBool } from 'kysely';
import type { OpenSession, User, users as calls } from '../../../contract/users.ts';
import type { RouteAnswer, RouteInput } from '../../../contract/route.ts';
import { staffOf, type Caller } from '../../caller.ts';
import type { Change } from '../../change.ts';
import { orTaken, type Db } from '../../db/client.ts';
import { contains, exists, laterThan } from '../../db/sql.ts';
import { editRecord, lockAllowed, unseenRefusal, type Editable } from '../../edit-record.ts';
import { fail, isFailure, type Failure } from '../../failure.ts';
import { refusePassword, refusePasswords } from '../../password-rules.ts';
import { isUsable } from '../api-keys/index.ts';
import {
  endOpenSession,
  endSessionsOf,
  isProven,
  listOpenSessions,
  removeSecondFactor,
  refuseUnproven,
  type Guarded,
} from '../session/index.ts';
import {
  refuseActingOn,
  refuseGrant,
  refuseLastSuperAdmin,
  refuseOwnEmail,
  refuseSelf,
  refuseUnprovenReturn,
  setRoles,
} from './grants.ts';
import { getUser, insertUser, lockUser, noUser, selectUsers, toUser, type NewUser } from './user-row.ts';

type UserPatch = Omit<RouteInput<typeof calls.update>['body'], 'currentPassword'>;

const taken = fail('ALREADY_EXISTS', 'There is a user with this email already.', {
  details: [{ path: 'email', message: 'Is in use already' }],
});

const ownPassword = 'Change your own password on your account page, which asks for the current one.';
const ownSecondFactor = 'Remove your own second factor on your account page, which asks for your password.';

/** All users by name, or those whose email or name contains the search. */
export async function listUsers(db: Db, search: string | undefined): Promise<User[]> {
  const rows = await selectUsers(db)
    .$call((q) => (search ? q.where(contains(sql`u.email || E'\n' || u.name`, search)) : q))
    .orderBy(sql`sort_key(u.name)`)
    .orderBy('u.email')
    .execute();
  return rows.map(toUser);
}

/** The dependents of a user: sessions `s` that are `open`, created API keys that work, and open requests, both `now`. */
export async function impactOfUser(
  db: Db,
  id: string,
  open: RawBuilder<SqlBool>,
  now: Date,
): Promise<RouteAnswer<typeof calls.impact> | Failure> {
  const { rows } = await sql<RouteAnswer<typeof calls.impact>>`
    select (select count(*) from sessions s
             where s.user_id = u.user_id and ${open}) as "openSessions",
           (select count(*) from api_keys k
             where k.created_by = u.user_id and ${isUsable(now)}) as "apiKeys",
           (select count(*) from change_requests q
             where q.requested_by = u.user_id and q.state = 'open' and q.expires_at > ${now}) as "openRequests"
      from users u where u.user_id = ${id}`.execute(db);
  return rows[0] ?? noUser;
}

/** Checks and hashes the password of a new user: before the transaction, so that argon2 does not hold a connection. */
export async function prepareUser(
  guarded: Guarded,
  by: Caller,
  { password, currentPassword, ...user }: RouteInput<typeof calls.create>['body'],
): Promise<{ user: NewUser; proven: boolean } | Failure> {
  const proven =
    refusePassword(password, user.email, 'password') ?? (await isProven(guarded, by, currentPassword));
  if (isFailure(proven)) return proven;
  return { user: { ...user, passwordHash: await guarded.passwords.hash(password) }, proven };
}

/** Creates a user with one role, with no more permissions than the caller's own. */
export async function createUser(change: Change, user: NewUser, proven: boolean): Promise<User | Failure> {
  const { tx, by } = change;
  const refusal = await refuseGrant(tx, by, user.role, { before: [], proven });
  return refusal ?? orTaken(insertUser(change, user), 'users_email', () => taken);
}

/** Changes email, name or role. A new role applies from the user's next call. */
export const updateUser = (
  change: Change,
  id: string,
  patch: UserPatch,
  { seen, proven }: { seen: string | undefined; proven: boolean },
): Promise<User | Failure> =>
  editRecord(change, editable, id, {
    event: 'user.updated',
    sent: patch,
    seen,
    check: async (before) =>
      refuseOwnEmail(change.by, before, patch.email, proven) ??
      (await refuseRole(change, before, patch.role, proven)),
    columns: patch,
  });

/** Deactivates a user: they cannot sign in, and open sessions end at their next call. */
export const deactivateUser = (change: Change, id: string): Promise<User | Failure> =>
  editRecord(change, editable, id, {
    event: 'user.deactivated',
    refuse: ({ status }) => (status === 'active' ? null : 'The user is not active.'),
    check: async (before) =>
      refuseSelf(change.by, before, 'You cannot deactivate yourself.') ??
      (await refuseLastSuperAdmin(change.tx, before)),
    columns: { status: 'inactive' },
  });

/** Lets a deactivated user sign in again. */
export const reactivateUser = (change: Change, id: string, proven: boolean): Promise<User | Failure> =>
  editRecord(change, editable, id, {
    event: 'user.reactivated',
    refuse: ({ status }) => (status === 'active' ? 'The user is active already.' : null),
    check: ({ roles }) => refuseUnprovenReturn(change.tx, roles, proven),
    columns: { status: 'active' },
  });

/** The user, locked, if it is as the caller was shown it: a colleague may have done the same a moment ago. */
const lockShown = (change: Change, id: string, seen: string | undefined) =>
  lockAllowed(change, editable, id, (before) => unseenRefusal('user', before, seen));

/** Permanently removes a user. Audit entries keep the name. `seen`: the version that the caller was shown. */
export async function deleteUser(change: Change, id: string, seen?: string): Promise<undefined | Failure> {
  const { tx, by } = change;
  const before = await lockShown(change, id, seen);
  if (isFailure(before)) return before;
  const refusal =
    refuseSelf(by, before, 'You cannot delete yourself.') ?? (await refuseLastSuperAdmin(tx, before));
  if (refusal) return refusal;
  await tx.deleteFrom('users').where('user_id', '=', id).execute();
  await change.announce('sessions');
  await change.audit('user.deleted', before, { before });
  return undefined;
}

/** Checks and hashes a new password for another user. */
export async function prepareReset(
  guarded: Guarded,
  by: Caller,
  id: string,
  typed: { newPassword: string; confirmPassword: string; currentPassword?: string | undefined },
): Promise<string | Failure> {
  const user = await guarded.db
    .selectFrom('users')
    .select('email')
    .where('user_id', '=', id)
    .executeTakeFirst();
  if (!user) return noUser;
  const refusal =
    refusePasswords(typed, user.email) ?? (await refuseUnproven(guarded, by, typed.currentPassword));
  return refusal ?? guarded.passwords.hash(typed.newPassword);
}

/**
 * Sets a new password, already hashed; every session of that user ends at its next call. `seen`: the version that the
 * caller was shown.
 */
export async function resetPassword(
  change: Change,
  id: string,
  passwordHash: string,
  seen?: string,
): Promise<User | Failure> {
  const before = await lockShown(change, id, seen);
  if (isFailure(before)) return before;
  const refusal = refuseSelf(change.by, before, ownPassword);
  if (refusal) return refusal;
  await change.tx
    .updateTable('users')
    .set({ password_hash: passwordHash, password_is_own: false, updated_at: laterThan(change.now) })
    .where('user_id', '=', id)
    .execute();
  await endSessionsOf(change, { userId: id, reason: 'password reset' });
  await change.audit('user.password_reset', before);
  return getUser(change.tx, id);
}

/** Removes a lost second factor of a user. `seen`: the version that the caller was shown. */
export async function resetSecondFactor(change: Change, id: string, seen?: string): Promise<User | Failure> {
  const before = await lockShown(change, id, seen);
  if (isFailure(before)) return before;
  const refusal = refuseSelf(change.by, before, ownSecondFactor);
  if (refusal) return refusal;
  if (!(await removeSecondFactor(change, before)))
    return fail('WRONG_STATE', 'The user has no second factor.');
  return getUser(change.tx, id);
}

/** Open sessions of a user; only a super admin may list those of others. */
export async function listSessionsOf(
  db: Db,
  by: Caller,
  id: string,
  open: RawBuilder<SqlBool>,
): Promise<OpenSession[] | Failure> {
  const refusal = refuseOthersSessions(by, id);
  if (refusal) return refusal;
  if (!(await exists(db.selectFrom('users').where('user_id', '=', id)))) return noUser;
  return listOpenSessions(db, { userId: id, currentId: staffOf(by)?.sessionId, open });
}

/** Ends a session of a user; only a super admin may end those of others. */
export async function endSessionOf(
  change: Change,
  id: string,
  sessionId: string,
): Promise<undefined | Failure> {
  const refusal = refuseOthersSessions(change.by, id);
  if (refusal) return refusal;
  const user = await lockUser(change.tx, id);
  if (isFailure(user)) return user;
  const isOwn = staffOf(change.by)?.userId === id;
  return endOpenSession(change, user, {
    sessionId,
    reason: isOwn ? 'ended by the user' : 'ended by an administrator',
  });
}

function refuseOthersSessions({ actor }: Caller, userId: string): Failure | undefined {
  const allowed = actor.kind === 'staff' && (actor.userId === userId || actor.roles.includes('super_admin'));
  return allowed
    ? undefined
    : fail('RULE_VIOLATED', 'Only a super admin sees and ends the sessions of others.');
}

const editable: Editable<User, UserPatch & { status?: User['status'] }> = {
  name: 'user',
  async lock({ tx, by }, id) {
    const user = await lockUser(tx, id);
    return isFailure(user) ? user : ((await refuseActingOn(tx, by, user)) ?? user);
  },
  async write(change, before, { email, name, status, role = before.role, updated_at }) {
    const { tx } = change;
    const { id } = before;
    const refusal = role === before.role ? undefined : await setRoles(change, before, [role]);
    if (refusal) return refusal;
    if (status === 'inactive') await endSessionsOf(change, { userId: id, reason: 'deactivated' });
    const written = await orTaken(
      tx.updateTable('users').set({ email, name, status, updated_at }).where('user_id', '=', id).execute(),
      'users_email',
      () => taken,
    );
    if (isFailure(written)) return written;
    await change.announce('sessions');
    return toUser(await selectUsers(tx).where('u.user_id', '=', id).executeTakeFirstOrThrow());
  },
};

async function refuseRole(
  { tx, by }: Change,
  user: User,
  role: string | undefined,
  proven: boolean,
): Promise<Failure | undefined> {
  if (role === undefined || role === user.role) return undefined;
  const grant = await refuseGrant(tx, by, role, { before: user.roles, proven });
  if (grant) return grant;
  return role === 'super_admin' ? undefined : refuseLastSuperAdmin(tx, user);
}
