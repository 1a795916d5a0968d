import { rbac as rbacCalls, users as calls } from '../../../contract/users.ts';
import type { Context } from '../../context.ts';
import { inChange, inChangeAfter, implement } from '../../http/call.ts';
import type { Passwords } from '../../passwords.ts';
import type { Refusals } from '../audit/index.ts';
import { isOpen, isProven, refuseUnproven } from '../session/index.ts';
import {
  assignRole,
  createRole,
  deleteRole,
  listPermissions,
  impactOfRole,
  listRoles,
  listRolesOf,
  revokeRole,
  updateRole,
} from './roles.ts';
import { getUser } from './user-row.ts';
import {
  createUser,
  deactivateUser,
  deleteUser,
  endSessionOf,
  impactOfUser,
  listSessionsOf,
  listUsers,
  prepareReset,
  prepareUser,
  reactivateUser,
  resetPassword,
  resetSecondFactor,
  updateUser,
} from './users.ts';

export function userRoutes(context: Context, passwords: Passwords, refusals: Refusals) {
  const { db, config } = context;
  const guarded = { ...context, passwords, refusals };
  return [
    ...implement(calls, {
      list: ({ query }) => listUsers(db, query.search),
      get: ({ params }) => getUser(db, params.id),
      impact: ({ by, params }) => impactOfUser(db, params.id, isOpen(config, by.now), by.now),
      create: inChangeAfter(
        ({ by, body }) => prepareUser(guarded, by, body),
        (change, _, { user, proven }) => createUser(change, user, proven),
      ),
      update: inChangeAfter(
        ({ by, body }) => isProven(guarded, by, body.currentPassword),
        (change, { params, body, seen }, proven) =>
          updateUser(change, params.id, withoutProof(body), { seen, proven }),
      ),
      deactivate: inChange((change, { params }) => deactivateUser(change, params.id)),
      reactivate: inChangeAfter(
        ({ by, body }) => isProven(guarded, by, body.currentPassword),
        (change, { params }, proven) => reactivateUser(change, params.id, proven),
      ),
      delete: inChange((change, { params, seen }) => deleteUser(change, params.id, seen)),
      resetPassword: inChangeAfter(
        ({ by, params, body }) => prepareReset(guarded, by, params.id, body),
        (change, { params, seen }, passwordHash) => resetPassword(change, params.id, passwordHash, seen),
      ),
      resetSecondFactor: inChangeAfter(
        ({ by, body }) => refuseUnproven(guarded, by, body.currentPassword),
        (change, { params, seen }) => resetSecondFactor(change, params.id, seen),
      ),
      sessions: ({ by, params }) => listSessionsOf(db, by, params.id, isOpen(config, by.now)),
      endSession: inChange((change, { params }) => endSessionOf(change, params.id, params.sessionId)),
    }),
    ...implement(rbacCalls, {
      roles: () => listRoles(db),
      permissions: async () => listPermissions(),
      userRoles: ({ params }) => listRolesOf(db, params.userId),
      assignRole: inChangeAfter(
        ({ by }) => isProven(guarded, by, undefined),
        (change, { params }, proven) => assignRole(change, params.userId, params.roleId, proven),
      ),
      revokeRole: inChange((change, { params }) => revokeRole(change, params.userId, params.roleId)),
      createRole: inChange((change, { body }) => createRole(change, body)),
      updateRole: inChangeAfter(
        ({ by, body }) => isProven(guarded, by, body.currentPassword),
        (change, { params, body, seen }, proven) =>
          updateRole(change, params.roleId, withoutProof(body), { seen, proven }),
      ),
      roleImpact: ({ by, params }) => impactOfRole(db, params.roleId, by.now),
      deleteRole: inChange((change, { params }) => deleteRole(change, params.roleId)),
    }),
  ];
}

/** What is to be saved, which the caller's password is not. */
function withoutProof<Body extends { currentPassword?: string | undefined }>(
  body: Body,
): Omit<Body, 'currentPassword'> {
  const { currentPassword: _, ...rest } = body;
  return rest;
}
