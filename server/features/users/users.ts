import { sql } from 'kysely';
import type { OpenSession, User, users as calls } from '../../../contract/users.ts';
import type { RouteAnswer, RouteInput } from '../../../contract/route.ts';
import type { Caller } from '../../caller.ts';
import type { Db, Tx } from '../../db/client.ts';
import { violatesUnique } from '../../db/client.ts';
import { announce } from '../../db/signals.ts';
import { contains, nextVersion } from '../../db/sql.ts';
import { editConflict } from '../../edit-conflict.ts';
import { fail, isFailure, type Failure } from '../../failure.ts';
import { refusePasswords } from '../../password-rules.ts';
import { changeSummary, writeAudit } from '../audit/audit.ts';
import {
  endOpenSession,
  endSessionsOf,
  listOpenSessions,
  removeSecondFactor,
  refuseUnproven,
  type Guarded,
} from '../session/session.ts';
import { refuseActingOn, refuseGrant, refuseLastSuperAdmin, refuseSelf, refuseSuperAdmin } from './grants.ts';
import { insertUser, lockUser, selectUsers, toUser, type NewUser } from './user-row.ts';

export { ensureFirstAdmin, seedRoles } from './first-start.ts';
export { insertUser } from './user-row.ts';

type UserPatch = Omit<RouteInput<typeof calls.update>['body'], 'updatedAt'>;

const notFound = fail('NOT_FOUND', 'There is no such user.');
const taken = fail('ALREADY_EXISTS', 'There is a user with this email already.', {
  details: [{ path: 'email', message: 'Is in use already' }],
});

const ownPassword = 'Change your own password on your account page, which asks for the current one.';
const ownSecondFactor = 'Remove your own second factor on your account page, which asks for your password.';

/** All users by name, or those whose email or name contains the search. */
export async function listUsers(db: Db, search: string | undefined): Promise<User[]> {
  const rows = await selectUsers(db)
    .$if(Boolean(search), (q) => q.where(contains(sql`u.email || E'\n' || u.name`, search!)))
    .orderBy(sql`lower(u.name)`)
    .orderBy('u.email')
    .execute();
  return rows.map(toUser);
}

/** What hangs on a user: sessions that were seen after `since` and have not ended, and API keys made. */
export async function impactOfUser(
  db: Db,
  id: string,
  since: Date,
): Promise<RouteAnswer<typeof calls.impact> | Failure> {
  const row = await db
    .selectFrom('users as u')
    .where('u.user_id', '=', id)
    .select((eb) => [
      eb
        .selectFrom('sessions as s')
        .whereRef('s.user_id', '=', 'u.user_id')
        .where('s.ended_at', 'is', null)
        .where('s.last_seen_at', '>', since)
        .select(eb.fn.countAll<number>().as('count'))
        .as('openSessions'),
      eb
        .selectFrom('api_keys as k')
        .whereRef('k.created_by', '=', 'u.user_id')
        .where('k.revoked_at', 'is', null)
        .select(eb.fn.countAll<number>().as('count'))
        .as('apiKeys'),
    ])
    .executeTakeFirst();
  return row ? { openSessions: row.openSessions ?? 0, apiKeys: row.apiKeys ?? 0 } : notFound;
}

/** Creates a user with one role, which may not reach beyond the caller's own rights. */
export async function createUser(tx: Tx, by: Caller, user: NewUser): Promise<User | Failure> {
  const refusal = refuseSuperAdmin(by, user.role) ?? (await refuseGrant(tx, by, user.role));
  if (refusal) return refusal;
  return orTaken(insertUser(tx, by, user));
}

/** Changes email, name or role. A new role acts on the next call of that person. */
export async function updateUser(
  tx: Tx,
  by: Caller,
  id: string,
  { email, name, role }: UserPatch,
  seen: string | undefined,
): Promise<User | Failure> {
  const before = await lockOther(tx, by, id);
  if (isFailure(before)) return before;
  const conflict = editConflict('user', before, { email, name, role }, seen);
  if (conflict) return conflict;
  if (role !== undefined && role !== before.role) {
    const refusal = await refuseRole(tx, by, before, role);
    if (refusal) return refusal;
    await tx.deleteFrom('user_roles').where('user_id', '=', id).execute();
    await tx.insertInto('user_roles').values({ user_id: id, role_id: role }).execute();
  }
  return orTaken(write(tx, by, before, { email, name }, { event: 'user.updated', summary: changeSummary }));
}

/** Deactivates a user: no sign-in, and open sessions end with their next call. */
export async function deactivateUser(tx: Tx, by: Caller, id: string): Promise<User | Failure> {
  const before = await lockOther(tx, by, id);
  if (isFailure(before)) return before;
  if (before.status !== 'active') return fail('WRONG_STATE', 'The user is not active.');
  const refusal =
    refuseSelf(by, before, 'You cannot deactivate yourself.') ?? (await refuseLastSuperAdmin(tx, before));
  if (refusal) return refusal;
  await endSessionsOf(tx, { userId: id, reason: 'deactivated', now: by.now });
  return write(
    tx,
    by,
    before,
    { status: 'inactive' },
    { event: 'user.deactivated', summary: () => `Deactivated ${before.email}` },
  );
}

/** Lets a deactivated user sign in again. */
export async function reactivateUser(tx: Tx, by: Caller, id: string): Promise<User | Failure> {
  const before = await lockOther(tx, by, id);
  if (isFailure(before)) return before;
  if (before.status === 'active') return fail('WRONG_STATE', 'The user is active already.');
  return write(
    tx,
    by,
    before,
    { status: 'active' },
    { event: 'user.reactivated', summary: () => `Reactivated ${before.email}` },
  );
}

/** Removes a user for good. Audit entries keep the name. */
export async function deleteUser(tx: Tx, by: Caller, id: string): Promise<undefined | Failure> {
  const before = await lockOther(tx, by, id);
  if (isFailure(before)) return before;
  const refusal =
    refuseSelf(by, before, 'You cannot delete yourself.') ?? (await refuseLastSuperAdmin(tx, before));
  if (refusal) return refusal;
  await tx.deleteFrom('users').where('user_id', '=', id).execute();
  await announce(tx, 'sessions');
  await audit(tx, by, 'user.deleted', before, { summary: `Permanently deleted ${before.email}`, before });
  return undefined;
}

/** Checks what was typed as someone's new password, and makes the hash. */
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
  if (!user) return notFound;
  const refusal =
    refusePasswords(typed, user.email) ?? (await refuseUnproven(guarded, by, typed.currentPassword));
  return refusal ?? guarded.passwords.hash(typed.newPassword);
}

/** Sets a new password, already hashed; every session of that person ends with its next call. */
export async function resetPassword(
  tx: Tx,
  by: Caller,
  id: string,
  passwordHash: string,
): Promise<undefined | Failure> {
  const before = await lockOther(tx, by, id);
  if (isFailure(before)) return before;
  const refusal = refuseSelf(by, before, ownPassword);
  if (refusal) return refusal;
  await tx
    .updateTable('users')
    .set({ password_hash: passwordHash, password_is_own: false })
    .where('user_id', '=', id)
    .execute();
  await endSessionsOf(tx, { userId: id, reason: 'password reset', now: by.now });
  await audit(tx, by, 'user.password_reset', before, { summary: `Reset the password of ${before.email}` });
  return undefined;
}

/** Takes a lost second factor off a user. */
export async function resetSecondFactor(tx: Tx, by: Caller, id: string): Promise<User | Failure> {
  const before = await lockOther(tx, by, id);
  if (isFailure(before)) return before;
  const refusal = refuseSelf(by, before, ownSecondFactor);
  if (refusal) return refusal;
  if (!(await removeSecondFactor(tx, by, id))) return fail('WRONG_STATE', 'The user has no second factor.');
  return { ...before, secondFactor: false };
}

/** Open sessions of a user; those of others are for a super admin. */
export async function listSessionsOf(
  db: Db,
  by: Caller,
  id: string,
  since: Date,
): Promise<OpenSession[] | Failure> {
  const refusal = refuseOthersSessions(by, id);
  if (refusal) return refusal;
  const user = await db.selectFrom('users').select('user_id').where('user_id', '=', id).executeTakeFirst();
  if (!user) return notFound;
  const currentId = by.actor.kind === 'staff' ? by.actor.sessionId : undefined;
  return listOpenSessions(db, { userId: id, currentId, since });
}

/** Ends a session of a user; those of others are for a super admin. */
export async function endSessionOf(
  tx: Tx,
  by: Caller,
  id: string,
  sessionId: string,
): Promise<undefined | Failure> {
  const refusal = refuseOthersSessions(by, id);
  if (refusal) return refusal;
  const user = await lockUser(tx, id);
  if (!user) return notFound;
  const ended = await endOpenSession(tx, {
    userId: id,
    sessionId,
    reason: 'ended by an administrator',
    now: by.now,
  });
  if (!ended) return fail('NOT_FOUND', 'There is no such open session.');
  await audit(tx, by, 'session.ended', user, { summary: `Ended a session of ${user.email}` });
  return undefined;
}

function refuseOthersSessions({ actor }: Caller, userId: string): Failure | undefined {
  const allowed = actor.kind === 'staff' && (actor.userId === userId || actor.roles.includes('super_admin'));
  return allowed
    ? undefined
    : fail('RULE_VIOLATED', 'Only a super admin sees and ends the sessions of others.');
}

/** The user, locked, when the caller may change them at all. */
async function lockOther(tx: Tx, by: Caller, id: string): Promise<User | Failure> {
  const user = await lockUser(tx, id);
  if (!user) return notFound;
  return (await refuseActingOn(tx, by, user)) ?? user;
}

async function refuseRole(tx: Tx, by: Caller, user: User, role: string): Promise<Failure | undefined> {
  const grant = refuseSuperAdmin(by, role) ?? (await refuseGrant(tx, by, role));
  if (grant) return grant;
  return role === 'super_admin' ? undefined : refuseLastSuperAdmin(tx, user);
}

async function write(
  tx: Tx,
  by: Caller,
  before: User,
  set: { email?: string | undefined; name?: string | undefined; status?: User['status'] },
  { event, summary }: { event: string; summary: (before: User, after: User) => string },
): Promise<User> {
  await tx
    .updateTable('users')
    .set({ ...set, updated_at: nextVersion(new Date(before.updatedAt), by.now) })
    .where('user_id', '=', before.id)
    .execute();
  await announce(tx, 'sessions');
  const after = toUser(await selectUsers(tx).where('u.user_id', '=', before.id).executeTakeFirstOrThrow());
  await audit(tx, by, event, after, { summary: summary(before, after), before, after });
  return after;
}

async function orTaken(writing: Promise<User>): Promise<User | Failure> {
  try {
    return await writing;
  } catch (error) {
    if (violatesUnique(error, 'users_email')) return taken;
    throw error;
  }
}

function audit(
  tx: Tx,
  by: Caller,
  event: string,
  { id }: User,
  what: { summary: string; before?: object; after?: object },
) {
  return writeAudit(tx, by, { event, resourceType: 'user', resourceId: id, ...what });
}
