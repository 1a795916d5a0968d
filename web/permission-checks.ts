import {
  hasPermission as isHeld,
  lackedOf,
  permit,
  type Action,
  type Permission,
  type Resource,
} from '../contract/permissions.ts';
import type { Access } from '../contract/route.ts';
import type { StoredSession } from './session-store.ts';

type Pair = readonly [resource: Resource, action: Action];
type Rights = Pick<StoredSession, 'permissions' | 'roles'>;

/** The checks of spec part 1, section 6, for one user's permissions. */
export function permissionChecks({ permissions, roles }: Rights) {
  const hasPermission = (resource: Resource, action: Action) => isHeld(permissions, permit(resource, action));
  const hasRole = (name: string) => roles.some((role) => role.name === name);
  return {
    permissions,
    hasPermission,
    hasRole,
    hasAnyRole: (names: readonly string[]) => names.some(hasRole),
    hasAllRoles: (names: readonly string[]) => names.every(hasRole),
    hasAnyPermission: (pairs: readonly Pair[]) => pairs.some(([r, a]) => hasPermission(r, a)),
    hasAllPermissions: (pairs: readonly Pair[]) => pairs.every(([r, a]) => hasPermission(r, a)),
    can: namedChecks(hasPermission),
  };
}

/** Names the permission of a call that `held` lacks; undefined where the call is allowed. */
export function lackedBy(held: readonly Permission[], access: Access): string | undefined {
  return access.kind === 'staff' ? lackedOf(held, access.needs)[0] : undefined;
}

/** Whether a permission of `before` is gone. */
export const hasLost = (before: readonly Permission[], now: readonly Permission[]): boolean =>
  before.some((permission) => !isHeld(now, permission));

function namedChecks(has: (resource: Resource, action: Action) => boolean) {
  return {
    viewUsers: has('users', 'read'),
    createUsers: has('users', 'create'),
    updateUsers: has('users', 'update'),
    deleteUsers: has('users', 'delete'),
    viewLicenses: has('licenses', 'read'),
    createLicenses: has('licenses', 'create'),
    updateLicenses: has('licenses', 'update'),
    deleteLicenses: has('licenses', 'delete'),
    viewCustomers: has('customers', 'read'),
    createCustomers: has('customers', 'create'),
    updateCustomers: has('customers', 'update'),
    deleteCustomers: has('customers', 'delete'),
    viewReleases: has('releases', 'read'),
    createReleases: has('releases', 'create'),
    updateReleases: has('releases', 'update'),
    deleteReleases: has('releases', 'delete'),
    viewApiKeys: has('api_keys', 'read'),
    createApiKeys: has('api_keys', 'create'),
    updateApiKeys: has('api_keys', 'update'),
    deleteApiKeys: has('api_keys', 'delete'),
    viewAudit: has('audit', 'read'),
    exportAudit: has('audit', 'export'),
    viewAnalytics: has('analytics', 'read'),
    exportAnalytics: has('analytics', 'export'),
    updatePolicies: has('rollouts', 'update'),
    manageRollouts: has('rollouts', 'create') || has('rollouts', 'update'),
  };
}
