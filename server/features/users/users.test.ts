import { describe, expect, test } from 'vitest';
import { customers } from '../../../contract/customers.ts';
import { session as sessionCalls } from '../../../contract/session.ts';
import { rbac, users as calls } from '../../../contract/users.ts';
import { unique } from '../../../tests/factories.ts';
import { auditOf, eventually, startTestServer, startTwin, type Api } from '../../../tests/harness.ts';
import { openHolder } from '../../../tests/waiting-calls.ts';
import { usersRoom } from '../../../tests/users-room.ts';

const server = await startTestServer();
const rootPerson = await server.signInAs('super_admin');
const root = server.api(rootPerson);
const admin = server.api(await server.signInAs('admin'));

const { newPassword, makeUser, signIn, signedIn } = usersRoom(server, root);

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

  test('and reactivating take no body or an empty one; a change that lost its body is refused', async () => {
    const user = await makeUser();
    const headers = { ...rootPerson.headers, 'content-type': 'application/json' };
    const send = async (method: string, path: string, body: string) =>
      (await fetch(`${server.url}/api/users/${user.id}${path}`, { method, headers, body })).status;
    for (const body of ['', 'null', '[]', '{}'])
      for (const path of ['/deactivate', '/reactivate'])
        expect(await send('POST', path, body), `${path} ${body}`).toBe(200);
    for (const [method, path] of [
      ['PATCH', ''],
      ['DELETE', '/second-factor'],
    ] as const)
      expect(await send(method, path, ''), `${method} ${path}`).toBe(400);
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
