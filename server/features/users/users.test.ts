import { describe, expect, test } from 'vitest';
import { customers } from '../../../contract/customers.ts';
import {
  roleDescriptions,
  roleNames,
  type Permission,
  type RoleName,
} from '../../../contract/permissions.ts';
import { session as sessionCalls } from '../../../contract/session.ts';
import { rbac, users as calls, type User } from '../../../contract/users.ts';
import { unique } from '../../../tests/factories.ts';
import {
  auditOf,
  eventually,
  startTestServer,
  startTwin,
  type Api,
  minutes,
  password,
} from '../../../tests/harness.ts';
import { othersIn } from '../../../tests/rows.ts';
import { openHolder } from '../../../tests/waiting-calls.ts';

const server = await startTestServer();
const rootPerson = await server.signInAs('super_admin');
const root = server.api(rootPerson);
const admin = server.api(await server.signInAs('admin'));

const anyone = () => server.api({ headers: {} });
const newPassword = 'a password nobody else has';

function makeUser(role = 'viewer', fields: { email?: string; name?: string } = {}): Promise<User> {
  const email = fields.email ?? `${unique('person').replace(' ', '-')}@lanyard.test`;
  return root.ok(calls.create, { body: { email, name: 'Robin', password: newPassword, role, ...fields } });
}

const signIn = (user: { email: string }, secret = newPassword) =>
  anyone().call(sessionCalls.login, { body: { email: user.email, password: secret } });

async function signedIn(user: { email: string }, on = server): Promise<Api> {
  const answer = await signIn(user);
  return on.api({ headers: { authorization: `Bearer ${answer.body.data.accessToken}` } });
}

describe('a new user', () => {
  test('signs in with the password, has the role, and is in the audit log without the password', async () => {
    const user = await makeUser('license_manager');
    expect(user).toMatchObject({
      name: 'Robin',
      role: 'license_manager',
      roles: ['license_manager'],
      status: 'active',
    });
    expect(await root.ok(calls.get, { params: { id: user.id } })).toEqual(user);
    expect(user.lastSignInAt).toBeNull();
    const answer = await signIn(user);
    expect(answer.body.data.roles).toEqual([{ name: 'license_manager' }]);
    const { lastSignInAt } = await root.ok(calls.get, { params: { id: user.id } });
    expect(lastSignInAt).toBe(server.clock.now().toISOString());
    const [entry] = await auditOf(server, user.id);
    expect(entry).toMatchObject({ event_type: 'user.created', success: true });
    expect(JSON.stringify(entry)).not.toContain(newPassword);
  });

  test('takes each email that the check of a browser takes', async () => {
    expect((await makeUser('viewer', { email: 'a@b' })).email).toBe('a@b');
  });

  test('needs an email that nobody has, in whatever case', async () => {
    const { email } = await makeUser();
    const answer = await root.call(calls.create, {
      body: { email: `${email.toUpperCase()}\u200b`, name: '', password: newPassword, role: 'viewer' },
    });
    expect(answer.status).toBe(409);
    expect(answer.body).toMatchObject({
      code: 'ALREADY_EXISTS',
      error: 'There is a user with this email already.',
    });
  });

  test.each([
    ['12345', 400, 'New password must be at least 6 characters long'],
    ['Password123', 422, 'This password is one of the most common ones. Choose another.'],
    ['birdland', 422, 'This password is one of the most common ones. Choose another.'],
    ['xxxxxxxxxxxx', 422, 'The password must not be one repeated character. Choose another.'],
    ['weak.person@lanyard.test', 422, 'The password must not be the email address. Choose another.'],
    ['Weak.Person', 422, 'The password must not be the email address. Choose another.'],
  ])('is refused the password %s', async (secret, status, sentence) => {
    const body = { email: 'weak.person@lanyard.test', name: '', password: secret, role: 'viewer' };
    const answer = await root.call(calls.create, { body });
    expect(answer.status).toBe(status);
    expect(answer.body).toMatchObject({
      error: expect.stringContaining(sentence),
      details: [{ path: 'password', message: sentence }],
    });
  });

  test('cannot be given more than the giver holds', async () => {
    const body = { email: 'boss@lanyard.test', name: '', password: newPassword, role: 'super_admin' };
    const answer = await admin.call(calls.create, { body });
    expect(answer.status).toBe(422);
    expect(answer.body).toMatchObject({ error: 'role: Only a super admin can grant super_admin' });
  });

  test('cannot have a role that does not exist', async () => {
    const body = { email: 'none@lanyard.test', name: '', password: newPassword, role: 'wizard' };
    expect((await root.call(calls.create, { body })).body).toMatchObject({
      error: 'role: There is no role wizard',
    });
  });
});

describe('the first administrator', () => {
  test('of a start without settings is edited like anyone: admin@localhost is an email', async () => {
    const user = await makeUser('super_admin', { email: 'admin@localhost' });
    const body = { email: 'admin@localhost', name: 'Ada' };
    expect(await root.ok(calls.update, { params: { id: user.id }, body })).toMatchObject({ name: 'Ada' });
  });
});

describe('the list', () => {
  test('is searched by email and name, and ordered by name, whatever the case and the accents', async () => {
    const last = await makeUser('viewer', { name: 'unsal Zorlu' });
    const user = await makeUser('viewer', { name: 'Ünsal Öztürk' });
    const found = await root.ok(calls.list, { query: { search: 'ÜNSAL' } });
    expect(found.map((u) => u.id)).toEqual([user.id, last.id]);
    for (const { id, email } of [last, user]) {
      const byEmail = await root.ok(calls.list, { query: { search: email.toUpperCase() } });
      expect(byEmail.map((u) => u.id)).toEqual([id]);
    }
  });
});

describe('a change', () => {
  test('stores email, name and role', async () => {
    const { id } = await makeUser('viewer');
    const body = { email: `new-${id}@lanyard.test`, name: 'Robin Neu', role: 'admin' };
    await root.ok(calls.update, { params: { id }, body });
    expect(await root.ok(calls.get, { params: { id } })).toMatchObject(body);
  });

  test('of the role acts on the next call, in every process', async () => {
    const user = await makeUser('viewer');
    const person = await signedIn(user);
    const twin = await startTwin(server);
    const elsewhere = await signedIn(user, twin);
    const create = async (api: Api) =>
      (await api.call(customers.create, { body: { name: unique('C'), country: 'DE' } })).status;
    const expectBoth = async (status: number) => {
      expect(await create(person)).toBe(status);
      // it hears of the change a moment later
      await eventually(async () => expect(await create(elsewhere)).toBe(status));
    };
    await expectBoth(403);
    await root.ok(calls.update, { params: { id: user.id }, body: { role: 'admin' } });
    await expectBoth(201);
    await root.ok(calls.update, { params: { id: user.id }, body: { role: 'viewer' } });
    await expectBoth(403);
  });

  test.each(['email', 'role'] as const)('that leaves no %s is refused', async (field) => {
    const user = await makeUser();
    const answer = await root.call(calls.update, { params: { id: user.id }, body: { [field]: '' } });
    expect([answer.status, answer.body.details[0]!.path]).toEqual([400, field]);
  });

  test('of a record that somebody else changed meanwhile is refused with what differs', async () => {
    const user = await makeUser();
    await root.ok(calls.update, { params: { id: user.id }, body: { name: 'First' } });
    const body = { name: 'Second', updatedAt: user.updatedAt };
    const answer = await root.call(calls.update, { params: { id: user.id }, body });
    expect(answer.status).toBe(409);
    expect(answer.body).toMatchObject({
      code: 'EDIT_CONFLICT',
      details: expect.arrayContaining([
        expect.objectContaining({ path: 'name', current: 'First', yours: 'Second' }),
      ]),
    });
  });

  test('of somebody with more rights is refused: a new password would be a way to them', async () => {
    const boss = await makeUser('super_admin');
    const reset = { newPassword: 'another good one', confirmPassword: 'another good one' };
    for (const answer of [
      await admin.call(calls.update, { params: { id: boss.id }, body: { email: 'mine@lanyard.test' } }),
      await admin.call(calls.resetPassword, { params: { id: boss.id }, body: reset }),
      await admin.call(calls.deactivate, { params: { id: boss.id } }),
    ]) {
      expect(answer.status).toBe(422);
      expect(answer.body).toMatchObject({
        error: `${boss.email} may do more than you, so you cannot change this user.`,
      });
    }
  });
});

describe('a service account', () => {
  test('is nobody’s own doing: a stolen session could lock its owner out', async () => {
    const user = await makeUser('admin');
    const self = await signedIn(user);
    const params = { userId: user.id, roleId: 'service_account' };
    const update = { params: { id: user.id }, body: { role: 'service_account' } };
    const refused = { code: 'RULE_VIOLATED', error: 'You cannot make yourself a service account.' };
    expect((await self.call(calls.update, update)).body).toMatchObject(refused);
    await self.ok(rbac.assignRole, { params });
    const revoke = { params: { ...params, roleId: 'admin' } };
    expect((await self.call(rbac.revokeRole, revoke)).body).toMatchObject(refused);
    expect((await signIn(user)).status).toBe(200);
  });

  test('is signed out: it could not sign in anymore', async () => {
    const roleId = 'service_account';
    for (const make of [
      (id: string) => root.ok(calls.update, { params: { id }, body: { role: roleId } }),
      async (userId: string) => {
        await root.ok(rbac.assignRole, { params: { userId, roleId } });
        await root.ok(rbac.revokeRole, { params: { userId, roleId: 'viewer' } });
      },
    ]) {
      const user = await makeUser('viewer');
      const person = await signedIn(user);
      await make(user.id);
      expect((await person.call(sessionCalls.me)).status).toBe(401);
      expect((await signIn(user)).status).toBe(403);
    }
  });
});

describe('deactivating', () => {
  test('ends open sessions with their next call and refuses sign-in, until reactivated', async () => {
    const user = await makeUser();
    const person = await server.signIn(user.email, 'viewer', newPassword);
    await root.ok(calls.deactivate, { params: { id: user.id } });
    for (const who of [person, person.byCookie])
      expect((await server.api(who).call(sessionCalls.me)).status).toBe(401);
    expect((await server.api(person.byCookie).call(sessionCalls.refresh)).status).toBe(401);
    expect((await signIn(user)).status).toBe(401);
    await root.ok(calls.reactivate, { params: { id: user.id } });
    expect((await signIn(user)).status).toBe(200);
  });

  test('is for who is active, reactivating for who is not', async () => {
    const user = await makeUser();
    const change = async (call: typeof calls.deactivate | typeof calls.reactivate) => {
      const { status, body } = await root.call(call, { params: { id: user.id } });
      return [status, status === 200 ? body.data.status : body.code];
    };
    expect(await change(calls.reactivate)).toEqual([409, 'WRONG_STATE']);
    expect(await change(calls.deactivate)).toEqual([200, 'inactive']);
    expect(await change(calls.deactivate)).toEqual([409, 'WRONG_STATE']);
    expect(await change(calls.reactivate)).toEqual([200, 'active']);
  });

  test('is not for oneself', async () => {
    const boss = await makeUser('super_admin');
    const self = await signedIn(boss);
    expect((await self.call(calls.deactivate, { params: { id: boss.id } })).body).toMatchObject({
      error: 'You cannot deactivate yourself.',
    });
    expect((await self.call(calls.delete, { params: { id: boss.id } })).body).toMatchObject({
      error: 'You cannot delete yourself.',
    });
  });
});

test('deleting is for good, and the audit entries stay', async () => {
  const user = await makeUser();
  const person = await signedIn(user);
  expect((await person.call(sessionCalls.me)).status).toBe(200);
  await root.ok(calls.delete, { params: { id: user.id } });
  expect((await person.call(sessionCalls.me)).status).toBe(401);
  expect((await root.call(calls.delete, { params: { id: user.id } })).status).toBe(404);
  expect((await auditOf(server, user.id)).map((entry) => entry.event_type)).toEqual([
    'user.created',
    'user.deleted',
  ]);
});

test.each<[string, (by: Api, id: string) => Promise<{ status: number }>]>([
  ['remove', (by, id) => by.call(calls.delete, { params: { id } })],
  ['deactivate', (by, id) => by.call(calls.deactivate, { params: { id } })],
  ['demote', (by, id) => by.call(calls.update, { params: { id }, body: { role: 'viewer' } })],
])('of two super admins who %s each other at the same moment, one stays', async (_, oust) => {
  const own = await startTestServer();
  const [one, two] = [await own.signInAs('super_admin'), await own.signInAs('super_admin')];
  const holder = await openHolder(own);
  const bothWait = () =>
    eventually(async () => {
      const { rowCount } = await own.pool.query(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      );
      return rowCount === 2;
    });
  const answers = await holder.whileWaiting(
    ['select from users for update'],
    () => Promise.all([oust(own.api(one), two.userId), oust(own.api(two), one.userId)]),
    bothWait,
  );
  expect(answers.filter(({ status }) => status < 300)).toHaveLength(1);
  const left = await own.db
    .selectFrom('user_roles as r')
    .innerJoin('users as u', 'u.user_id', 'r.user_id')
    .select('r.user_id')
    .where('role_id', '=', 'super_admin')
    .where('status', '=', 'active')
    .execute();
  expect(left).toHaveLength(1);
});

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

describe('sessions of others', () => {
  test('are seen and ended by a super admin only', async () => {
    const user = await makeUser();
    const person = await signedIn(user);
    const [open] = await root.ok(calls.sessions, { params: { id: user.id } });
    expect(open).toMatchObject({ current: false, ipAddress: '127.0.0.1' });
    const ending = { params: { id: user.id, sessionId: open!.sessionId } };
    expect((await admin.call(calls.sessions, { params: { id: user.id } })).status).toBe(422);
    expect((await admin.call(calls.endSession, ending)).status).toBe(422);
    await root.ok(calls.endSession, ending);
    expect((await person.call(sessionCalls.me, {})).status).toBe(401);
  });
});
