import { hasPermission, needsProof, permissionName, type Permission } from '../../../contract/permissions.ts';
import type { User } from '../../../contract/users.ts';
import type { Caller } from '../../caller.ts';
import type { Change } from '../../change.ts';
import type { Tx } from '../../db/client.ts';
import { exists } from '../../db/sql.ts';
import { breaksRule, fail, type Failure } from '../../failure.ts';
import { endSessionsOf, isServiceAccount, unproven } from '../session/index.ts';

/** The combined permissions of a set of roles; undefined for a role that does not exist. */
async function permissionsOf(tx: Tx, roles: string[]): Promise<Permission[] | undefined> {
  if (roles.length === 0) return [];
  const known = await tx.selectFrom('roles').select('role_id').where('role_id', 'in', roles).execute();
  if (known.length < new Set(roles).size) return undefined;
  return tx
    .selectFrom('role_permissions')
    .select(['resource', 'action'])
    .where('role_id', 'in', roles)
    .execute();
}

/** Whether the caller holds a permission; Lanyard itself holds all. */
const holds = ({ actor }: Caller, permission: Permission): boolean =>
  actor.kind === 'system' || (actor.kind === 'staff' && hasPermission(actor.permissions, permission));

/** The first of these permissions that the caller does not hold. */
export const beyond = (by: Caller, permissions: readonly Permission[]): Permission | undefined =>
  permissions.find((permission) => !holds(by, permission));

/** Lets the roles neither change nor be deleted until the transaction ends. */
const holdRoles = (tx: Tx, roles: string[]) =>
  tx
    .selectFrom('roles')
    .select('role_id')
    .where('role_id', 'in', roles)
    .orderBy('role_id')
    .forShare()
    .execute();

/**
 * Refuses a role with more permissions than the caller's, super_admin to all others, and one that does not exist. The
 * role cannot change or be deleted until the transaction ends.
 */
export async function refuseGrant(
  tx: Tx,
  by: Caller,
  role: string,
  { before, proven }: Grant,
): Promise<Failure | undefined> {
  const superAdmin = refuseSuperAdmin(by, role);
  if (superAdmin) return superAdmin;
  await holdRoles(tx, [role]);
  const granted = await permissionsOf(tx, [role]);
  if (!granted) return breaksRule('role', `There is no role ${role}`);
  const missing = beyond(by, granted);
  if (missing)
    return breaksRule('role', `You cannot grant ${role}: you lack ${permissionName(missing)} yourself`);
  return refuseUnprovenGrant((await permissionsOf(tx, [...before])) ?? [], granted, proven);
}

/** Who is granted a role, and by whom. */
type Grant = {
  /** The roles of the user so far. */
  before: readonly string[];
  /** The caller proved to be the user, which some grants need. */
  proven: boolean;
};

/**
 * Refuses a grant that needs proof and has none: a stolen session would make a super admin, or a second person, of its
 * own and sign in as that one, which counts as proof.
 */
export const refuseUnprovenGrant = (
  before: readonly Permission[],
  after: readonly Permission[],
  proven: boolean,
): Failure | undefined => (!proven && needsProof(before, after) ? unproven : undefined);

/** Refuses to let a user with such roles sign in again without proof: they have a password, and may be the thief. */
export async function refuseUnprovenReturn(
  tx: Tx,
  roles: string[],
  proven: boolean,
): Promise<Failure | undefined> {
  if (roles.length > 0) await holdRoles(tx, roles);
  return refuseUnprovenGrant([], (await permissionsOf(tx, roles)) ?? [], proven);
}

/**
 * Refuses to change a user with more permissions than the caller, who could otherwise take over the account with a new
 * password or email. Super admins are always protected, whatever their matrix says.
 */
export async function refuseActingOn(tx: Tx, by: Caller, user: User): Promise<Failure | undefined> {
  const held = (await permissionsOf(tx, user.roles)) ?? [];
  const missing = beyond(by, held);
  const superior = user.roles.includes('super_admin') && !isSuperAdmin(by);
  return missing || superior
    ? fail('RULE_VIOLATED', `${user.email} may do more than you, so you cannot change this user.`)
    : undefined;
}

const isSuperAdmin = ({ actor }: Caller) =>
  actor.kind === 'system' || (actor.kind === 'staff' && actor.roles.includes('super_admin'));

/** Refuses the super admin role unless the caller is a super admin. */
export function refuseSuperAdmin(by: Caller, role: string): Failure | undefined {
  return role === 'super_admin' && !isSuperAdmin(by)
    ? breaksRule('role', 'Only a super admin can grant super_admin')
    : undefined;
}

/**
 * Refuses to remove, deactivate or demote the last active super admin. Locks the role's row, so that two super admins
 * cannot remove each other concurrently.
 */
export async function refuseLastSuperAdmin(tx: Tx, user: User): Promise<Failure | undefined> {
  if (!user.roles.includes('super_admin')) return undefined;
  await tx.selectFrom('roles').select('role_id').where('role_id', '=', 'super_admin').forUpdate().execute();
  const others = tx
    .selectFrom('user_roles as r')
    .innerJoin('users as u', 'u.user_id', 'r.user_id')
    .where('r.role_id', '=', 'super_admin')
    .where('u.status', '=', 'active')
    .where('u.user_id', '<>', user.id);
  return (await exists(others))
    ? undefined
    : fail('RULE_VIOLATED', 'This is the last super admin. Make another one first.');
}

/**
 * Refuses removing, deactivating or resetting oneself: without the current password, a stolen session could lock out
 * its owner. The account page asks for it.
 */
export const refuseSelf = (by: Caller, user: User, message: string): Failure | undefined =>
  isSelf(by, user) ? fail('RULE_VIOLATED', message) : undefined;

const isSelf = ({ actor }: Caller, user: User) => actor.kind === 'staff' && actor.userId === user.id;

/** Refuses another email for oneself without proof: its owner could not sign in anymore. */
export const refuseOwnEmail = (
  by: Caller,
  user: User,
  email: string | undefined,
  proven: boolean,
): Failure | undefined =>
  !proven && email !== undefined && email !== user.email && isSelf(by, user) ? unproven : undefined;

/**
 * Sets the roles of a user, whose sessions end where nothing but API keys is left to them: they could not sign in again.
 * So nobody may do that to themselves.
 */
export async function setRoles(change: Change, user: User, roles: string[]): Promise<Failure | undefined> {
  const { tx, by } = change;
  if (isServiceAccount({ roles })) {
    const refusal = refuseSelf(by, user, 'You cannot make yourself a service account.');
    if (refusal) return refusal;
    await endSessionsOf(change, { userId: user.id, reason: 'made a service account' });
  }
  await tx.deleteFrom('user_roles').where('user_id', '=', user.id).execute();
  if (roles.length > 0)
    await tx
      .insertInto('user_roles')
      .values(roles.map((role_id) => ({ user_id: user.id, role_id })))
      .execute();
  return undefined;
}
