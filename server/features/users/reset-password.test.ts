import { describe, expect, test } from 'vitest';
import type { RoleName } from '../../../contract/permissions.ts';
import { session as sessionCalls } from '../../../contract/session.ts';
import { rbac, users as calls } from '../../../contract/users.ts';
import { auditOf, startTestServer, minutes, password } from '../../../tests/harness.ts';
import { openHolder } from '../../../tests/waiting-calls.ts';
import { usersRoom } from '../../../tests/users-room.ts';

const server = await startTestServer();
const rootPerson = await server.signInAs('super_admin');
const root = server.api(rootPerson);

const { newPassword, makeUser, signIn, signedIn } = usersRoom(server, root);

describe('resetting a password', () => {
  test.each([
    ['', '', 'Please enter password details'],
    ['only one', '', 'Please fill in all password fields'],
    ['12345', '12345', 'New password must be at least 6 characters long'],
    ['qwerty', 'qwerty', 'This password is one of the most common ones. Choose another.'],
    ['one good password', 'another password', 'New passwords do not match'],
    // spaces around it and letters that only look otherwise make no other password of it
    [' qwerty ', ' qwerty ', 'This password is one of the most common ones. Choose another.'],
    ['qwe\u200brty', 'qwe\u200brty', 'This password is one of the most common ones. Choose another.'],
    ['ｑｗｅｒｔｙ', 'ｑｗｅｒｔｙ', 'This password is one of the most common ones. Choose another.'],
    [
      ' \u200b \u00a0  ',
      ' \u200b \u00a0  ',
      'The password must not be one repeated character. Choose another.',
    ],
  ])('to "%s" / "%s" says: %s', async (first, second, sentence) => {
    const user = await makeUser();
    const body = { newPassword: first, confirmPassword: second };
    const answer = await root.call(calls.resetPassword, { params: { id: user.id }, body });
    expect(answer.status).toBe(422);
    expect(answer.body).toMatchObject({ error: sentence });
    expect((await signIn(user)).status).toBe(200);
  });

  test('refuses the email of the person whose it will be', async () => {
    const user = await makeUser();
    for (const own of [user.email, ` ${user.email.toUpperCase()} `]) {
      const body = { newPassword: own, confirmPassword: own };
      const answer = await root.call(calls.resetPassword, { params: { id: user.id }, body });
      expect([answer.status, answer.body.error]).toEqual([
        422,
        'The password must not be the email address. Choose another.',
      ]);
    }
  });

  test('asks for one’s own password, unless one signed in a moment ago; the same for a second factor', async () => {
    const own = await startTestServer();
    const api = own.api(await own.signInAs('super_admin'));
    const { userId } = await own.createPerson('viewer');
    const fresh = { newPassword: 'fresh and long', confirmPassword: 'fresh and long' };
    const reset = async (more: { currentPassword?: string }) => {
      const { status } = await api.call(calls.resetPassword, {
        params: { id: userId },
        body: { ...fresh, ...more },
      });
      const factor = await api.call(calls.resetSecondFactor, { params: { id: userId }, body: more });
      return [status, factor.status];
    };
    expect(await reset({}), 'just signed in').toEqual([200, 409]);
    own.clock.advance(minutes(5));
    await own.signInAs('super_admin');
    expect(await reset({}), 'without').toEqual([422, 422]);
    expect(await reset({ currentPassword: 'a guess' }), 'wrong').toEqual([401, 401]);
    expect(await reset({ currentPassword: password }), 'right').toEqual([200, 409]);
  });

  test('so does every call that lets somebody take over accounts or approve, such as making a super admin', async () => {
    const own = await startTestServer();
    const api = own.api(await own.signInAs('super_admin'));
    const { userId } = await own.createPerson('viewer');
    const role = await api.ok(rbac.createRole, {
      body: { roleId: 'helpers', description: 'Help', copyFrom: 'viewer' },
    });
    const permissions = [...role.permissions, { resource: 'users', action: 'update' } as const];
    const each = (more: { currentPassword?: string }) => ({
      create: (made: string) =>
        api.call(calls.create, {
          body: { email: `${made}@lanyard.test`, password: newPassword, role: made, ...more },
        }),
      update: (given: string) =>
        api.call(calls.update, { params: { id: userId }, body: { role: given, ...more } }),
      assign: () => api.call(rbac.assignRole, { params: { userId, roleId: 'super_admin' } }),
      widen: () =>
        api.call(rbac.updateRole, {
          params: { roleId: 'helpers' },
          body: { description: 'Help', requiresSecondFactor: false, permissions, ...more },
        }),
    });
    own.clock.advance(minutes(5));
    const { create, update, assign, widen } = each({});
    const approving = [create('binary_manager'), update('binary_manager')];
    for (const refused of [create('super_admin'), create('admin'), update('admin'), widen(), ...approving])
      expect(await refused).toMatchObject({ status: 422, body: { details: [{ path: 'currentPassword' }] } });
    expect((await assign()).body, 'takes no password').toMatchObject({
      code: 'RULE_VIOLATED',
      error: 'Sign in again first: you signed in more than five minutes ago.',
    });
    expect((await create('viewer')).status, 'a role that takes nothing over').toBe(201);
    expect((await update('license_manager')).status).toBe(200);
    const wrong = each({ currentPassword: 'a guess' });
    for (const refused of [wrong.create('admin'), wrong.update('admin'), wrong.widen()])
      expect((await refused).status).toBe(401);
    const right = each({ currentPassword: password });
    expect((await right.create('admin')).status).toBe(201);
    expect((await right.update('binary_manager')).status).toBe(200);
    expect((await update('admin')).body.code, 'approves already, and would take over').toBe('RULE_VIOLATED');
    expect((await right.update('admin')).status).toBe(200);
    expect((await update('binary_manager')).status, 'of who may approve already').toBe(200);
    expect((await right.update('admin')).status).toBe(200);
    expect((await right.widen()).status).toBe(200);
    expect((await assign()).status, 'of who may do so already').toBe(204);
    const entries = await own.db.selectFrom('audit_entries').selectAll().execute();
    expect(JSON.stringify(entries)).not.toContain(password);
  });

  test('so does letting somebody sign in again who may do that: they know the password, and whose tab is open', async () => {
    const own = await startTestServer();
    const api = own.api(await own.signInAs('super_admin'));
    const again = async (role: RoleName, body?: { currentPassword: string }) => {
      const { userId } = await own.createPerson(role);
      await api.ok(calls.deactivate, { params: { id: userId } });
      return api.call(calls.reactivate, { params: { id: userId }, body });
    };
    expect((await again('admin')).status, 'just signed in').toBe(200);
    own.clock.advance(minutes(5));
    for (const role of ['admin', 'binary_manager'] as const)
      expect(await again(role), role).toMatchObject({
        status: 422,
        body: { details: [{ path: 'currentPassword' }] },
      });
    expect((await again('viewer')).status, 'a role that takes nothing over').toBe(200);
    expect((await again('admin', { currentPassword: 'a guess' })).status).toBe(401);
    expect((await again('admin', { currentPassword: password })).status).toBe(200);

    // a colleague widens the role at that moment
    const { userId } = await own.createPerson('viewer');
    await api.ok(calls.deactivate, { params: { id: userId } });
    const holder = await openHolder(own);
    const late = await holder.whileWaiting(
      [`update roles set description = 'Wider' where role_id = 'viewer'`],
      () => api.call(calls.reactivate, { params: { id: userId } }),
      () => holder.query(`insert into role_permissions values ('viewer', 'users', 'update')`),
    );
    expect(late.status).toBe(422);
  });

  test('so does another email of one’s own, by which a stolen session could lock its owner out', async () => {
    const own = await startTestServer();
    const self = await own.signInAs('super_admin');
    const change = (body: Parameters<typeof makeUser>[1] & { currentPassword?: string }) =>
      own.api(self).call(calls.update, { params: { id: self.userId }, body });
    own.clock.advance(minutes(5));
    const email = 'x@lanyard.test';
    expect(await change({ email, name: 'Robin' })).toMatchObject({
      status: 422,
      body: { details: [{ path: 'currentPassword' }] },
    });
    expect((await change({ email: self.email, name: 'Robin' })).status, 'the name alone').toBe(200);
    expect((await change({ email, currentPassword: 'a guess' })).status).toBe(401);
    expect((await change({ email, currentPassword: password })).status).toBe(200);
    const { userId } = await own.createPerson('viewer');
    const other = { params: { id: userId }, body: { email: 'y@lanyard.test' } };
    expect((await own.api(self).call(calls.update, other)).status, 'that of somebody else').toBe(200);
  });

  test('takes six characters, ends the open session with its next call, and lets the new password in', async () => {
    const user = await makeUser();
    const person = await signedIn(user);
    const body = { newPassword: 'zb7!q2', confirmPassword: 'zb7!q2' };
    const reset = await root.ok(calls.resetPassword, { params: { id: user.id }, body });
    expect(reset).toEqual(await root.ok(calls.get, { params: { id: user.id } }));
    expect((await person.call(sessionCalls.me, {})).status).toBe(401);
    expect((await auditOf(server, user.id)).at(-1)).toMatchObject({ event_type: 'user.password_reset' });
    expect((await signIn(user)).status).toBe(401);
    expect((await signIn(user, 'zb7!q2')).status).toBe(200);
  });

  test('and deletes only the user who was shown, also where two reset one password at once', async () => {
    const user = await makeUser();
    const params = { id: user.id };
    const resets = ['the first of two', 'the second of two'].map((chosen) => ({
      newPassword: chosen,
      confirmPassword: chosen,
      updatedAt: user.updatedAt,
    }));
    const answers = await Promise.all(resets.map((body) => root.call(calls.resetPassword, { params, body })));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409]);
    const kept = resets[answers.findIndex(({ status }) => status === 200)]!.newPassword;
    expect((await signIn(user, kept)).status).toBe(200);
    const query = { updatedAt: user.updatedAt };
    expect((await root.call(calls.delete, { params, query })).body.code).toBe('WRONG_STATE');
    const { updatedAt } = await root.ok(calls.get, { params });
    await root.ok(calls.delete, { params, query: { updatedAt } });
  });

  test('is not for oneself: a stolen session would have a new password without the current one', async () => {
    const boss = await makeUser('super_admin');
    const self = await signedIn(boss);
    const body = { newPassword: 'not the owner’s', confirmPassword: 'not the owner’s' };
    const answer = await self.call(calls.resetPassword, { params: { id: boss.id }, body });
    expect([answer.status, answer.body.error]).toEqual([
      422,
      'Change your own password on your account page, which asks for the current one.',
    ]);
    expect((await signIn(boss, body.newPassword)).status).toBe(401);
    expect((await signIn(boss)).status).toBe(200);
  });
});
