import { describe, expect, test } from 'vitest';
import { customers } from '../../../contract/customers.ts';
import { roleDescriptions, roleNames, type Permission } from '../../../contract/permissions.ts';
import { session as sessionCalls } from '../../../contract/session.ts';
import { rbac, users as calls } from '../../../contract/users.ts';
import { unique } from '../../../tests/factories.ts';
import { startTestServer } from '../../../tests/harness.ts';
import { othersIn } from '../../../tests/rows.ts';
import { usersRoom } from '../../../tests/users-room.ts';

const server = await startTestServer();
const rootPerson = await server.signInAs('super_admin');
const root = server.api(rootPerson);
const admin = server.api(await server.signInAs('admin'));

const { makeUser, signedIn } = usersRoom(server, root);

describe('roles', () => {
  test('are the seven of the spec, with their descriptions', async () => {
    const roles = await root.ok(rbac.roles, {});
    const seven = roles.filter((role) => role.builtIn);
    expect(seven.map((role) => [role.roleId, role.description])).toEqual(
      roleNames.map((name) => [name, roleDescriptions[name]]),
    );
  });

  test('are made from an existing one, changed for everyone who has them, and removed when nobody has them', async () => {
    const made = await root.ok(rbac.createRole, {
      body: { roleId: 'trial_desk', description: 'issues trials', copyFrom: 'viewer' },
    });
    const user = await makeUser('trial_desk');
    const person = await signedIn(user);
    const create = () => person.call(customers.create, { body: { name: unique('C'), country: 'DE' } });
    expect((await create()).status).toBe(403);
    const permissions = [...made.permissions, { resource: 'customers' as const, action: 'create' as const }];
    const body = { description: 'issues trials to all', requiresSecondFactor: false, permissions };
    const others = await othersIn(server, 'roles', 'role_id', 'trial_desk');
    await root.ok(rbac.updateRole, { params: { roleId: 'trial_desk' }, body });
    expect(await othersIn(server, 'roles', 'role_id', 'trial_desk')).toEqual(others);
    expect((await create()).status).toBe(201);
    const { permissions: fewer } = made;
    await root.ok(rbac.updateRole, {
      params: { roleId: 'trial_desk' },
      body: { ...body, permissions: fewer },
    });
    expect((await create()).status).toBe(403);
    expect((await root.call(rbac.deleteRole, { params: { roleId: 'trial_desk' } })).body).toMatchObject({
      error: 'There are users with this role.',
    });
    await root.ok(calls.delete, { params: { id: user.id } });
    expect((await root.call(rbac.deleteRole, { params: { roleId: 'trial_desk' } })).status).toBe(204);
    expect((await root.call(rbac.deleteRole, { params: { roleId: 'viewer' } })).body).toMatchObject({
      error: 'A built-in role cannot be deleted.',
    });
  });

  test('that someone else changed meanwhile are not overwritten unseen, and what differs is said', async () => {
    const roleId = 'conflict_desk';
    const seen = await root.ok(rbac.createRole, {
      body: { roleId, description: 'as it was', copyFrom: 'viewer' },
    });
    const of = (description: string, more: Permission[], updatedAt?: string) => ({
      params: { roleId },
      body: {
        description,
        requiresSecondFactor: false,
        permissions: [...more, ...seen.permissions],
        updatedAt,
      },
    });
    const create: Permission = { resource: 'customers', action: 'create' };
    const theirs = await root.ok(rbac.updateRole, of('as they want it', [create], seen.updatedAt));
    expect(Date.parse(theirs.updatedAt)).toBeGreaterThan(Date.parse(seen.updatedAt));
    const lost = await root.call(rbac.updateRole, of('as I want it', [], seen.updatedAt));
    expect(lost.status).toBe(409);
    expect(lost.body).toMatchObject({
      code: 'EDIT_CONFLICT',
      error: 'This role was changed by someone else while you were editing it.',
      details: [
        { path: 'description', current: 'as they want it', yours: 'as I want it' },
        { path: 'permissions', current: expect.arrayContaining([create]) },
        { path: 'updatedAt', current: theirs.updatedAt, yours: seen.updatedAt },
      ],
    });
    // The order of permissions means nothing, and is no difference.
    const same = await root.call(rbac.updateRole, of('as I want it', [create], seen.updatedAt));
    expect(same.body.details.map(({ path }) => path)).toEqual(['description', 'updatedAt']);
    const saved = await root.call(rbac.updateRole, of('as I want it', [], theirs.updatedAt));
    expect(saved.body.data).toMatchObject({ description: 'as I want it' });
  });

  test('of two saves from the same version one wins', async () => {
    const seen = await root.ok(rbac.createRole, {
      body: { roleId: 'race_desk', description: 'as it was', copyFrom: 'viewer' },
    });
    const save = (description: string) =>
      root.call(rbac.updateRole, {
        params: { roleId: 'race_desk' },
        body: {
          description,
          requiresSecondFactor: false,
          permissions: seen.permissions,
          updatedAt: seen.updatedAt,
        },
      });
    const answers = await Promise.all(['one', 'two', 'three'].map(save));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409]);
  });

  test('cannot be widened beyond what the changer holds', async () => {
    const viewer = (await root.ok(rbac.roles, {})).find((role) => role.roleId === 'viewer')!;
    const permissions = [...viewer.permissions, { resource: 'users' as const, action: 'delete' as const }];
    const body = { description: viewer.description, requiresSecondFactor: false, permissions };
    const answer = await admin.call(rbac.updateRole, { params: { roleId: 'viewer' }, body });
    expect(answer.body).toMatchObject({
      code: 'RULE_VIOLATED',
      error: 'permissions: You lack users:delete yourself',
    });
  });

  test('of super admins cannot be changed, and the last one keeps it', async () => {
    const body = { description: 'x', requiresSecondFactor: false, permissions: [] };
    expect((await root.call(rbac.updateRole, { params: { roleId: 'super_admin' }, body })).status).toBe(422);
    const own = await startTestServer();
    const last = await own.signInAs('super_admin');
    const api = own.api(last);
    // neither a former one nor somebody of another role is another one
    const former = await own.createPerson('super_admin');
    await api.ok(calls.deactivate, { params: { id: former.userId } });
    await own.createPerson('admin');
    const { userId } = last;
    for (const answer of [
      await api.call(rbac.revokeRole, { params: { userId, roleId: 'super_admin' } }),
      await api.call(calls.update, { params: { id: userId }, body: { role: 'admin' } }),
    ])
      expect(answer.body).toMatchObject({
        error: 'This is the last super admin. Make another one first.',
      });
  });

  test('hold permissions that are a resource and an action, all of them listed', async () => {
    const listed = await root.ok(rbac.permissions);
    expect(listed).toContainEqual({ resource: 'audit', action: 'export' });
    const held = (await root.ok(rbac.roles)).find((role) => role.roleId === 'super_admin')!.permissions;
    expect(listed).toHaveLength(held.length);
    expect(listed).toEqual(expect.arrayContaining(held));
  });

  test('are given and taken one by one as well', async () => {
    const user = await makeUser('viewer');
    const params = { userId: user.id, roleId: 'license_manager' };
    await makeUser(params.roleId);
    const others = () =>
      Promise.all((['users', 'user_roles'] as const).map((t) => othersIn(server, t, 'user_id', user.id)));
    const before = await others();
    // Whatever a client sends along: the spec leaves the body open.
    const person = await signedIn(user);
    const rolesNow = async () => (await person.ok(sessionCalls.me)).roles.map(({ name }) => name);
    expect(await rolesNow()).toEqual(['viewer']);
    await root.ok(rbac.assignRole, { params, body: { roleId: params.roleId, note: [1] } } as never);
    expect(await rolesNow()).toEqual(['license_manager', 'viewer']);
    expect((await root.ok(rbac.userRoles, { params: { userId: user.id } })).map((r) => r.roleId)).toEqual([
      'license_manager',
      'viewer',
    ]);
    expect((await root.call(rbac.assignRole, { params })).status).toBe(409);
    const again = await fetch(`${server.url}/api/rbac/users/${user.id}/roles/${params.roleId}`, {
      method: 'POST',
      headers: {
        ...rootPerson.headers,
        'content-type': 'application/json',
        'idempotency-key': unique('deep'),
      },
      body: '['.repeat(19_000) + ']'.repeat(19_000),
    });
    expect(again.status, 'nested deeper than any call, with a key').toBe(409);
    await root.ok(rbac.revokeRole, { params });
    expect(await rolesNow()).toEqual(['viewer']);
    expect((await root.call(rbac.revokeRole, { params })).status).toBe(404);
    expect((await root.ok(rbac.userRoles, { params: { userId: user.id } })).map((r) => r.roleId)).toEqual([
      'viewer',
    ]);
    expect(await others()).toEqual(before);
  });
});
