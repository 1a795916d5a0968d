import { keepPreviousData } from '@tanstack/react-query';
import type { RouteRequest } from '../../../contract/route.ts';
import { rbac, users, type User } from '../../../contract/users.ts';
import { call } from '../../api.ts';
import { alwaysFresh, askedOnce } from '../../query-client.ts';
import { queryOf } from '../../query-of.ts';

/** All users, or those whose email or name contains the search. */
export const usersQuery = (search: string | undefined) =>
  queryOf(users.list, { query: { search } }, { placeholderData: keepPreviousData });

/** The users whose email or name contains the search, always refetched. */
export const findUsers = (search: string | undefined, signal: AbortSignal) =>
  call(users.list, { query: { search } }, { signal });

export const userQuery = (id: string) => queryOf(users.get, { params: { id } }, alwaysFresh);

/** Spec part 2, section 9. */
const rolesKeptFor = 10 * 60_000;

/** Not retried: the seven roles of the spec replace them immediately. */
export const rolesQuery = queryOf(
  rbac.roles,
  {},
  { staleTime: rolesKeptFor, gcTime: rolesKeptFor, retry: false },
);

export const userSessionsQuery = (id: string) => queryOf(users.sessions, { params: { id } });

/** What depends on a user: open sessions, and API keys that they created. */
export const userImpactQuery = (id: string) => queryOf(users.impact, { params: { id } }, askedOnce);

export const roleImpactQuery = (roleId: string) =>
  queryOf(rbac.roleImpact, { params: { roleId } }, askedOnce);

export type NewUser = RouteRequest<typeof users.create>['body'];
type UserPatch = RouteRequest<typeof users.update>['body'];
type Passwords = RouteRequest<typeof users.resetPassword>['body'];
type RoleInput = RouteRequest<typeof rbac.updateRole>['body'];

export const createUser = (body: NewUser) => call(users.create, { body });
export const updateUser = (id: string, body: UserPatch) => call(users.update, { params: { id }, body });
export const deactivateUser = ({ id }: User) => call(users.deactivate, { params: { id } });
export const reactivateUser = ({ id }: User, currentPassword?: string) =>
  call(users.reactivate, { params: { id }, body: { currentPassword } });
/** The user as it was shown: a colleague may have given the account to somebody else. */
export const deleteUser = ({ id, updatedAt }: User) =>
  call(users.delete, { params: { id }, query: { updatedAt } });
export const resetPassword = (id: string, body: Passwords) =>
  call(users.resetPassword, { params: { id }, body });
type FactorReset = RouteRequest<typeof users.resetSecondFactor>['body'];
export const resetSecondFactor = (id: string, body: FactorReset) =>
  call(users.resetSecondFactor, { params: { id }, body });
export const endUserSession = (id: string, sessionId: string) =>
  call(users.endSession, { params: { id, sessionId } });

export const createRole = (body: RouteRequest<typeof rbac.createRole>['body']) =>
  call(rbac.createRole, { body });
export const updateRole = (roleId: string, body: RoleInput) =>
  call(rbac.updateRole, { params: { roleId }, body });
export const deleteRole = (roleId: string) => call(rbac.deleteRole, { params: { roleId } });
