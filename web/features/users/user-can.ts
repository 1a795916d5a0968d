import type { Permission } from '../../../contract/permissions.ts';
import type { Role, User } from '../../../contract/users.ts';

/** The person who looks, as far as the rules ask. */
export type Me = { userId: string; isSuperAdmin: boolean; holds: (permission: Permission) => boolean };

/** Nobody grants more than they hold: why a role cannot be given. The server decides. */
export function whyNotGrant(me: Me, role: Pick<Role, 'roleId' | 'permissions'>): string | null {
  if (role.roleId === 'super_admin' && !me.isSuperAdmin) return 'Only a super admin can grant this role';
  const missing = role.permissions.find((permission) => !me.holds(permission));
  return missing ? `You lack ${missing.resource}:${missing.action} yourself` : null;
}

/** Why a user cannot be changed at all: they may do more than the person who looks. */
export function whyNotChange(me: Me, user: User, roles: readonly Role[]): string | null {
  const beyond = user.roles.some((name) => {
    const role = roles.find(({ roleId }) => roleId === name);
    return role ? whyNotGrant(me, role) !== null : false;
  });
  return beyond ? `${user.email} may do more than you, so you cannot change this user.` : null;
}

/** Nobody removes or deactivates themself. */
export const whyNotRemove = (me: Me, user: User, what: string): string | null =>
  me.userId === user.id ? `You cannot ${what} yourself.` : null;
