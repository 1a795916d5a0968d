import { sql } from 'kysely';
import {
  hasPermission,
  permissionName,
  resourceActions,
  resources,
  roleNames,
  type Permission,
} from '../../../contract/permissions.ts';
import { roleRefusal, type rbac as calls, type Role, type User } from '../../../contract/users.ts';
import type { RouteAnswer, RouteInput } from '../../../contract/route.ts';
import { changedFields, type Change } from '../../change.ts';
import type { Db } from '../../db/client.ts';
import { exists, nextUpdatedAt } from '../../db/sql.ts';
import { editRecord, lockAllowed, type Editable } from '../../edit-record.ts';
import { breaksRule, fail, isFailure, noSuch, type Failure } from '../../failure.ts';
import {
  beyond,
  refuseActingOn,
  refuseGrant,
  refuseLastSuperAdmin,
  refuseSuperAdmin,
  refuseUnprovenGrant,
  setRoles,
} from './grants.ts';
import { unproven } from '../session/index.ts';
import { lockUser, noUser } from './user-row.ts';
import { present } from '../../invariants.ts';

const noRole = noSuch('role');

const rolePermissions = sql<Permission[]>`coalesce((
  select json_agg(json_build_object('resource', resource, 'action', action) order by resource, action)
    from role_permissions p where p.role_id = roles.role_id), '[]')`;

/** All roles with their permissions: the seven built-in ones in the order of the spec, then the others by name. */
export async function listRoles(db: Db): Promise<Role[]> {
  const rows = await db
    .selectFrom('roles')
    .select(['role_id', 'description', 'built_in', 'requires_second_factor', 'updated_at'])
    .select(rolePermissions.as('permissions'))
    .select(sql<number>`(select count(*) from user_roles u where u.role_id = roles.role_id)`.as('user_count'))
    .orderBy('role_id')
    .execute();
  const place = (roleId: string) => {
    const index = roleNames.indexOf(roleId as (typeof roleNames)[number]);
    return index === -1 ? roleNames.length : index;
  };
  return rows
    .toSorted((a, b) => place(a.role_id) - place(b.role_id))
    .map((row) => ({
      roleId: row.role_id,
      name: row.role_id,
      description: row.description,
      builtIn: row.built_in,
      requiresSecondFactor: row.requires_second_factor,
      permissions: row.permissions,
      userCount: row.user_count,
      updatedAt: row.updated_at.toISOString(),
    }));
}

/** The users affected by a change of a role: those who can sign in with it; and their change requests open `now`. */
export async function impactOfRole(
  db: Db,
  roleId: string,
  now: Date,
): Promise<RouteAnswer<typeof calls.roleImpact> | Failure> {
  const { rows } = await sql<RouteAnswer<typeof calls.roleImpact>>`
    select count(u.user_id) as people,
           count(u.user_id) filter (where u.totp_confirmed_at is null) as "withoutSecondFactor",
           (select count(*) from change_requests q join user_roles a on a.user_id = q.requested_by
              join users p on p.user_id = a.user_id and p.status = 'active'
             where a.role_id = roles.role_id and q.state = 'open' and q.expires_at > ${now}) as "openRequests"
      from roles
      left join user_roles r using (role_id)
      left join users u on u.user_id = r.user_id and u.status = 'active'
     where role_id = ${roleId} group by role_id`.execute(db);
  return rows[0] ?? noRole;
}

/** Every permission that exists, in the order of the matrix. */
export const listPermissions = (): Permission[] =>
  resources.flatMap((resource) => resourceActions[resource].map((action) => ({ resource, action })));

/** The roles of one user. */
export async function listRolesOf(
  db: Db,
  userId: string,
): Promise<RouteAnswer<typeof calls.userRoles> | Failure> {
  if (!(await exists(db.selectFrom('users').where('user_id', '=', userId)))) return noUser;
  const rows = await db
    .selectFrom('user_roles')
    .innerJoin('roles', 'roles.role_id', 'user_roles.role_id')
    .select(['roles.role_id', 'roles.description'])
    .where('user_id', '=', userId)
    .orderBy('roles.role_id')
    .execute();
  return rows.map((row) => ({ roleId: row.role_id, name: row.role_id, description: row.description }));
}

/** For the call whose body the specification leaves open: it takes no password. */
const signInAgain = fail('RULE_VIOLATED', 'Sign in again first: you signed in more than five minutes ago.');

/** Adds a role to a user, with no more permissions than the caller's own. */
export async function assignRole(
  change: Change,
  userId: string,
  roleId: string,
  proven: boolean,
): Promise<undefined | Failure> {
  const { tx, by } = change;
  const user = await lockUser(tx, userId);
  if (isFailure(user)) return user;
  const refusal =
    (await refuseActingOn(tx, by, user)) ??
    (await refuseGrant(tx, by, roleId, { before: user.roles, proven }));
  if (refusal) return refusal === unproven ? signInAgain : refusal;
  if (user.roles.includes(roleId)) return fail('ALREADY_EXISTS', 'The user has this role already.');
  return changeRoles(change, user, [...user.roles, roleId].toSorted());
}

/** Removes a role from a user; the last super admin keeps theirs. */
export async function revokeRole(
  change: Change,
  userId: string,
  roleId: string,
): Promise<undefined | Failure> {
  const { tx, by } = change;
  const user = await lockUser(tx, userId);
  if (isFailure(user)) return user;
  if (!user.roles.includes(roleId)) return fail('NOT_FOUND', 'The user does not have this role.');
  const refusal =
    (await refuseActingOn(tx, by, user)) ??
    (roleId === 'super_admin' ? await refuseLastSuperAdmin(tx, user) : undefined);
  if (refusal) return refusal;
  return changeRoles(
    change,
    user,
    user.roles.filter((role) => role !== roleId),
  );
}

async function changeRoles(change: Change, user: User, roles: string[]): Promise<undefined | Failure> {
  const refusal = await setRoles(change, user, roles);
  if (refusal) return refusal;
  const updated_at = nextUpdatedAt(new Date(user.updatedAt), change.now);
  await change.tx.updateTable('users').set({ updated_at }).where('user_id', '=', user.id).execute();
  await change.announce('sessions');
  await change.audit('user.roles_changed', user, { before: { roles: user.roles }, after: { roles } });
  return undefined;
}

type NewRole = RouteInput<typeof calls.createRole>['body'];

/** Creates a role with the permissions and second-factor rule of an existing one, all of which the caller must hold. */
export async function createRole(
  change: Change,
  { roleId, description, copyFrom }: NewRole,
): Promise<Role | Failure> {
  const { tx, by, now } = change;
  // nobody has the new role yet
  const refusal = await refuseGrant(tx, by, copyFrom, { before: [], proven: true });
  if (refusal) return refusal;
  const made = await tx
    .insertInto('roles')
    .values((eb) => ({
      role_id: roleId,
      description,
      requires_second_factor: eb
        .selectFrom('roles')
        .select('requires_second_factor')
        .where('role_id', '=', copyFrom)
        .$asScalar()
        .$notNull(),
      updated_at: now,
    }))
    .onConflict((conflict) => conflict.doNothing())
    .returning('role_id')
    .executeTakeFirst();
  if (!made) return fail('ALREADY_EXISTS', 'There is a role of this name already.');
  await sql`insert into role_permissions (role_id, resource, action)
            select ${roleId}, resource, action from role_permissions where role_id = ${copyFrom}`.execute(tx);
  const role = await oneRole(tx, roleId);
  await change.audit('role.created', role, { what: `created from ${copyFrom}`, after: role });
  return role;
}

type RoleInput = Omit<RouteInput<typeof calls.updateRole>['body'], 'currentPassword'>;

/**
 * Sets the permissions of a role. The caller must hold all of them, before and after, so that users cannot extend their
 * own permissions or weaken the protection of higher roles; super_admin holds everything and cannot change.
 */
export async function updateRole(
  change: Change,
  roleId: string,
  input: RoleInput,
  { seen, proven }: { seen: string | undefined; proven: boolean },
): Promise<Role | Failure> {
  const superAdmin = refuseSuperAdmin(change.by, roleId);
  if (superAdmin) return superAdmin;
  const wanted = inOrder(input.permissions);
  const unknown = input.permissions.find((p) => !hasPermission(wanted, p));
  if (unknown) return breaksRule('permissions', `There is no permission ${permissionName(unknown)}`);
  const sent = { ...input, permissions: wanted };
  return editRecord(change, editable, roleId, {
    event: 'role.updated',
    sent,
    seen,
    check(before) {
      const gained = wanted.filter((p) => !hasPermission(before.permissions, p));
      if (roleId === 'super_admin' && (gained.length > 0 || wanted.length < before.permissions.length))
        return breaksRule('permissions', 'super_admin holds everything and cannot be changed');
      const missing = beyond(change.by, gained);
      return missing
        ? breaksRule('permissions', `You lack ${permissionName(missing)} yourself`)
        : refuseUnprovenGrant(before.permissions, wanted, proven);
    },
    columns: sent,
    what: whatChanged,
  });
}

/** Removes a role without users; the seven built-in ones cannot be removed. */
export async function deleteRole(change: Change, roleId: string): Promise<undefined | Failure> {
  const before = await lockAllowed(change, editable, roleId);
  if (isFailure(before)) return before;
  const reason = roleRefusal.delete(before);
  if (reason) return fail('RULE_VIOLATED', reason);
  await change.tx.deleteFrom('roles').where('role_id', '=', roleId).execute();
  await change.audit('role.deleted', before, { before });
  return undefined;
}

/** The given permissions that exist, in the order of the matrix. */
const inOrder = (permissions: readonly Permission[]) =>
  listPermissions().filter((p) => hasPermission(permissions, p));

async function oneRole(db: Db, roleId: string): Promise<Role> {
  const roles = await listRoles(db);
  return present(
    roles.find((role) => role.roleId === roleId),
    'the change holds its lock',
  );
}

/** Edits roles whose permissions the caller holds. */
const editable: Editable<Role, RoleInput> = {
  name: 'role',
  async lock({ tx, by }, roleId) {
    const row = await tx
      .selectFrom('roles')
      .select('role_id')
      .where('role_id', '=', roleId)
      .forUpdate()
      .executeTakeFirst();
    if (!row) return noRole;
    const role = await oneRole(tx, roleId);
    const missing = beyond(by, role.permissions);
    return missing
      ? fail(
          'RULE_VIOLATED',
          `${roleId} may do more than you, so you cannot change this role: you lack ${permissionName(missing)} yourself.`,
        )
      : { ...role, permissions: inOrder(role.permissions) };
  },
  async write(change, { roleId }, { description, requiresSecondFactor, permissions, updated_at }) {
    const { tx } = change;
    await tx
      .updateTable('roles')
      .set({ description, requires_second_factor: requiresSecondFactor, updated_at })
      .where('role_id', '=', roleId)
      .execute();
    await tx.deleteFrom('role_permissions').where('role_id', '=', roleId).execute();
    if (permissions.length > 0) {
      await tx
        .insertInto('role_permissions')
        .values(permissions.map((p) => ({ role_id: roleId, ...p })))
        .execute();
    }
    await change.announce('sessions');
    return oneRole(tx, roleId);
  },
};

function whatChanged(before: Role, after: Role): string {
  const names = (role: Role) => role.permissions.map(permissionName);
  const [old, now] = [names(before), names(after)];
  const { permissions: _, ...rest } = after;
  return [
    ...now.filter((name) => !old.includes(name)).map((name) => `+${name}`),
    ...old.filter((name) => !now.includes(name)).map((name) => `−${name}`),
    changedFields(before, rest),
  ]
    .filter(Boolean)
    .join('; ');
}
