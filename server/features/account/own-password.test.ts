import { v7 as uuidv7 } from 'uuid';
import { describe, expect, test } from 'vitest';
import { account } from '../../../contract/account.ts';
import { approvals } from '../../../contract/approvals.ts';
import { customers } from '../../../contract/customers.ts';
import type { RoleName } from '../../../contract/permissions.ts';
import type { RouteAnswer } from '../../../contract/route.ts';
import { session } from '../../../contract/session.ts';
import { users } from '../../../contract/users.ts';
import { approveAs, asked, doing } from '../../../tests/approving.ts';
import { cookieOf, password, startTestServer, type TestServer } from '../../../tests/harness.ts';
import { codeOf } from '../../../tests/session-room.ts';
import { createPasswords } from '../../passwords.ts';
import { ensureFirstAdmin } from '../users/index.ts';

const own = 'known to nobody else';
const [asking, requiring] = await Promise.all([
  startTestServer(),
  startTestServer({ config: { requireOwnPassword: true } }),
]);

/** Signs in and answers what login, me and refresh agree on. */
async function enter(server: TestServer, email: string, plain: string) {
  const login = await server.api().call(session.login, { body: { email, password: plain } });
  expect(login.status).toBe(200);
  const as = (token: string) => server.api({ headers: { authorization: `Bearer ${token}` } });
  const me = await as(login.body.data.accessToken).ok(session.me);
  const byCookie = { headers: { cookie: cookieOf(login.headers)!, 'sec-fetch-site': 'same-origin' } };
  const refreshed = await server.api(byCookie).ok(session.refresh);
  const answer = stateOf(login.body.data);
  expect([stateOf(me), stateOf(refreshed)]).toEqual([answer, answer]);
  return { api: as(refreshed.accessToken), ...answer };
}

const stateOf = ({
  secondFactorMissing,
  ownPasswordMissing,
  advice,
  permissions,
}: RouteAnswer<typeof session.me>) => ({
  missing: { secondFactorMissing, ownPasswordMissing },
  advice,
  isPermitted: permissions.length > 0,
});

/** Someone whom a super admin created with `password`. */
async function created(server: TestServer, role: RoleName) {
  const root = server.api(await server.signInAs('super_admin'));
  const email = `${uuidv7()}@lanyard.test`;
  const user = await root.ok(users.create, { body: { email, name: 'Robin Berg', password, role } });
  return { email, user, root };
}

const toOwn = (from = password, to = own) => ({
  body: { currentPassword: from, newPassword: to, confirmPassword: to },
});

const nothing = { secondFactorMissing: false, ownPasswordMissing: false };

describe('a password that an administrator set', () => {
  test('is advised to be changed until it is; a reset asks again', async () => {
    const { email, user, root } = await created(asking, 'viewer');
    const first = await enter(asking, email, password);
    expect(first).toMatchObject({ missing: nothing, advice: ['password'], isPermitted: true });
    expect((await first.api.call(customers.list)).status).toBe(200);

    await first.api.ok(account.changePassword, toOwn());
    expect((await first.api.ok(session.me)).advice).toEqual([]);
    expect((await enter(asking, email, own)).advice).toEqual([]);

    const body = { newPassword: password, confirmPassword: password };
    await root.ok(users.resetPassword, { params: { id: user.id }, body });
    expect((await enter(asking, email, password)).advice).toEqual(['password']);
  });

  test('is not made one’s own by typing it again', async () => {
    const { email } = await created(asking, 'viewer');
    const { api } = await enter(asking, email, password);
    const again = await api.call(account.changePassword, toOwn(password, password));
    expect([again.status, again.body.error]).toEqual([422, 'This is the current password. Choose another.']);
    expect((await api.ok(session.me)).advice).toEqual(['password']);
  });

  test('is that of the first super admin too, who is told or does not exist, is asked and not kept out', async () => {
    const server = await startTestServer();
    const passwords = createPasswords();
    try {
      const { context } = server;
      const ensure = (tell: Parameters<typeof ensureFirstAdmin>[4]) =>
        ensureFirstAdmin(context, passwords, context.config, context.clock(), tell);
      // a start that cannot write it, or is killed before
      await expect(ensure(() => Promise.reject(new Error('EROFS')))).rejects.toThrow('EROFS');
      const told: { email: string; password: string }[] = [];
      const tell = async (made: (typeof told)[number]) => void told.push(made);
      await ensure(tell);
      await ensure(tell);
      expect(told).toHaveLength(1);
      expect(await enter(server, told[0]!.email, told[0]!.password)).toMatchObject({
        missing: nothing,
        advice: ['password', 'secondFactor'],
        isPermitted: true,
      });
    } finally {
      await passwords.stop();
    }
  });

  test('lets nobody do more than change it where the settings require an own one', async () => {
    const { email } = await created(requiring, 'viewer');
    const { api, ...said } = await enter(requiring, email, password);
    const missing = { secondFactorMissing: false, ownPasswordMissing: true };
    expect(said).toEqual({ missing, advice: [], isPermitted: false });
    const held = await api.call(customers.list);
    expect([held.status, held.body.error]).toEqual([
      403,
      'Somebody else set your password. Change it on your account page first.',
    ]);
    expect((await api.call(account.sessions)).status).toBe(200);

    await api.ok(account.changePassword, toOwn());
    expect((await api.call(customers.list)).status).toBe(200);
    expect(await enter(requiring, email, own)).toMatchObject({
      missing: nothing,
      advice: [],
      isPermitted: true,
    });
  });

  test('of who asked for an approval lets nobody approve it where the settings require an own one', async () => {
    const people = await Promise.all([1, 2].map(() => created(requiring, 'binary_manager')));
    const [one, other] = await Promise.all(
      people.map(async ({ email }) => {
        const { api } = await enter(requiring, email, password);
        await api.ok(account.changePassword, toOwn());
        return api;
      }),
    );
    const setting = { params: { channel: 'alpha' }, body: { required: true } } as const;
    const request = await asked(one!, doing(approvals.setChannel, setting));
    const { root, user } = people[0]!;
    const body = { newPassword: password, confirmPassword: password };
    await root.ok(users.resetPassword, { params: { id: user.id }, body });
    expect(await other!.ok(approvals.list)).toMatchObject([{ id: request.id, requesterMay: false }]);
    expect((await approveAs(other!, request, own)).status).toBe(409);
  });
});

describe('a second factor', () => {
  test('is advised to whoever may change users, until there is one', async () => {
    const { email } = await created(asking, 'admin');
    const { api, advice } = await enter(asking, email, password);
    expect(advice).toEqual(['password', 'secondFactor']);
    await api.ok(account.changePassword, toOwn());
    expect((await api.ok(session.me)).advice).toEqual(['secondFactor']);

    const currentPassword = own;
    const { secret } = await api.ok(account.enrollSecondFactor, { body: { currentPassword } });
    await api.ok(account.confirmSecondFactor, { body: { code: codeOf(asking, secret) } });
    expect((await api.ok(session.me)).advice).toEqual([]);

    await api.ok(account.removeSecondFactor, { body: { currentPassword } });
    expect((await api.ok(session.me)).advice).toEqual(['secondFactor']);
  });
});
