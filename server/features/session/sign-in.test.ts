import pg from 'pg';
import { describe, expect, test, vi } from 'vitest';
import { roleMatrix } from '../../../contract/permissions.ts';
import { session as calls } from '../../../contract/session.ts';
import { rbac } from '../../../contract/users.ts';
import {
  changePerson,
  cookieOf,
  password,
  seconds,
  startTestServer,
  startTwin,
  type TestServer,
} from '../../../tests/harness.ts';
import { later, me } from '../../../tests/session-room.ts';

const server = await startTestServer();

const login = (on: TestServer, email: string, plain = password, headers: Record<string, string> = {}) =>
  on.api().call(calls.login, { body: { email, password: plain } }, headers);

describe('login', () => {
  test('answers the person, an access token, permissions and roles', async () => {
    const { email, userId } = await server.createPerson('support_agent');
    const answer = await login(server, email);
    expect(answer.status).toBe(200);
    expect(answer.body.data).toEqual({
      user: { userId, email, name: 'The support_agent' },
      accessToken: expect.stringMatching(/^[\w-]{43}$/),
      permissions: expect.any(Array),
      roles: [{ name: 'support_agent' }],
      secondFactorMissing: false,
      ownPasswordMissing: false,
      firstScreen: null,
      advice: [],
    });
    const words = (list: readonly { resource: string; action: string }[]) =>
      list.map((p) => `${p.resource}:${p.action}`).toSorted();
    expect(words(answer.body.data.permissions)).toEqual(words(roleMatrix.support_agent));
  });

  test('finds the person whatever the case of the email', async () => {
    const { email } = await server.createPerson('viewer');
    expect((await login(server, `\ufeff ${email.toUpperCase()}\u200b `)).status).toBe(200);
  });

  test('sets an httpOnly, SameSite=Strict cookie for the whole site that lasts as long as the browser', async () => {
    const { email } = await server.createPerson('viewer');
    const [line] = (await login(server, email)).headers.getSetCookie();
    expect(line).toMatch(/^lanyard_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/);
  });

  test('sets a Secure __Host- cookie and HSTS on https', async () => {
    const own = await startTestServer({ config: { publicUrl: 'https://licenses.example.com' } });
    const { email } = await own.createPerson('viewer');
    const answer = await login(own, email);
    expect(answer.headers.getSetCookie()[0]).toMatch(
      /^__Host-lanyard_session=[\w-]{43}; Path=\/; HttpOnly; Secure; SameSite=Strict$/,
    );
    expect(answer.headers.get('strict-transport-security')).toMatch(/max-age=\d{7,}/);
    expect((await me(own, { headers: { cookie: cookieOf(answer.headers)! } })).status).toBe(200);
    const described = await fetch(`${own.url}/openapi.json`);
    expect(await described.json()).toMatchObject({
      components: { securitySchemes: { session: { in: 'cookie', name: '__Host-lanyard_session' } } },
    });
  });

  test('stores neither the cookie nor the token, only their hashes', async () => {
    const { cookie, accessToken, userId } = await server.signInAs('viewer');
    const rows = await server.db.selectFrom('sessions').selectAll().where('user_id', '=', userId).execute();
    const stored = JSON.stringify(
      rows.map((row) => ({ ...row, text: [row.cookie_hash, row.access_hash].map(String) })),
    );
    expect(rows).toHaveLength(1);
    expect(stored).not.toContain(cookie.split('=')[1]);
    expect(stored).not.toContain(accessToken);
  });

  test('says the same to an unknown account, a wrong password and an inactive account', async () => {
    const { email, userId } = await server.createPerson('viewer');
    const inactive = await server.createPerson('viewer');
    await changePerson(server, (tx) =>
      tx.updateTable('users').set({ status: 'inactive' }).where('user_id', '=', inactive.userId).execute(),
    );
    const answers = [
      await login(server, 'nobody@lanyard.test'),
      await login(server, email, 'not the password'),
      await login(server, inactive.email),
    ];
    for (const { status, body, headers } of answers) {
      expect(status).toBe(401);
      const { requestId: _, ...said } = body;
      expect(said).toEqual({
        success: false,
        error: 'Email or password is not right.',
        code: 'WRONG_CREDENTIALS',
      });
      expect(cookieOf(headers)).toBeUndefined();
    }
    expect(userId).toBeTruthy();
  });

  test('does the same work for an unknown account as for a wrong password', async () => {
    const asked: string[] = [];
    const passwords = {
      hash: async () => '$argon2id$one',
      verify: async (hash: string) => {
        asked.push(hash);
        return false;
      },
      derive: async () => Buffer.alloc(32),
      stop: async () => undefined,
    };
    const own = await startTestServer({ passwords });
    const { email } = await own.createPerson('viewer');
    await login(own, email);
    await login(own, 'nobody@lanyard.test');
    expect(asked).toEqual(['$argon2id$one', '$argon2id$one']);
  });

  test('looks once for an account, whether there is one or not, also where it is throttled', async () => {
    const { email } = await server.createPerson('viewer');
    const asked = vi.spyOn(pg.Client.prototype, 'query');
    const looks = async (typed: string) => {
      asked.mockClear();
      await login(server, typed, 'wrong');
      return asked.mock.calls.filter((call) => JSON.stringify(call[0]).includes('lower(u.email)')).length;
    };
    for (let tries = 0; tries < 11; tries++)
      for (const typed of [email, 'no one@lanyard.test'])
        expect([tries, await looks(typed)]).toEqual([tries, 1]);
    asked.mockRestore();
  });

  test('refuses a service account, which has API keys instead', async () => {
    const { email, userId } = await server.createPerson('service_account');
    const answer = await login(server, email);
    expect(answer.status).toBe(403);
    expect(answer.body.error).toBe('A service account cannot sign in to the console. Use an API key.');
    expect(cookieOf(answer.headers)).toBeUndefined();
    const root = server.api(await server.signInAs('super_admin'));
    await root.ok(rbac.assignRole, { params: { userId, roleId: 'viewer' } });
    expect((await login(server, email)).status, 'with another role too').toBe(200);
    for (const roleId of ['viewer', 'service_account'])
      await root.ok(rbac.revokeRole, { params: { userId, roleId } });
    expect((await login(server, email)).status, 'without any role').toBe(200);
  });

  test('leaves no session to a user who became a service account while the password was checked', async () => {
    const person = await server.signInAs('viewer');
    await server.db
      .updateTable('user_roles')
      .set({ role_id: 'service_account' })
      .where('user_id', '=', person.userId)
      .execute();
    for (const who of [person, person.byCookie])
      expect((await server.api(who).call(calls.me)).status).toBe(401);
  });

  test.each([
    [{ email: '', password: 'x' }, 'email: Email is required'],
    [{ email: 'a@b.c', password: '' }, 'password: Password is required'],
    [{ email: 'a@b.c' }, 'password: '],
    [{ email: 'a'.repeat(321), password: 'x' }, 'email: Must be at most 320 characters'],
    [{ email: 'a@b.c', password: 'x'.repeat(1025) }, 'password: Must be at most 1,024 characters'],
    [{ email: 'a@b.c\0', password: 'x' }, 'email: '],
    [{ email: 'a@b.c\u{d800}', password: 'x' }, 'email: '],
    [{ email: 'a@b.c', password: 'x', admin: true }, 'admin: Unknown field'],
  ])('refuses %j, naming the field', async (body, sentence) => {
    const answer = await server.api().call(calls.login, { body: body as never });
    expect(answer.status).toBe(400);
    expect(answer.body.error).toContain(sentence);
  });

  test('writes every attempt into the audit log, without the password', async () => {
    const { email } = await server.createPerson('viewer');
    await login(server, email, 'a wrong secret');
    const answer = await login(server, email);
    const entries = await server.db
      .selectFrom('audit_entries')
      .selectAll()
      .where('event_type', 'like', 'session.%')
      .where('changes_summary', 'like', `Session of ${email}: %`)
      .orderBy('audit_id')
      .execute();
    expect(entries).toMatchObject([
      {
        event_type: 'session.login_failed',
        success: false,
        ip_address: '127.0.0.1',
        error_message: 'Email or password is not right.',
        changes_summary: `Session of ${email}: sign-in failed`,
      },
      {
        event_type: 'session.login',
        success: true,
        user_email: email,
        user_role: 'viewer',
        ip_address: '127.0.0.1',
      },
    ]);
    expect(JSON.stringify(entries)).not.toContain('a wrong secret');
    expect(JSON.stringify(entries)).not.toContain(answer.body.data.accessToken);
  });
});

describe('the throttle', () => {
  test('lets the right password through after nine failures, however often it was right before', async () => {
    const own = await startTestServer();
    const { email } = await own.createPerson('viewer');
    for (let i = 0; i < 15; i++) expect((await login(own, email)).status).toBe(200);
    for (let i = 0; i < 9; i++) await login(own, email, 'wrong');
    expect((await login(own, email)).status).toBe(200);
    expect((await login(own, email, 'wrong')).status, 'the tenth failure').toBe(401);
    const refused = await login(own, email.toUpperCase());
    expect([refused.status, refused.body.code], 'after ten failures').toEqual([429, 'TOO_MANY_REQUESTS']);
    const other = await own.createPerson('viewer');
    expect((await login(own, other.email)).status, 'another account').toBe(200);
  });

  test('says how many seconds to wait, and means it', async () => {
    const own = await startTestServer();
    const { email } = await own.createPerson('viewer');
    for (let i = 0; i < 10; i++) await login(own, email, 'wrong');
    const wait = Number((await login(own, email)).headers.get('retry-after'));
    later(own, seconds(wait) - 1);
    expect((await login(own, email)).status).toBe(429);
    later(own, 1);
    expect((await login(own, email)).status).toBe(200);
  });

  test('lets a hundred failures of an address through, counting the address that a trusted proxy names', async () => {
    const own = await startTestServer({ config: { trustProxy: ['127.0.0.1'] } });
    const { email } = await own.createPerson('viewer');
    const from = (address: string) => ({ 'x-forwarded-for': address });
    const failures = await Promise.all(
      Array.from({ length: 100 }, (_, i) => login(own, `nobody-${i}@lanyard.test`, 'x', from('203.0.113.7'))),
    );
    expect(new Set(failures.map((answer) => answer.status))).toEqual(new Set([401]));
    expect((await login(own, email, password, from('203.0.113.7'))).status).toBe(429);
    expect((await login(own, email, password, from('203.0.113.8'))).status).toBe(200);
  });

  test('does not lock out an office that signs in 120 times', async () => {
    const own = await startTestServer();
    const people = await Promise.all(Array.from({ length: 4 }, () => own.createPerson('viewer')));
    for (let round = 0; round < 30; round++) {
      for (const { email } of people) expect((await login(own, email)).status).toBe(200);
    }
  });

  test('lets thirty right sign-ins to one account through at the same moment: none of them failed', async () => {
    const own = await startTestServer();
    const { email } = await own.createPerson('viewer');
    const answers = await Promise.all(Array.from({ length: 30 }, () => login(own, email)));
    expect(answers.map((answer) => answer.status)).toEqual(answers.map(() => 200));
  });

  test('answers no more than ten of forty guesses that come at the same moment: the rest must tell nothing', async () => {
    const own = await startTestServer();
    const { email } = await own.createPerson('viewer');
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, i) => login(own, email, `guess ${i % 3}`)),
    );
    expect(answers.filter((answer) => answer.status === 401)).toHaveLength(10);
    expect(answers.filter((answer) => answer.status === 429)).toHaveLength(30);
  });

  test('holds across processes', async () => {
    const own = await startTestServer();
    const twin = await startTwin(own);
    const { email } = await own.createPerson('viewer');
    for (let i = 0; i < 10; i++) await login(i % 2 ? own : twin, email, 'wrong');
    expect((await login(own, email)).status).toBe(429);
    expect((await login(twin, email)).status).toBe(429);
  });
});
