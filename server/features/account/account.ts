import { sql } from 'kysely';
import type { account as calls } from '../../../contract/account.ts';
import type { RouteAnswer } from '../../../contract/route.ts';
import { personOf, type Caller } from '../../caller.ts';
import type { Context } from '../../context.ts';
import type { Db, Tx } from '../../db/client.ts';
import { fail, type Failure } from '../../failure.ts';
import { refusePasswords } from '../../password-rules.ts';
import type { Secrets } from '../../secrets.ts';
import { writeAudit } from '../audit/audit.ts';
import {
  confirmSecondFactor,
  endOpenSession,
  endSessionsOf,
  enrollSecondFactor,
  listOpenSessions,
  proveApp,
  refuseCurrentPassword,
  type Guarded,
  removeSecondFactor,
  type FactorTools,
  type ProvenApp,
} from '../session/session.ts';

const sameMessage = 'This is the current password. Choose another.';
/** Whoever types what an administrator chose has not chosen their own. */
const sameAgain = fail('RULE_VIOLATED', sameMessage, {
  details: [{ path: 'newPassword', message: sameMessage }],
});

/** Checks what a person typed to change their password, and makes the new hash. */
export async function prepareNewPassword(
  guarded: Guarded,
  by: Caller,
  typed: { currentPassword: string; newPassword: string; confirmPassword: string },
): Promise<string | Failure> {
  const refusal =
    refusePasswords(typed, personOf(by).email) ??
    (await refuseCurrentPassword(guarded, by, typed.currentPassword)) ??
    (typed.newPassword === typed.currentPassword ? sameAgain : undefined);
  return refusal ?? guarded.passwords.hash(typed.newPassword);
}

/** Sets one's own password; the sessions elsewhere end. */
export async function changePassword(tx: Tx, by: Caller, passwordHash: string): Promise<undefined> {
  const { userId, sessionId, email } = personOf(by);
  await tx
    .updateTable('users')
    .set({ password_hash: passwordHash, password_is_own: true })
    .where('user_id', '=', userId)
    .execute();
  await endSessionsOf(tx, { userId, reason: 'password changed', now: by.now, except: sessionId });
  await writeAudit(tx, by, {
    event: 'user.password_changed',
    resourceType: 'user',
    resourceId: userId,
    summary: `${email} changed their password`,
  });
}

/** One's own open sessions. */
export function listOwnSessions({ db, config }: Pick<Context, 'db' | 'config'>, by: Caller) {
  const { userId, sessionId } = personOf(by);
  const since = new Date(by.now.getTime() - config.sessionIdleMs);
  return listOpenSessions(db, { userId, currentId: sessionId, since });
}

/** Ends one of one's own sessions. */
export async function endOwnSession(tx: Tx, by: Caller, sessionId: string): Promise<undefined | Failure> {
  const { userId, email } = personOf(by);
  const ended = await endOpenSession(tx, { userId, sessionId, reason: 'ended by the person', now: by.now });
  if (!ended) return fail('NOT_FOUND', 'There is no such open session.');
  await writeAudit(tx, by, {
    event: 'session.ended',
    resourceType: 'session',
    resourceId: sessionId,
    summary: `${email} ended a session`,
  });
  return undefined;
}

/** Ends all of one's own sessions but the one that asks. */
export async function endOtherSessions(tx: Tx, by: Caller): Promise<undefined> {
  const { userId, sessionId, email } = personOf(by);
  const ended = await endSessionsOf(tx, {
    userId,
    reason: 'ended by the person',
    now: by.now,
    except: sessionId,
  });
  await writeAudit(tx, by, {
    event: 'user.sessions_ended',
    resourceType: 'user',
    resourceId: userId,
    summary: `${email} ended ${ended} other ${ended === 1 ? 'session' : 'sessions'}`,
  });
}

/** Whether one has a second factor, how many recovery codes are left, and which role requires it. */
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

async function roleRequiringFactor(db: Db | Tx, roles: readonly string[]): Promise<string | undefined> {
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

/** Begins with a second factor; the current password was checked before. */
export const beginSecondFactor = (tx: Tx, secrets: Secrets, by: Caller) =>
  enrollSecondFactor(tx, secrets, personOf(by));

/** Proves the app, which nothing is written for yet. */
export const proveOwnApp = (tools: FactorTools, by: Caller, code: string) =>
  proveApp(tools, by, personOf(by).userId, code);

/** Sets the proven factor. What a required one held back is permitted from the next call on. */
export async function finishSecondFactor(tx: Tx, by: Caller, proven: ProvenApp) {
  return confirmSecondFactor(tx, by, personOf(by).userId, proven);
}

/** Back to the password alone, unless a role requires more. */
export async function dropSecondFactor(tx: Tx, by: Caller): Promise<undefined | Failure> {
  const { userId, roles } = personOf(by);
  const requiring = await roleRequiringFactor(tx, roles);
  if (requiring) return fail('RULE_VIOLATED', `The role ${requiring} requires a second factor.`);
  if (!(await removeSecondFactor(tx, by, userId))) return fail('WRONG_STATE', 'There is no second factor.');
  return undefined;
}
