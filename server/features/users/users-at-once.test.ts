import { describe, expect, test } from 'vitest';
import { account } from '../../../contract/account.ts';
import { session as sessionCalls } from '../../../contract/session.ts';
import { rbac, users as calls } from '../../../contract/users.ts';
import { password, startTestServer, type Session } from '../../../tests/harness.ts';
import { openHolder } from '../../../tests/waiting-calls.ts';

/* What else may happen to a user while a call about them is under way. */

const server = await startTestServer();
const holder = await openHolder(server);
const root = server.api(await server.signInAs('super_admin'));
const admin = server.api(await server.signInAs('admin'));

const chosen = 'chosen by an administrator';

const holdUser = (id: string) => ['select from users where user_id = $1 for update', id] as [string, string];

const login = (email: string, plain: string) =>
  server.api().call(sessionCalls.login, { body: { email, password: plain } });

/** Makes a call that comes to its transaction only after `meanwhile`. */
const afterKey = <T>(
  person: Session,
  call: (headers: Record<string, string>) => Promise<T>,
  meanwhile: () => Promise<unknown>,
) =>
  holder.whileWaiting(
    [
      `insert into idempotency_keys (actor, key, request_hash, created_at) values ($1, 'kept', '', now())`,
      person.userId,
    ],
    () => call({ 'idempotency-key': 'kept' }),
    async () => {
      await meanwhile();
      await holder.query('delete from idempotency_keys');
    },
  );

describe('a password that an administrator resets', () => {
  test('is not replaced by a change that was under way, whose session has ended', async () => {
    const person = await server.signInAs('viewer');
    const stolen = 'chosen by a thief';
    const body = { currentPassword: password, newPassword: stolen, confirmPassword: stolen };
    const reset = { newPassword: chosen, confirmPassword: chosen };
    const answer = await afterKey(
      person,
      (headers) => server.api(person).call(account.changePassword, { body }, headers),
      () => root.ok(calls.resetPassword, { params: { id: person.userId }, body: reset }),
    );
    expect([answer.status, answer.body.code]).toEqual([401, 'UNAUTHENTICATED']);
    expect((await login(person.email, stolen)).status).toBe(401);
    expect((await login(person.email, chosen)).status).toBe(200);
  });
});

test('a new user whose role gets users:update meanwhile needs the own password of the caller as well', async () => {
  const thief = await server.signInAs('super_admin');
  await holder.query(
    `update sessions set created_at = created_at - interval '6 minutes' where user_id = $1`,
    thief.userId,
  );
  const body = { email: 'evil@lanyard.test', password: chosen, role: 'ghost' };
  const answer = await afterKey(
    thief,
    (headers) => server.api(thief).call(calls.create, { body }, headers),
    () => root.ok(rbac.createRole, { body: { roleId: 'ghost', description: 'x', copyFrom: 'super_admin' } }),
  );
  expect(answer).toMatchObject({ status: 422, body: { details: [{ path: 'currentPassword' }] } });
});

test('a password that was changed meanwhile proves no other change, in the same session either', async () => {
  const person = await server.signInAs('viewer');
  const changeTo = (newPassword: string) =>
    server.api(person).call(account.changePassword, {
      body: { currentPassword: password, newPassword, confirmPassword: newPassword },
    });
  const wanted = ['what the owner chose', 'what a thief chose'];
  const answers = await holder.whileWaiting(
    holdUser(person.userId),
    () => Promise.all(wanted.map(changeTo)),
    () => holder.query('select'),
  );
  const [kept, lost] = answers[0]!.status === 204 ? wanted : wanted.toReversed();
  expect(answers.map(({ status }) => status).toSorted()).toEqual([204, 401]);
  expect((await login(person.email, kept!)).status).toBe(200);
  expect((await login(person.email, lost!)).status).toBe(401);
});

test.each([
  ['is deactivated', `status = 'inactive'`],
  ['has set up a second factor', 'totp_confirmed_at = now()'],
])('who %s while they sign in gets no session', async (_, set) => {
  const { userId, email } = await server.createPerson('viewer');
  const answer = await holder.whileWaiting(
    holdUser(userId),
    () => login(email, password),
    () => holder.query(`update users set ${set} where user_id = $1`, userId),
  );
  expect([answer.status, answer.body.code]).toEqual([401, 'WRONG_CREDENTIALS']);
});

test.each<[string, (roleId: string) => Promise<{ status: number; text: string }>]>([
  [
    'given to a user',
    async (roleId) => {
      const { userId } = await server.createPerson('viewer');
      return root.call(rbac.assignRole, { params: { userId, roleId } });
    },
  ],
  [
    'that of a new user',
    (role) =>
      root.call(calls.create, { body: { email: 'new@lanyard.test', name: '', password: chosen, role } }),
  ],
  [
    'set for a user',
    async (role) => {
      const { userId: id } = await server.createPerson('viewer');
      return root.call(calls.update, { params: { id }, body: { role } });
    },
  ],
  [
    'copied',
    (copyFrom) => root.call(rbac.createRole, { body: { roleId: 'copy', description: 'x', copyFrom } }),
  ],
])('a role that is deleted while it is %s is not there', async (_, give) => {
  const roleId = 'short_lived';
  await root.ok(rbac.createRole, { body: { roleId, description: 'x', copyFrom: 'viewer' } });
  const answer = await holder.whileWaiting(['delete from roles where role_id = $1', roleId], () =>
    give(roleId),
  );
  expect([answer.status, answer.text]).toEqual([422, expect.stringContaining(`There is no role ${roleId}`)]);
});

describe('roles that are given one by one', () => {
  test('are known to a change of the user that waited for them', async () => {
    const { userId: id } = await server.createPerson('viewer');
    const answer = await holder.whileWaiting(
      holdUser(id),
      () => admin.call(calls.update, { params: { id }, body: { role: 'license_manager' } }),
      () => holder.query(`insert into user_roles (user_id, role_id) values ($1, 'super_admin')`, id),
    );
    expect([answer.status, answer.body.error]).toEqual([
      422,
      expect.stringContaining('may do more than you'),
    ]);
  });

  test.each([rbac.assignRole, rbac.revokeRole])(
    'are not changed by an edit that began before: %#',
    async (route) => {
      const { userId: id } = await server.createPerson('viewer');
      const params = { userId: id, roleId: 'license_manager' };
      if (route === rbac.revokeRole) await root.ok(rbac.assignRole, { params });
      const seen = (await root.ok(calls.list)).find((user) => user.id === id)!;
      await root.ok(route, { params });
      const body = { role: 'binary_manager', updatedAt: seen.updatedAt };
      expect((await root.call(calls.update, { params: { id }, body })).body.code).toBe('EDIT_CONFLICT');
    },
  );
});
