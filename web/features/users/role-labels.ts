import { roleDescriptions, roleLabel, roleMatrix, roleNames } from '../../../contract/permissions.ts';
import type { Role } from '../../../contract/users.ts';

/** The role followed by its description. */
export const roleWithDescription = ({ name, description }: Pick<Role, 'name' | 'description'>): string =>
  description ? `${roleLabel(name)} – ${description}` : roleLabel(name);

/** Spec part 2, section 8: replaces the roles that cannot be loaded. */
export const fallbackRoles: Role[] = roleNames.map((name) => ({
  roleId: name,
  name,
  description: roleDescriptions[name],
  builtIn: true,
  requiresSecondFactor: false,
  permissions: [...roleMatrix[name]],
  userCount: 0,
  updatedAt: new Date(0).toISOString(),
}));
