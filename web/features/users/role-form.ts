import {
  permissionName,
  permit,
  resourceActions,
  resources,
  roleLabel,
  type Permission,
  type Resource,
} from '../../../contract/permissions.ts';
import type { Role } from '../../../contract/users.ts';
import type { Me } from './user-can.ts';

/** The editable part of a role. A cell is the name of a permission. */
export type RoleValues = { description: string; requiresSecondFactor: boolean; cells: ReadonlySet<string> };

export const cellsOf = (permissions: readonly Permission[]): ReadonlySet<string> =>
  new Set(permissions.map(permissionName));

export const resourceLabel = (resource: Resource): string =>
  resource === 'api_keys' ? 'API Keys' : roleLabel(resource);

/** `Licenses: update`, the label of a cell. */
export const cellLabel = ({ resource, action }: Permission): string =>
  `${resourceLabel(resource)}: ${action}`;

export const valuesOf = (role: Role): RoleValues => ({
  description: role.description,
  requiresSecondFactor: role.requiresSecondFactor,
  cells: cellsOf(role.permissions),
});

/** The permissions of the selected cells, in the order of the matrix. */
export const permissionsOf = (cells: ReadonlySet<string>): Permission[] =>
  resources.flatMap((resource) =>
    resourceActions[resource]
      .map((action) => permit(resource, action))
      .filter((permission) => cells.has(permissionName(permission))),
  );

export const payloadOf = ({ description, requiresSecondFactor, cells }: RoleValues) => ({
  description,
  requiresSecondFactor,
  permissions: permissionsOf(cells),
});

export function withCell(values: RoleValues, cell: string, on: boolean): RoleValues {
  const cells = new Set(values.cells);
  if (on) cells.add(cell);
  else cells.delete(cell);
  return { ...values, cells };
}

export function isChanged(role: Role, values: RoleValues): boolean {
  const before = valuesOf(role);
  return (
    values.description.trim() !== before.description ||
    values.requiresSecondFactor !== before.requiresSecondFactor ||
    !sameCells(before.cells, values.cells)
  );
}

/** Why a role cannot be edited at all. */
export function whyNotEdit(me: Me, role: Role, mayUpdate: boolean): string | null {
  if (!mayUpdate) return 'You lack the permission users:update.';
  if (role.roleId === 'super_admin' && !me.isSuperAdmin) return 'Only a super admin changes this role.';
  const missing = role.permissions.find((permission) => !me.holds(permission));
  return missing
    ? `${roleLabel(role.name)} may do more than you: you lack ${permissionName(missing)} yourself.`
    : null;
}

/**
 * Why one cell cannot be changed: super_admin holds every permission, and users cannot change permissions that they
 * lack.
 */
export function whyNotCell(me: Me, role: Role, permission: Permission): string | null {
  if (role.roleId === 'super_admin') return 'super_admin holds everything and cannot be changed';
  return me.holds(permission) ? null : `You lack ${permissionName(permission)} yourself`;
}

const sameCells = (one: ReadonlySet<string>, other: ReadonlySet<string>): boolean =>
  one.size === other.size && [...one].every((cell) => other.has(cell));
