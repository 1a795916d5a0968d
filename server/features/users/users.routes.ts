import { rbac as rbacCalls, users as calls } from '../../../contract/users.ts';
import type { Context } from '../../context.ts';
import { inChange, inChangeAfter, implement } from '../../http/call.ts';
import { refusePassword } from '../../password-rules.ts';
import type { Passwords } from '../../passwords.ts';
import type { Refusals } from '../audit/audit.ts';
import { refuseUnproven } from '../session/session.ts';
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
import {
  createUser,
  deactivateUser,
  deleteUser,
  endSessionOf,
  impactOfUser,
  listSessionsOf,
  listUsers,
  prepareReset,
  reactivateUser,
  resetPassword,
  resetSecondFactor,
  updateUser,
} from './users.ts';

export function userRoutes({ db, config }: Context, passwords: Passwords, refusals: Refusals) {
  const guarded = { db, passwords, refusals };
  return [
    ...implement(calls, {
      list: ({ query }) => listUsers(db, query.search),
      impact: ({ by, params }) =>
        impactOfUser(db, params.id, new Date(by.now.getTime() - config.sessionIdleMs)),
      // The hash is made before the transaction: a connection must not wait for argon2.
      create: inChangeAfter(
        async ({ body }) => refusePassword(body.password, body.email) ?? passwords.hash(body.password),
        ({ tx }, { by, body: { email, name, role } }, passwordHash) =>
          createUser(tx, by, { email, name, role, passwordHash }),
      ),
      update: inChange(({ tx }, { by, params, body: patch, seen }) =>
        updateUser(tx, by, params.id, patch, seen),
      ),
      deactivate: inChange(({ tx }, { by, params }) => deactivateUser(tx, by, params.id)),
      reactivate: inChange(({ tx }, { by, params }) => reactivateUser(tx, by, params.id)),
      delete: inChange(({ tx }, { by, params }) => deleteUser(tx, by, params.id)),
      resetPassword: inChangeAfter(
        ({ by, params, body }) => prepareReset(guarded, by, params.id, body),
        ({ tx }, { by, params }, passwordHash) => resetPassword(tx, by, params.id, passwordHash),
      ),
      resetSecondFactor: inChangeAfter(
        ({ by, body }) => refuseUnproven(guarded, by, body.currentPassword),
        ({ tx }, { by, params }) => resetSecondFactor(tx, by, params.id),
      ),
      sessions: ({ by, params }) =>
        listSessionsOf(db, by, params.id, new Date(by.now.getTime() - config.sessionIdleMs)),
      endSession: inChange(({ tx }, { by, params }) => endSessionOf(tx, by, params.id, params.sessionId)),
    }),
    ...implement(rbacCalls, {
      roles: () => listRoles(db),
      permissions: async () => listPermissions(),
      userRoles: ({ params }) => listRolesOf(db, params.userId),
      assignRole: inChange(({ tx }, { by, params }) => assignRole(tx, by, params.userId, params.roleId)),
      revokeRole: inChange(({ tx }, { by, params }) => revokeRole(tx, by, params.userId, params.roleId)),
      createRole: inChange(({ tx }, { by, body }) => createRole(tx, by, body)),
      updateRole: inChange(({ tx }, { by, params, body: role, seen }) =>
        updateRole(tx, by, params.roleId, role, seen),
      ),
      roleImpact: ({ params }) => impactOfRole(db, params.roleId),
      deleteRole: inChange(({ tx }, { by, params }) => deleteRole(tx, by, params.roleId)),
    }),
  ];
}
