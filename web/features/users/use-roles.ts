import { useQuery } from '@tanstack/react-query';
import type { Role } from '../../../contract/users.ts';
import { useAuth } from '../../session.tsx';
import { fallbackRoles } from './role-labels.ts';
import type { Me } from './user-can.ts';
import { rolesQuery } from './queries.ts';

/** All roles; the seven of the spec until they are loaded, and where they cannot be. */
export const useRoles = (): Role[] => useQuery(rolesQuery).data ?? fallbackRoles;

/** The person who looks, for the rules of `user-can.ts`. */
export function useMe(): Me {
  const { user, hasRole, hasPermission } = useAuth();
  return {
    userId: user?.userId ?? '',
    isSuperAdmin: hasRole('super_admin'),
    holds: ({ resource, action }) => hasPermission(resource, action),
  };
}
