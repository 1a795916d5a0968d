import { permissionName, type Permission } from '../../../contract/permissions.ts';
import type { Role, User } from '../../../contract/users.ts';

/** The fields of the signed-in user that the rules need. */
export type Me = { userId: string; isSuperAdmin: boolean; holds: (permission: Permission) => boolean };

/**
 * Why a role cannot be granted, to a user or at all: users cannot grant permissions that they lack, nor make a service
 * account of themselves. The server decides.
 */
export function whyNotGrant(
  me: Me,
  role: Pick<Role, 'roleId' | 'permissions'>,
  userId?: string,
): string | null {
  if (role.roleId === 'service_account' && userId === me.userId)
    return 'You cannot make yourself a service account';
  if (role.roleId === 'super_admin' && !me.isSuperAdmin) return 'Only a super admin can grant this role';
  const missing = role.permissions.find((permission) => !me.holds(permission));
  return missing ? `You lack ${permissionName(missing)} yourself` : null;
}

/** Why a user cannot be changed at all: they have permissions that the signed-in user lacks. */
export function whyNotChange(me: Me, user: User, roles: readonly Role[]): string | null {
  const beyond = user.roles.some((name) => {
    const role = roles.find(({ roleId }) => roleId === name);
    return role ? whyNotGrant(me, role) !== null : false;
  });
  return beyond ? `${user.email} may do more than you, so you cannot change this user.` : null;
}

/** Users cannot delete or deactivate themselves. */
export const whyNotRemove = (me: Me, user: User, what: string): string | null =>
  me.userId === user.id ? `You cannot ${what} yourself.` : null;
