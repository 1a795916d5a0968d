import { sql } from 'kysely';
import { counted } from '../../../contract/text.ts';
import type { account as calls } from '../../../contract/account.ts';
import { hasPermission, permit } from '../../../contract/permissions.ts';
import type { RouteAnswer } from '../../../contract/route.ts';
import { screens, type Screen } from '../../../contract/screens.ts';
import { personOf, type Caller } from '../../caller.ts';
import type { Change } from '../../change.ts';
import type { Context } from '../../context.ts';
import type { Db } from '../../db/client.ts';
import { breaksRule, fail, isFailure, type Failure } from '../../failure.ts';
import { refusePasswords } from '../../password-rules.ts';
import {
  endOpenSession,
  endSessionsOf,
  isOpen,
  listOpenSessions,
  type Guarded,
  removeSecondFactor,
  verifyCurrentPassword,
  wrongPassword,
} from '../session/index.ts';

const sameMessage = 'This is the current password. Choose another.';
/** Repeating a password that an administrator chose does not count as choosing an own one. */
const sameAgain = fail('RULE_VIOLATED', sameMessage, {
  details: [{ path: 'newPassword', message: sameMessage }],
});

type NewPassword = { hash: string; verified: string };

/** Validates the input of a password change and computes the new hash; `verified`: the one that it replaces. */
export async function prepareNewPassword(
  guarded: Guarded,
  by: Caller,
  typed: { currentPassword: string; newPassword: string; confirmPassword: string },
): Promise<NewPassword | Failure> {
  const refusal = refusePasswords(typed, personOf(by).email);
  if (refusal) return refusal;
  const verified = await verifyCurrentPassword(guarded, by, typed.currentPassword);
  if (isFailure(verified)) return verified;
  if (await guarded.passwords.verify(verified, typed.newPassword)) return sameAgain;
  return { hash: await guarded.passwords.hash(typed.newPassword), verified };
}

/** Sets the caller's own password; all other sessions end. WRONG_CREDENTIALS if another change came first. */
export async function changePassword(
  change: Change,
  { hash, verified }: NewPassword,
): Promise<undefined | Failure> {
  const { userId, sessionId, email } = personOf(change.by);
  const { numUpdatedRows } = await change.tx
    .updateTable('users')
    .set({ password_hash: hash, password_is_own: true })
    .where('user_id', '=', userId)
    .where('password_hash', '=', verified)
    .executeTakeFirst();
  if (numUpdatedRows === 0n) return wrongPassword;
  await endSessionsOf(change, { userId, reason: 'password changed', except: sessionId });
  // what the remaining session may do can depend on an own password
  await change.announce('sessions');
  await change.audit('user.password_changed', { id: userId, email });
}

/** Sets the screen that `/` opens for the caller. RULE_VIOLATED if they may not read it. */
export async function setFirstScreen(
  change: Change,
  screen: Screen | null,
): Promise<{ firstScreen: Screen | null } | Failure> {
  const { userId: id, email, permissions, firstScreen: before } = personOf(change.by);
  const resource = screen && screens[screen];
  if (resource && !hasPermission(permissions, permit(resource, 'read')))
    return breaksRule('screen', `You may not open this screen: it needs ${resource}:read`);
  if (screen === before) return { firstScreen: screen };
  await change.tx.updateTable('users').set({ first_screen: screen }).where('user_id', '=', id).execute();
  await change.announce('sessions');
  await change.audit(
    'user.first_screen_chosen',
    { id, email },
    { what: screen ? `chose ${screen} as first screen` : 'chose the usual first screen' },
  );
  return { firstScreen: screen };
}

/** Lists the caller's own open sessions. */
export function listOwnSessions({ db, config }: Pick<Context, 'db' | 'config'>, by: Caller) {
  const { userId, sessionId } = personOf(by);
  return listOpenSessions(db, { userId, currentId: sessionId, open: isOpen(config, by.now) });
}

/** Ends one of the caller's own sessions. */
export function endOwnSession(change: Change, sessionId: string): Promise<undefined | Failure> {
  const { userId: id, email } = personOf(change.by);
  return endOpenSession(change, { id, email }, { sessionId, reason: 'ended by the user' });
}

/** Ends all of the caller's sessions except the current one. */
export async function endOtherSessions(change: Change): Promise<undefined> {
  const { userId, sessionId, email } = personOf(change.by);
  const ended = await endSessionsOf(change, { userId, reason: 'ended by the user', except: sessionId });
  const what = `ended ${counted(ended, 'other session')}`;
  await change.audit('user.sessions_ended', { id: userId, email }, { what });
}

/** Whether the caller has a second factor, how many recovery codes are left, and which role requires it. */
export async function ownSecondFactor(db: Db, by: Caller): Promise<RouteAnswer<typeof calls.secondFactor>> {
  const { userId, roles } = personOf(by);
  const { active, left } = await db
    .selectFrom('users')
    .select(sql<boolean>`totp_confirmed_at is not null`.as('active'))
    .select(sql<number>`(select count(*) from recovery_codes c where c.user_id = users.user_id)`.as('left'))
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow();
  return { active, recoveryCodesLeft: left, requiredBy: (await roleRequiringFactor(db, roles)) ?? null };
}

async function roleRequiringFactor(db: Db, roles: readonly string[]): Promise<string | undefined> {
  if (roles.length === 0) return undefined;
  const requiring = await db
    .selectFrom('roles')
    .select('role_id')
    .where('role_id', 'in', roles)
    .where('requires_second_factor', '=', true)
    .orderBy('role_id')
    .executeTakeFirst();
  return requiring?.role_id;
}

/** Removes the second factor, unless a role requires it. */
export async function dropSecondFactor(change: Change): Promise<undefined | Failure> {
  const { userId: id, email, roles } = personOf(change.by);
  const requiring = await roleRequiringFactor(change.tx, roles);
  if (requiring) return fail('RULE_VIOLATED', `The role ${requiring} requires a second factor.`);
  const removed = await removeSecondFactor(change, { id, email });
  return removed ? undefined : fail('WRONG_STATE', 'There is no second factor.');
}
