import { hasPermission, type Permission } from '../../../contract/permissions.ts';
import type { User } from '../../../contract/users.ts';
import type { Caller } from '../../caller.ts';
import type { Tx } from '../../db/client.ts';
import { breaksRule, fail, type Failure } from '../../failure.ts';

/** What a set of roles may do together; undefined for a role that does not exist. */
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

/** What the caller holds; Lanyard itself holds everything. */
const holds = ({ actor }: Caller, { resource, action }: Permission): boolean =>
  actor.kind === 'system' || (actor.kind === 'staff' && hasPermission(actor.permissions, resource, action));

/** The first of these permissions that the caller does not hold. */
export const beyond = (by: Caller, permissions: readonly Permission[]): Permission | undefined =>
  permissions.find((permission) => !holds(by, permission));

/** Nobody grants more than they hold. Also refuses a role that does not exist. */
export async function refuseGrant(tx: Tx, by: Caller, role: string): Promise<Failure | undefined> {
  const granted = await permissionsOf(tx, [role]);
  if (!granted) return breaksRule('role', `There is no role ${role}`);
  const missing = beyond(by, granted);
  return (
    missing &&
    breaksRule('role', `You cannot grant ${role}: you lack ${missing.resource}:${missing.action} yourself`)
  );
}

/**
 * A person who may do more than the caller cannot be changed by the caller: otherwise a new password or email
 * would be a way to more rights. The same holds for super admins, whatever their matrix says.
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

/** Only a super admin makes a super admin. */
export function refuseSuperAdmin(by: Caller, role: string): Failure | undefined {
  return role === 'super_admin' && !isSuperAdmin(by)
    ? breaksRule('role', 'Only a super admin can grant super_admin')
    : undefined;
}

/**
 * The last active super admin can be neither removed, deactivated nor demoted. The role's row is locked, so that
 * two super admins cannot remove each other at the same moment.
 */
export async function refuseLastSuperAdmin(tx: Tx, user: User): Promise<Failure | undefined> {
  if (!user.roles.includes('super_admin')) return undefined;
  await tx.selectFrom('roles').select('role_id').where('role_id', '=', 'super_admin').forUpdate().execute();
  const other = await tx
    .selectFrom('user_roles as r')
    .innerJoin('users as u', 'u.user_id', 'r.user_id')
    .select('u.user_id')
    .where('r.role_id', '=', 'super_admin')
    .where('u.status', '=', 'active')
    .where('u.user_id', '<>', user.id)
    .limit(1)
    .executeTakeFirst();
  return other ? undefined : fail('RULE_VIOLATED', 'This is the last super admin. Make another one first.');
}

/**
 * Nobody removes, deactivates or resets themself here. Without the current password, a stolen session could lock out
 * whom it was stolen from; the account page asks for it.
 */
export const refuseSelf = ({ actor }: Caller, user: User, message: string): Failure | undefined =>
  actor.kind === 'staff' && actor.userId === user.id ? fail('RULE_VIOLATED', message) : undefined;
