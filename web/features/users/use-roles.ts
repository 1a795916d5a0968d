import { useQuery } from '@tanstack/react-query';
import type { Role } from '../../../contract/users.ts';
import { useAuth } from '../../session.tsx';
import { fallbackRoles } from './role-labels.ts';
import type { Me } from './user-can.ts';
import { rolesQuery } from './queries.ts';

/** All roles; the seven of the spec while they are loading or cannot be loaded. */
export const useRoles = (): Role[] => useQuery(rolesQuery).data ?? fallbackRoles;

/** The signed-in user, for the rules of `user-can.ts`. */
export function useMe(): Me {
  const { user, hasRole, hasPermission } = useAuth();
  return {
    userId: user?.userId ?? '',
    isSuperAdmin: hasRole('super_admin'),
    holds: ({ resource, action }) => hasPermission(resource, action),
  };
}
