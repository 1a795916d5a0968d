import { afterAll, describe, expect, test } from 'vitest';
import { customers } from '../../../contract/customers.ts';
import { roleMatrix } from '../../../contract/permissions.ts';
import { session as calls } from '../../../contract/session.ts';
import {
  auditOf,
  changePerson,
  cookieOf,
  days,
  eventually,
  hours,
  minutes,
  movableClock,
  password,
  seconds,
  startTestServer,
  startTwin,
  type Identity,
  type Session,
  type TestServer,
  checkedTime,
} from '../../../tests/harness.ts';

const server = await startTestServer();
afterAll(() => server.close());

const login = (on: TestServer, email: string, plain = password, headers: Record<string, string> = {}) =>
  on.api().call(calls.login, { body: { email, password: plain } }, headers);
const me = (on: TestServer, who: Identity) => on.api(who).call(calls.me);
const withCookie = (cookie: string): Identity => ({ headers: { cookie, 'sec-fetch-site': 'same-origin' } });
const refresh = (on: TestServer, cookie: string) => on.api(withCookie(cookie)).call(calls.refresh);
const later = (on: TestServer, ms: number) => on.clock.advance(ms);

/** A server of its own for tests that move the clock or count failures. */
async function alone(work: (own: TestServer) => Promise<void>, options = {}): Promise<void> {
  const own = await startTestServer(options);
  try {
    await work(own);
  } finally {
    await own.close();
  }
}

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
    expect((await login(server, `  ${email.toUpperCase()} `)).status).toBe(200);
  });

  test('sets an httpOnly, SameSite=Strict cookie for the whole site that lasts as long as the browser', async () => {
    const { email } = await server.createPerson('viewer');
    const [line] = (await login(server, email)).headers.getSetCookie();
    expect(line).toMatch(/^lanyard_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/);
  });

  test('sets a Secure __Host- cookie and HSTS on https', async () => {
    await alone(
      async (own) => {
        const { email } = await own.createPerson('viewer');
        const answer = await login(own, email);
        expect(answer.headers.getSetCookie()[0]).toMatch(
          /^__Host-lanyard_session=[\w-]{43}; Path=\/; HttpOnly; Secure; SameSite=Strict$/,
        );
        expect(answer.headers.get('strict-transport-security')).toMatch(/max-age=\d{7,}/);
        expect((await me(own, { headers: { cookie: cookieOf(answer.headers)! } })).status).toBe(200);
      },
      { config: { publicUrl: 'https://licenses.example.com' } },
    );
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
      stop: async () => undefined,
    };
    await alone(
      async (own) => {
        const { email } = await own.createPerson('viewer');
        await login(own, email);
        await login(own, 'nobody@lanyard.test');
        expect(asked).toEqual(['$argon2id$one', '$argon2id$one']);
      },
      { passwords },
    );
  });

  test('refuses a service account, which has API keys instead', async () => {
    const { email } = await server.createPerson('service_account');
    const answer = await login(server, email);
    expect(answer.status).toBe(403);
    expect(answer.body.error).toBe('A service account cannot sign in to the console. Use an API key.');
    expect(cookieOf(answer.headers)).toBeUndefined();
  });

  test.each([
    [{ email: '', password: 'x' }, 'email: Email is required'],
    [{ email: 'a@b.c', password: '' }, 'password: Password is required'],
    [{ email: 'a@b.c' }, 'password: '],
    [{ email: 'a'.repeat(321), password: 'x' }, 'email: Must be at most 320 characters'],
    [{ email: 'a@b.c', password: 'x'.repeat(1025) }, 'password: Must be at most 1,024 characters'],
    [{ email: 'a@b.c\0', password: 'x' }, 'email: '],
    [{ email: 'a@b.c\u{d800}', password: 'x' }, 'email: '],
    [{ email: 'a@b.c', password: 'x', admin: true }, 'admin: Is not a known field'],
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
  test('lets ten failures of an account through, and then refuses even the right password', async () => {
    await alone(async (own) => {
      const { email } = await own.createPerson('viewer');
      for (let i = 1; i <= 10; i++)
        expect((await login(own, email, 'wrong')).status, `failure ${i}`).toBe(401);
      const refused = await login(own, email.toUpperCase());
      expect(refused.status).toBe(429);
      expect(refused.body.code).toBe('TOO_MANY_REQUESTS');
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
      const other = await own.createPerson('viewer');
      expect((await login(own, other.email)).status, 'another account').toBe(200);
    });
  });

  test('lets the right password through after nine failures, however often it was right before', async () => {
    await alone(async (own) => {
      const { email } = await own.createPerson('viewer');
      for (let i = 0; i < 15; i++) expect((await login(own, email)).status).toBe(200);
      for (let i = 0; i < 9; i++) await login(own, email, 'wrong');
      expect((await login(own, email)).status).toBe(200);
      expect((await login(own, email, 'wrong')).status, 'the tenth failure').toBe(401);
      expect((await login(own, email)).status, 'after ten failures').toBe(429);
    });
  });

  test('says how many seconds to wait, and means it', async () => {
    await alone(async (own) => {
      const { email } = await own.createPerson('viewer');
      for (let i = 0; i < 10; i++) await login(own, email, 'wrong');
      const wait = Number((await login(own, email)).headers.get('retry-after'));
      later(own, seconds(wait) - 1);
      expect((await login(own, email)).status).toBe(429);
      later(own, 1);
      expect((await login(own, email)).status).toBe(200);
    });
  });

  test('lets a hundred failures of an address through, counting the address that a trusted proxy names', async () => {
    await alone(
      async (own) => {
        const { email } = await own.createPerson('viewer');
        const from = (address: string) => ({ 'x-forwarded-for': address });
        const failures = await Promise.all(
          Array.from({ length: 100 }, (_, i) =>
            login(own, `nobody-${i}@lanyard.test`, 'x', from('203.0.113.7')),
          ),
        );
        expect(new Set(failures.map((answer) => answer.status))).toEqual(new Set([401]));
        expect((await login(own, email, password, from('203.0.113.7'))).status).toBe(429);
        expect((await login(own, email, password, from('203.0.113.8'))).status).toBe(200);
      },
      { config: { trustProxy: ['127.0.0.1'] } },
    );
  });

  test('does not lock out an office that signs in 120 times', async () => {
    await alone(async (own) => {
      const people = await Promise.all(Array.from({ length: 4 }, () => own.createPerson('viewer')));
      for (let round = 0; round < 30; round++) {
        for (const { email } of people) expect((await login(own, email)).status).toBe(200);
      }
    });
  });

  test('lets thirty right sign-ins to one account through at the same moment: none of them failed', async () => {
    await alone(async (own) => {
      const { email } = await own.createPerson('viewer');
      const answers = await Promise.all(Array.from({ length: 30 }, () => login(own, email)));
      expect(answers.map((answer) => answer.status)).toEqual(answers.map(() => 200));
    });
  });

  test('answers no more than ten of forty guesses that come at the same moment: the rest must tell nothing', async () => {
    await alone(async (own) => {
      const { email } = await own.createPerson('viewer');
      const answers = await Promise.all(
        Array.from({ length: 40 }, (_, i) => login(own, email, `guess ${i % 3}`)),
      );
      expect(answers.filter((answer) => answer.status === 401)).toHaveLength(10);
      expect(answers.filter((answer) => answer.status === 429)).toHaveLength(30);
    });
  });

  test('holds across processes', async () => {
    await alone(async (own) => {
      const twin = await startTwin(own);
      const { email } = await own.createPerson('viewer');
      for (let i = 0; i < 10; i++) await login(i % 2 ? own : twin, email, 'wrong');
      expect((await login(own, email)).status).toBe(429);
      expect((await login(twin, email)).status).toBe(429);
      await twin.close();
    });
  });
});

describe('a session', () => {
  test('is recognized by its cookie alone and by its bearer token alone', async () => {
    const session = await server.signInAs('license_manager');
    for (const who of [session, session.byCookie]) {
      const answer = await me(server, who);
      expect(answer.status).toBe(200);
      expect(answer.body.data.user.email).toBe(session.email);
      expect(answer.body.data.roles).toEqual([{ name: 'license_manager' }]);
    }
  });

  test('is not recognized by a token of another kind, a made-up one, or an empty one', async () => {
    const { accessToken, cookie } = await server.signInAs('viewer');
    const [name, value] = cookie.split('=') as [string, string];
    const strangers: Record<string, string>[] = [
      { cookie: `${name}=${accessToken}` },
      { authorization: `Bearer ${value}` },
      { cookie: `${name}=` },
      { authorization: 'Bearer ' },
      { authorization: `Bearer ${'A'.repeat(43)}` },
      { authorization: `Basic ${accessToken}` },
    ];
    for (const headers of strangers) {
      expect((await me(server, { headers })).status, JSON.stringify(headers)).toBe(401);
    }
  });

  test('answers 401 to an expired bearer token beside a good cookie, so that the console rotates both', async () => {
    const { cookie } = await server.signInAs('viewer');
    expect((await me(server, { headers: { cookie, authorization: 'Bearer expired' } })).status).toBe(401);
    expect((await refresh(server, cookie)).status).toBe(200);
  });

  test('has a bearer token that lives exactly 15 minutes', async () => {
    await alone(async (own) => {
      const session = await own.signInAs('viewer');
      later(own, minutes(15) - 1);
      expect((await me(own, session)).status).toBe(200);
      later(own, 1);
      expect((await me(own, session)).status).toBe(401);
      expect((await me(own, session.byCookie)).status, 'the cookie lives on').toBe(200);
    });
  });

  test('ends after 30 minutes without a call', async () => {
    await alone(async (own) => {
      const session = await own.signInAs('viewer');
      later(own, minutes(30) - 1);
      expect((await me(own, session.byCookie)).status).toBe(200);
      later(own, minutes(30));
      expect((await me(own, session.byCookie)).status).toBe(401);
    });
  });

  test('counts its 30 minutes from the last call, at most half a minute short', async () => {
    await alone(async (own) => {
      const session = await own.signInAs('viewer');
      later(own, seconds(29));
      expect((await me(own, session.byCookie)).status).toBe(200);
      later(own, minutes(29.5));
      expect((await me(own, session.byCookie)).status).toBe(200);
    });
  });

  test('ends after 12 hours however busy it is', async () => {
    await alone(async (own) => {
      const session = await own.signInAs('viewer');
      for (let passed = 0; passed < hours(12) - minutes(20); passed += minutes(20)) {
        later(own, minutes(20));
        expect((await me(own, session.byCookie)).status, `after ${passed / 60_000} minutes`).toBe(200);
      }
      later(own, minutes(20) - 1);
      expect((await me(own, session.byCookie)).status).toBe(200);
      later(own, 1);
      expect((await me(own, session.byCookie)).status).toBe(401);
      expect((await refresh(own, session.cookie)).status).toBe(401);
    });
  });

  test('keeps an active person in when SESSION_IDLE is short', async () => {
    await alone(
      async (own) => {
        const session = await own.signInAs('viewer');
        for (let i = 0; i < 6; i++) {
          later(own, seconds(8));
          expect((await me(own, session.byCookie)).status, `call ${i}`).toBe(200);
        }
        later(own, seconds(10));
        expect((await me(own, session.byCookie)).status).toBe(401);
      },
      { config: { sessionIdleMs: seconds(10) } },
    );
  });

  test('is kept alive by use of either of two processes', async () => {
    await alone(async (own) => {
      const twin = await startTwin(own);
      const session = await own.signInAs('viewer');
      await me(own, session.byCookie);
      await me(twin, session.byCookie);
      for (let i = 0; i < 3; i++) {
        later(own, minutes(20));
        expect((await me(twin, session.byCookie)).status).toBe(200);
      }
      expect((await me(own, session.byCookie)).status).toBe(200);
      await twin.close();
    });
  });
});

describe('refresh', () => {
  test('rotates the cookie and the access token, and answers what a sign-in answers', async () => {
    const session = await server.signInAs('viewer');
    const answer = await refresh(server, session.cookie);
    expect(answer.status).toBe(200);
    expect(answer.body.data).toMatchObject({ user: { email: session.email }, roles: [{ name: 'viewer' }] });
    const next = cookieOf(answer.headers)!;
    expect(next).not.toBe(session.cookie);
    expect(answer.body.data.accessToken).not.toBe(session.accessToken);
    expect((await me(server, withCookie(next))).status).toBe(200);
    expect(
      (await me(server, { headers: { authorization: `Bearer ${answer.body.data.accessToken}` } })).status,
    ).toBe(200);
    expect((await me(server, session)).status, 'the old access token').toBe(401);
  });

  test('keeps the 12 hours of the first sign-in', async () => {
    await alone(async (own) => {
      let { cookie } = await own.signInAs('viewer');
      for (let i = 0; i < 35; i++) {
        later(own, minutes(20));
        cookie = cookieOf((await refresh(own, cookie)).headers)!;
      }
      later(own, minutes(20));
      expect((await refresh(own, cookie)).status).toBe(401);
    });
  });

  test('gives parallel tabs a working session each, within ten seconds', async () => {
    await alone(async (own) => {
      const session = await own.signInAs('viewer');
      const answers = await Promise.all(Array.from({ length: 5 }, () => refresh(own, session.cookie)));
      expect(answers.map((answer) => answer.status)).toEqual([200, 200, 200, 200, 200]);
      const cookies = answers.map((answer) => cookieOf(answer.headers)).filter(Boolean);
      expect(cookies, 'one tab wins the new cookie').toHaveLength(1);
      later(own, seconds(10));
      expect((await me(own, withCookie(session.cookie))).status, 'the old cookie within its grace').toBe(200);
      expect((await me(own, withCookie(cookies[0]!))).status).toBe(200);
    });
  });

  test('leaves one access token and one cookie working when two tabs refresh at once', async () => {
    const session = await server.signInAs('viewer');
    const [one, two] = await Promise.all([refresh(server, session.cookie), refresh(server, session.cookie)]);
    const cookies = [one, two].map((answer) => cookieOf(answer.headers)).filter(Boolean);
    expect(cookies).toHaveLength(1);
    const statuses = await Promise.all(
      [one, two].map(async ({ body }) => {
        const headers = { authorization: `Bearer ${body.data.accessToken}` };
        return (await me(server, { headers })).status;
      }),
    );
    expect(statuses.toSorted()).toEqual([200, 401]);
    expect((await me(server, withCookie(cookies[0]!))).status, 'the other tab refreshes with it').toBe(200);
  });

  test('ends the session when a rotated cookie comes back after the grace', async () => {
    await alone(async (own) => {
      const session = await own.signInAs('viewer');
      const next = cookieOf((await refresh(own, session.cookie)).headers)!;
      later(own, seconds(10) + 1);
      expect((await me(own, withCookie(session.cookie))).status).toBe(401);
      expect((await me(own, withCookie(next))).status, 'the thief or the owner: both are out').toBe(401);
      const row = await own.db
        .selectFrom('sessions')
        .select('end_reason')
        .where('user_id', '=', session.userId)
        .executeTakeFirstOrThrow();
      expect(row.end_reason).toBe('rotated cookie came back');
    });
  });

  test('ends the session also when the cookie that comes back was rotated more than once since', async () => {
    await alone(async (own) => {
      const session = await own.signInAs('viewer');
      let stolen = session.cookie;
      for (let i = 0; i < 3; i++) {
        stolen = cookieOf((await refresh(own, stolen)).headers)!;
        later(own, seconds(30));
      }
      expect((await refresh(own, session.cookie)).status).toBe(401);
      expect((await me(own, withCookie(stolen))).status, 'the thief').toBe(401);
    });
  });

  test('clears the cookie and says so when there is no session behind it', async () => {
    const answer = await refresh(server, `lanyard_session=${'A'.repeat(43)}`);
    expect(answer.status).toBe(401);
    expect(answer.body.code).toBe('UNAUTHENTICATED');
    expect(cookieOf(answer.headers)).toBe('lanyard_session=');
  });

  test('needs the cookie: a bearer token alone does not rotate anything', async () => {
    const session = await server.signInAs('viewer');
    expect((await server.api(session).call(calls.refresh)).status).toBe(401);
  });
});

describe('logout', () => {
  test('ends the session on the server and clears the cookie', async () => {
    const session = await server.signInAs('viewer');
    const answer = await server.api(session.byCookie).call(calls.logout);
    expect(answer.status).toBe(204);
    expect(cookieOf(answer.headers)).toBe('lanyard_session=');
    expect((await me(server, session)).status).toBe(401);
    expect((await me(server, session.byCookie)).status).toBe(401);
    expect((await refresh(server, session.cookie)).status).toBe(401);
  });

  test('is harmless without a session', async () => {
    expect((await server.api().call(calls.logout)).status).toBe(204);
  });

  test('leaves the other sessions of the person alone', async () => {
    const { email } = await server.createPerson('viewer');
    const [one, two] = [await server.signIn(email, 'viewer'), await server.signIn(email, 'viewer')];
    await server.api(one).call(calls.logout);
    expect((await me(server, two)).status).toBe(200);
  });

  test('acts in every process within moments, and is in the audit log', async () => {
    const twin = await startTwin(server);
    const session = await server.signInAs('viewer');
    expect((await me(twin, session)).status).toBe(200);
    await server.api(session).call(calls.logout);
    await eventually(async () => expect((await me(twin, session)).status).toBe(401), 5000);
    const row = await server.db
      .selectFrom('sessions')
      .select('session_id')
      .where('user_id', '=', session.userId)
      .executeTakeFirstOrThrow();
    expect((await auditOf(server, row.session_id)).map((entry) => entry.event_type)).toEqual([
      'session.login',
      'session.logout',
    ]);
    await twin.close();
  });
});

describe('a change of the person', () => {
  const setStatus = (session: Session, status: 'active' | 'inactive') =>
    changePerson(server, (tx) =>
      tx.updateTable('users').set({ status }).where('user_id', '=', session.userId).execute(),
    );

  test('to inactive refuses the next call', async () => {
    const session = await server.signInAs('admin');
    expect((await me(server, session)).status).toBe(200);
    await setStatus(session, 'inactive');
    expect((await me(server, session)).status).toBe(401);
    expect((await me(server, session.byCookie)).status).toBe(401);
    expect((await refresh(server, session.cookie)).status).toBe(401);
  });

  test('of the role takes effect with the next call, up and down', async () => {
    const session = await server.signInAs('viewer');
    const create = () => server.api(session).call(customers.create, { body: { name: 'New', country: 'FR' } });
    const setRole = (role_id: string) =>
      changePerson(server, (tx) =>
        tx.updateTable('user_roles').set({ role_id }).where('user_id', '=', session.userId).execute(),
      );
    expect((await create()).status).toBe(403);
    await setRole('admin');
    expect((await create()).status).toBe(201);
    await setRole('viewer');
    expect((await create()).status).toBe(403);
  });

  test('of what a role may do takes effect with the next call', async () => {
    await alone(async (own) => {
      const session = await own.signInAs('viewer');
      expect((await own.api(session).call(customers.list)).status).toBe(200);
      await changePerson(own, (tx) =>
        tx
          .deleteFrom('role_permissions')
          .where('role_id', '=', 'viewer')
          .where('resource', '=', 'customers')
          .execute(),
      );
      const answer = await own.api(session).call(customers.list);
      expect(answer.status).toBe(403);
      expect(answer.body.error).toContain('customers:read');
    });
  });
});

describe('a change with the cookie alone', () => {
  const create = (headers: Record<string, string>) =>
    server.api({ headers }).call(customers.create, { body: { name: 'Cross', country: 'FR' } });
  const host = () => new URL(server.url).host;

  test.each([
    ['same-origin', 201],
    ['same-site', 403],
    ['cross-site', 403],
    ['none', 403],
  ])('from a page that is %s answers %i', async (site, status) => {
    const { cookie } = await server.signInAs('admin');
    const answer = await create({ cookie, 'sec-fetch-site': site });
    expect(answer.status).toBe(status);
    if (status === 403) expect(answer.body.code).toBe('CROSS_SITE');
  });

  test('goes by Origin where the browser says nothing of the site', async () => {
    const { cookie } = await server.signInAs('admin');
    expect((await create({ cookie, origin: `http://${host()}` })).status).toBe(201);
    for (const origin of [
      'http://evil.example',
      'null',
      '',
      `http://${host()}.evil.example`,
      'http://localhost:1',
    ]) {
      expect((await create({ cookie, origin })).status, origin).toBe(403);
    }
    expect((await create({ cookie })).status, 'neither of them').toBe(403);
  });

  test('is refused from another site whatever stands in Authorization, unless that is who calls', async () => {
    const session = await server.signInAs('admin');
    const elsewhere = { cookie: session.cookie, 'sec-fetch-site': 'cross-site' };
    for (const authorization of ['Basic dXNlcjpwYXNz', '']) {
      expect((await create({ ...elsewhere, authorization })).status, authorization).toBe(403);
    }
    for (const authorization of ['Bearer expired', `Bearer ${'A'.repeat(43)}`]) {
      expect((await create({ ...elsewhere, authorization })).status, authorization).toBe(401);
    }
    expect((await create({ ...elsewhere, ...session.headers })).status).toBe(201);
  });

  test('does not happen, and is in the audit log as refused', async () => {
    const { cookie, userId } = await server.signInAs('admin');
    await create({ cookie, 'sec-fetch-site': 'cross-site' });
    const entries = await server.db
      .selectFrom('audit_entries')
      .selectAll()
      .where('user_id', '=', userId)
      .orderBy('audit_id')
      .execute();
    expect(entries.at(-1)).toMatchObject({
      event_type: 'call.refused',
      success: false,
      api_endpoint: 'POST /api/customers',
    });
  });

  test('covers refresh and logout too, and reads are free', async () => {
    const { cookie } = await server.signInAs('admin');
    const elsewhere = server.api({ headers: { cookie, 'sec-fetch-site': 'cross-site' } });
    expect((await elsewhere.call(calls.refresh)).status).toBe(403);
    expect((await elsewhere.call(calls.logout)).status).toBe(403);
    expect((await elsewhere.call(calls.me)).status).toBe(200);
  });
});

test('a session that began in the future is not taken; clocks of processes may be minutes apart', async () => {
  await alone(
    async (own) => {
      const now = own.clock.now();
      const person = await own.signInAs('viewer');
      own.clock.set(new Date(now.getTime() - minutes(5)));
      expect((await me(own, person.byCookie)).status).toBe(200);
      own.clock.set(new Date(now.getTime() - minutes(5) - 1));
      expect((await me(own, person.byCookie)).status).toBe(401);
      expect((await me(own, person)).status).toBe(401);
    },
    { clock: movableClock() },
  );
});

test('sessions that ended long ago are cleared away, and living ones are not', async () => {
  const { housekeep } = await import('../../jobs/housekeeping.ts');
  await alone(
    async (own) => {
      const old = await own.signInAs('viewer');
      later(own, days(31));
      const young = await own.signInAs('viewer');
      await housekeep(own.context, checkedTime(own));
      const rows = await own.db.selectFrom('sessions').select('user_id').execute();
      expect(rows.map((row) => row.user_id)).toEqual([young.userId]);
      expect((await me(own, old)).status).toBe(401);
      expect((await me(own, young)).status).toBe(200);
    },
    { clock: movableClock() },
  );
});
