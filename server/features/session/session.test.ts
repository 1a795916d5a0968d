import { describe, expect, test } from 'vitest';
import { account } from '../../../contract/account.ts';
import { session as calls } from '../../../contract/session.ts';
import {
  auditOf,
  checkedTime,
  cookieOf,
  days,
  eventually,
  hours,
  minutes,
  seconds,
  startTestServer,
  startTwin,
  type Identity,
  type TestServer,
} from '../../../tests/harness.ts';
import { later, me } from '../../../tests/session-room.ts';
import { housekeep } from '../../jobs/housekeeping.ts';

const server = await startTestServer();

const withCookie = (cookie: string): Identity => ({ headers: { cookie, 'sec-fetch-site': 'same-origin' } });
const refresh = (on: TestServer, cookie: string) => on.api(withCookie(cookie)).call(calls.refresh);

const reused = (on: TestServer) =>
  on.db
    .selectFrom('audit_entries')
    .select('audit_id')
    .where('event_type', '=', 'session.cookie_reused')
    .execute();

const usual = { config: { sessionIdleMs: minutes(30), sessionMaxMs: hours(12) } };

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
    const own = await startTestServer();
    const session = await own.signInAs('viewer');
    const lives = async (token: Identity) => {
      later(own, minutes(15) - 1);
      expect((await me(own, token)).status).toBe(200);
      later(own, 1);
      expect((await me(own, token)).status).toBe(401);
    };
    await lives(session);
    expect((await me(own, session.byCookie)).status, 'the cookie lives on').toBe(200);
    const { accessToken } = (await refresh(own, session.cookie)).body.data;
    await lives({ headers: { authorization: `Bearer ${accessToken}` } });
  });

  test('ends after 30 minutes without a call', async () => {
    const own = await startTestServer(usual);
    const session = await own.signInAs('viewer');
    later(own, minutes(30) - 1);
    expect((await me(own, session.byCookie)).status).toBe(200);
    later(own, minutes(30));
    expect((await me(own, session.byCookie)).status).toBe(401);
    const again = own.api(await own.signIn(session.email, 'viewer'));
    expect(await again.ok(account.sessions), 'it is not among the open ones').toMatchObject([
      { current: true },
    ]);
  });

  test('counts its 30 minutes from the last call, at most half a minute short', async () => {
    const own = await startTestServer(usual);
    const session = await own.signInAs('viewer');
    later(own, seconds(29));
    expect((await me(own, session.byCookie)).status).toBe(200);
    later(own, minutes(29.5));
    expect((await me(own, session.byCookie)).status).toBe(200);
  });

  test('ends after 12 hours however busy it is', async () => {
    const own = await startTestServer(usual);
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

  test('keeps an active person in when SESSION_IDLE is short', async () => {
    const own = await startTestServer({ config: { sessionIdleMs: seconds(10) } });
    const session = await own.signInAs('viewer');
    for (let i = 0; i < 6; i++) {
      later(own, seconds(8));
      expect((await me(own, session.byCookie)).status, `call ${i}`).toBe(200);
    }
    later(own, seconds(10));
    expect((await me(own, session.byCookie)).status).toBe(401);
  });

  test('is kept alive by use of either of two processes', async () => {
    const own = await startTestServer(usual);
    const twin = await startTwin(own, usual);
    const session = await own.signInAs('viewer');
    await me(own, session.byCookie);
    await me(twin, session.byCookie);
    for (let i = 0; i < 3; i++) {
      later(own, minutes(20));
      expect((await me(twin, session.byCookie)).status).toBe(200);
    }
    expect((await me(own, session.byCookie)).status).toBe(200);
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
    const own = await startTestServer(usual);
    let { cookie } = await own.signInAs('viewer');
    for (let i = 0; i < 35; i++) {
      later(own, minutes(20));
      cookie = cookieOf((await refresh(own, cookie)).headers)!;
    }
    later(own, minutes(20));
    expect((await refresh(own, cookie)).status).toBe(401);
  });

  test('gives parallel tabs a working session each, within ten seconds', async () => {
    const own = await startTestServer();
    const session = await own.signInAs('viewer');
    const answers = await Promise.all(Array.from({ length: 5 }, () => refresh(own, session.cookie)));
    expect(answers.map((answer) => answer.status)).toEqual([200, 200, 200, 200, 200]);
    const cookies = answers.map((answer) => cookieOf(answer.headers)).filter(Boolean);
    expect(new Set(cookies).size, 'all of them the same').toBe(1);
    later(own, seconds(10));
    expect((await me(own, withCookie(session.cookie))).status, 'the old cookie within its grace').toBe(200);
    expect((await me(own, withCookie(cookies[0]!))).status).toBe(200);
  });

  test('leaves one access token and one cookie working when two tabs refresh at once', async () => {
    const session = await server.signInAs('viewer');
    const [one, two] = await Promise.all([refresh(server, session.cookie), refresh(server, session.cookie)]);
    const cookies = [one, two].map((answer) => cookieOf(answer.headers)).filter(Boolean);
    expect(new Set(cookies).size).toBe(1);
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
    const own = await startTestServer();
    const session = await own.signInAs('viewer');
    const next = cookieOf((await refresh(own, session.cookie)).headers)!;
    expect((await me(own, withCookie(next))).status).toBe(200);
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

  test.each([
    ['in a moment', seconds(1)],
    ['after a while', minutes(20)],
  ])('whose answer was lost is repeated %s, and the session goes on', async (_, pause) => {
    const own = await startTestServer(usual);
    const session = await own.signInAs('viewer');
    await refresh(own, session.cookie);
    later(own, pause);
    // a link of the browser, which has the old cookie, before the console asks again
    expect((await me(own, withCookie(session.cookie))).status).toBe(200);
    const again = await refresh(own, session.cookie);
    expect(again.status).toBe(200);
    const { accessToken } = again.body.data;
    expect((await me(own, { headers: { authorization: `Bearer ${accessToken}` } })).status).toBe(200);
    later(own, minutes(16));
    const next = await refresh(own, cookieOf(again.headers)!);
    expect(next.status).toBe(200);
    expect(await reused(own)).toEqual([]);
    // by now it is in use: whoever has the cookie of before stole it
    expect((await refresh(own, session.cookie)).status).toBe(401);
    expect((await me(own, withCookie(cookieOf(next.headers)!))).status).toBe(401);
  });

  test('is stolen if the answer arrived, also where another process saw it used', async () => {
    const own = await startTestServer();
    const twin = await startTwin(own);
    const session = await own.signInAs('viewer');
    const answer = await refresh(own, session.cookie);
    later(own, seconds(11));
    expect((await me(twin, withCookie(session.cookie))).status, 'not used so far').toBe(200);
    const headers = { authorization: `Bearer ${answer.body.data.accessToken}` };
    expect((await me(own, { headers })).status).toBe(200);
    expect((await refresh(twin, session.cookie)).status).toBe(401);
    expect((await me(own, { headers })).status).toBe(401);
  });

  test('ends the session also when the cookie that comes back was rotated more than once since', async () => {
    const own = await startTestServer();
    const session = await own.signInAs('viewer');
    let stolen = session.cookie;
    for (let i = 0; i < 3; i++) {
      stolen = cookieOf((await refresh(own, stolen)).headers)!;
      later(own, seconds(30));
    }
    expect((await refresh(own, session.cookie)).status).toBe(401);
    expect((await me(own, withCookie(stolen))).status, 'the thief').toBe(401);
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
    await eventually(async () => expect((await me(twin, session)).status).toBe(401));
    const row = await server.db
      .selectFrom('sessions')
      .select('session_id')
      .where('user_id', '=', session.userId)
      .executeTakeFirstOrThrow();
    expect((await auditOf(server, row.session_id)).map((entry) => entry.event_type)).toEqual([
      'session.login',
      'session.logout',
    ]);
  });
});

test('a session that began in the future is not taken; clocks of processes may be minutes apart', async () => {
  const own = await startTestServer();
  const now = own.clock.now();
  const person = await own.signInAs('viewer');
  own.clock.set(new Date(now.getTime() - minutes(5)));
  expect((await me(own, person.byCookie)).status).toBe(200);
  own.clock.set(new Date(now.getTime() - minutes(5) - 1));
  expect((await me(own, person.byCookie)).status).toBe(401);
  expect((await me(own, person)).status).toBe(401);
});

test('a session that began while the clock was ahead is over, also once that time comes', async () => {
  const own = await startTestServer();
  const right = own.clock.now();
  own.clock.advance(days(100));
  const ahead = own.clock.now();
  const { email, cookie } = await own.signInAs('viewer');
  own.clock.set(right);
  await housekeep(own.context, checkedTime(own));
  const open = await own.api((await own.signIn(email, 'viewer')).byCookie).ok(account.sessions);
  expect(open).toHaveLength(1);
  own.clock.set(ahead);
  expect((await refresh(own, cookie)).status).toBe(401);
});

test('sessions that ended long ago are cleared away, and living ones are not', async () => {
  const own = await startTestServer(usual);
  const old = await own.signInAs('viewer');
  later(own, 1);
  const kept = await own.signInAs('viewer');
  later(own, days(30) + hours(12));
  const young = await own.signInAs('viewer');
  await housekeep(own.context, checkedTime(own));
  const rows = await own.db.selectFrom('sessions').select('user_id').execute();
  expect(new Set(rows.map((row) => row.user_id))).toEqual(new Set([kept.userId, young.userId]));
  expect((await me(own, old)).status).toBe(401);
  expect((await me(own, young)).status).toBe(200);
});
