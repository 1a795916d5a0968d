import { hash } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { account } from '../../../contract/account.ts';
import { session as calls } from '../../../contract/session.ts';
import {
  minutes,
  password,
  startTestServer,
  startTwin,
  type Identity,
  type TestServer,
} from '../../../tests/harness.ts';
import { networkOf, withoutPorts } from '../../address.ts';
import { createPasswords } from '../../passwords.ts';

let server: TestServer;
beforeEach(async () => {
  server = await startTestServer({ config: { trustProxy: ['127.0.0.1'] } });
});

type From = { address?: string; cookie?: string; code?: string; on?: TestServer };

async function signIn(
  email: string,
  plain: string,
  { address = '203.0.113.1', cookie, code, on }: From = {},
) {
  const headers = { 'x-forwarded-for': address, ...(cookie && { cookie, 'sec-fetch-site': 'same-origin' }) };
  const body = { email, password: plain, ...(code && { code }) };
  return (on ?? server).api().call(calls.login, { body }, headers);
}

const statusOf = async (...of: Parameters<typeof signIn>) => (await signIn(...of)).status;

async function fail(email: string, times: number, from?: From): Promise<void> {
  for (let i = 0; i < times; i++) expect(await statusOf(email, 'wrong', from), `failure ${i}`).toBe(401);
}

/** Every address fails as often as it may. */
async function failFromEverywhere(email: string): Promise<void> {
  for (let i = 1; i <= 10; i++) await fail(email, 10, { address: `198.51.100.${i}` });
}

/** `name=value` of the device cookie that an answer sets. */
function deviceIn(headers: Headers): string {
  const line = headers.getSetCookie().find((one) => one.startsWith('lanyard_device='))!;
  expect(line).toMatch(/; Max-Age=34560000; Path=\/; HttpOnly; SameSite=Strict$/);
  return line.split(';')[0]!;
}

/** The device cookie that a sign-in here leaves behind. */
async function deviceOf(
  email: string,
  had?: string,
  { plain = password, ...from }: From & { plain?: string } = {},
): Promise<string> {
  const { headers } = await signIn(email, plain, { ...from, ...(had !== undefined && { cookie: had }) });
  return deviceIn(headers);
}

const fresh = 'fresh and long';

/** A change of one's own password with what is taken for the current one. */
const changeAs = (who: Identity, currentPassword: string, on = server) =>
  on.api(who).call(account.changePassword, {
    body: { currentPassword, newPassword: fresh, confirmPassword: fresh },
  });

describe('ten wrong guesses', () => {
  test('lock out their own address, and nobody elsewhere', async () => {
    const { email } = await server.createPerson('viewer');
    await fail(email, 10);
    const refused = await signIn(email, password);
    expect([refused.status, refused.body.error]).toEqual([
      429,
      'Too many failed sign-ins. Wait a few minutes and try again.',
    ]);
    expect(await statusOf(email, password, { address: '203.0.113.2' })).toBe(200);
  });

  test('count together for all addresses of one /64, and not for another', async () => {
    const { email } = await server.createPerson('viewer');
    for (let i = 1; i <= 10; i++) await fail(email, 1, { address: `2001:db8:1:2::${i}` });
    expect(await statusOf(email, password, { address: '2001:db8:1:2:ffff::1' })).toBe(429);
    expect(await statusOf(email, password, { address: '2001:db8:1:3::1' })).toBe(200);
  });

  test('count for the address, whatever port a proxy writes behind it', async () => {
    const { email, userId } = await server.createPerson('viewer');
    for (let i = 0; i < 10; i++) await fail(email, 1, { address: `192.0.2.7:${4000 + i}` });
    expect(await statusOf(email, password, { address: '192.0.2.7' })).toBe(429);
    expect(await statusOf(email, password, { address: '[2001:db8::9]:443' })).toBe(200);
    const sessions = server.db.selectFrom('sessions').select('ip_address').where('user_id', '=', userId);
    expect(await sessions.execute()).toEqual([{ ip_address: '2001:db8::9' }]);
  });

  test('count for the account that is meant, however its letters are written', async () => {
    const { email } = await server.createPerson('viewer');
    const spellings = [email.replace('i', 'İ'), email.replace('i', 'I'), email.replace('e', 'Ｅ')];
    for (let i = 0; i < 10; i++) await fail(spellings[i % spellings.length]!, 1);
    expect(await statusOf(email, password)).toBe(429);
  });
});

test('what is typed as the email cannot be read or guessed from the database: it may be a password', async () => {
  const typed = 'hunter2 in the wrong field';
  await fail(typed, 1);
  const { rows: tables } = await server.pool.query(
    "select quote_ident(table_name) as name from information_schema.tables where table_schema = 'public'",
  );
  const found = [];
  for (const { name } of tables) {
    const { rows } = await server.pool.query(
      `select '${name}' as place from ${name} t where lower(t::text) like any ($1)`,
      [[`%${typed}%`, `%${hash('sha256', typed)}%`]],
    );
    found.push(...rows);
  }
  expect(found).toEqual([]);
});

describe('guesses from many addresses', () => {
  test('come to an end for the account too, for an hour', async () => {
    const { email } = await server.createPerson('viewer');
    await failFromEverywhere(email);
    const refused = await signIn(email, password, { address: '203.0.113.9' });
    expect(refused.status).toBe(429);
    const wait = Number(refused.headers.get('retry-after'));
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(3600);
    server.clock.advance(wait * 1000);
    expect(await statusOf(email, password, { address: '203.0.113.9' })).toBe(200);
  });

  test('leave a way in for a device where the person signed in before, in every process', async () => {
    const { email } = await server.createPerson('viewer');
    const cookie = await deviceOf(email);
    await failFromEverywhere(email);
    const twin = await startTwin(server, { config: { trustProxy: ['127.0.0.1'] } });
    expect(await statusOf(email, password, { address: '198.51.100.1', cookie, on: twin })).toBe(200);
    expect(await statusOf(email, password, { address: '203.0.113.9' })).toBe(429);
  });

  test('leave the open session its change of password', async () => {
    const { email } = await server.createPerson('viewer');
    const { body } = await signIn(email, password);
    const api = server.api({ headers: { authorization: `Bearer ${body.data.accessToken}` } });
    await failFromEverywhere(email);
    const changed = await api.call(account.changePassword, {
      body: { currentPassword: password, newPassword: fresh, confirmPassword: fresh },
    });
    expect(changed.status).toBe(204);
  });
});

describe('a device', () => {
  test('has ten guesses of its own, and only for the people who signed in there', async () => {
    const [one, other] = [await server.createPerson('viewer'), await server.createPerson('viewer')];
    const cookie = await deviceOf(one.email);
    await fail(one.email, 10, { cookie });
    expect(await statusOf(one.email, password, { cookie })).toBe(429);
    await fail(other.email, 10, { cookie });
    expect(await statusOf(other.email, password)).toBe(429);
  });

  test('that people share knows each of them', async () => {
    const [one, other] = [await server.createPerson('viewer'), await server.createPerson('viewer')];
    const shared = await deviceOf(other.email, await deviceOf(one.email));
    for (const { email } of [one, other]) {
      await fail(email, 10);
      expect(await statusOf(email, password, { cookie: shared })).toBe(200);
    }
  });

  test('keeps its guesses when somebody else signs in there', async () => {
    const [one, other] = [await server.createPerson('viewer'), await server.createPerson('viewer')];
    const cookie = await deviceOf(one.email);
    await fail(one.email, 10, { cookie });
    expect(await statusOf(one.email, password, { cookie: await deviceOf(other.email, cookie) })).toBe(429);
  });

  test('knows the last ten people who signed in there, however often they did', async () => {
    const people = [];
    for (let i = 0; i < 11; i++) people.push(await server.createPerson('viewer'));
    let cookie: string | undefined;
    const last = people.at(-1)!;
    for (const { email } of [...people, last, last]) cookie = await deviceOf(email, cookie);
    const statuses = [];
    for (const { email } of people.slice(0, 2)) {
      await fail(email, 10);
      statuses.push(await statusOf(email, password, { cookie: cookie! }));
    }
    expect(statuses).toEqual([429, 200]);
  });

  test('is a stranger after a change of the password, until the next sign-in there', async () => {
    const person = await server.signInAs('viewer');
    const old = await deviceOf(person.email);
    expect((await changeAs(person, password)).status).toBe(204);
    await fail(person.email, 10);
    expect(await statusOf(person.email, fresh, { cookie: old })).toBe(429);
    const cookie = await deviceOf(person.email, old, { plain: fresh, address: '203.0.113.2' });
    expect(await statusOf(person.email, fresh, { cookie })).toBe(200);
  });

  test('stays known where the password is changed on it, and no other does', async () => {
    const { email, headers } = await server.signInAs('viewer');
    const [here, elsewhere] = [await deviceOf(email), await deviceOf(email)];
    const changed = await changeAs({ headers: { ...headers, cookie: here } }, password);
    await fail(email, 10);
    expect(await statusOf(email, fresh, { cookie: elsewhere })).toBe(429);
    expect(await statusOf(email, fresh, { cookie: deviceIn(changed.headers) })).toBe(200);
  });

  test('has no codes of its own when it was known before there was a second factor', async () => {
    const { email, userId } = await server.createPerson('viewer');
    const cookies = [await deviceOf(email), await deviceOf(email)];
    const confirmed = { totp_confirmed_at: server.clock.now() };
    await server.db.updateTable('users').set(confirmed).where('user_id', '=', userId).execute();
    const statuses = [];
    for (let i = 1; i <= 11; i++)
      statuses.push(
        await statusOf(email, password, {
          address: `198.51.100.${i}`,
          cookie: cookies[i % 2]!,
          code: '000000',
        }),
      );
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 401), 429]);
  });

  test.each([['a cookie of another’s making'], ['e30.AAAA'], ['']])('is not known by “%s”', async (value) => {
    const { email } = await server.createPerson('viewer');
    await fail(email, 10);
    expect(await statusOf(email, password, { cookie: `lanyard_device=${encodeURIComponent(value)}` })).toBe(
      429,
    );
  });
});

test('a session guesses its password ten times, also at the same moment, and stops no other session', async () => {
  const stolen = await server.signInAs('viewer');
  const guesses = Array.from({ length: 40 }, (_, i) => changeAs(stolen, `guess ${i % 3}`));
  const statuses = (await Promise.all(guesses)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 401)).toHaveLength(10);
  expect(statuses.filter((status) => status === 429)).toHaveLength(30);
  const owner = await server.signIn(stolen.email, 'viewer');
  expect((await changeAs(owner, password)).status).toBe(204);
});

test('ten wrong codes are all that a known password gets, from however many addresses', async () => {
  const person = await server.signInAs('viewer');
  const api = server.api(person);
  await api.ok(account.enrollSecondFactor, { body: { currentPassword: password } });
  const confirmed = { totp_confirmed_at: server.clock.now() };
  await server.db.updateTable('users').set(confirmed).where('user_id', '=', person.userId).execute();
  const guess = (i: number) =>
    statusOf(person.email, password, { address: `198.51.100.${i}`, code: 'aaaaa-bbbbb' });
  for (let i = 1; i <= 10; i++) expect(await guess(i)).toBe(401);
  expect(await guess(11)).toBe(429);
  server.clock.advance(minutes(15));
  expect(await guess(12)).toBe(401);
});

test('a right password without its code says nothing once others have reached the limit while it was checked', async () => {
  const real = createPasswords();
  let others = async () => {};
  const verify = async (stored: string, plain: string) => {
    const matches = await real.verify(stored, plain);
    if (matches) await others();
    return matches;
  };
  const slow = await startTwin(server, {
    config: { trustProxy: ['127.0.0.1'] },
    passwords: { ...real, verify },
  });
  const { email, userId } = await server.createPerson('viewer');
  const confirmed = { totp_confirmed_at: server.clock.now() };
  await server.db.updateTable('users').set(confirmed).where('user_id', '=', userId).execute();
  expect((await signIn(email, password, { on: slow })).body.code).toBe('SECOND_FACTOR_REQUIRED');
  others = () => fail(email, 10);
  expect((await signIn(email, password, { on: slow })).body.code).toBe('TOO_MANY_REQUESTS');

  const session = await server.signInAs('viewer');
  others = async () => {
    for (let i = 0; i < 10; i++) await changeAs(session, 'wrong');
  };
  const change = await changeAs(session, password, slow);
  expect(change.body.code, 'nor does that of an open session').toBe('TOO_MANY_REQUESTS');
  await slow.close();
  await real.stop();
});

describe('signing in again', () => {
  test('ends the session that the browser had, and no other', async () => {
    const person = await server.signInAs('viewer');
    const elsewhere = await server.signIn(person.email, 'viewer');
    const again = await signIn(person.email, password, { cookie: person.cookie });
    expect(again.status).toBe(200);
    expect((await server.api(person).call(calls.me)).status).toBe(401);
    expect((await server.api(elsewhere).call(calls.me)).status).toBe(200);
  });

  test('leaves it when the password was wrong', async () => {
    const person = await server.signInAs('viewer');
    expect(await statusOf(person.email, 'wrong', { cookie: person.cookie })).toBe(401);
    expect((await server.api(person).call(calls.me)).status).toBe(200);
  });
});

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['unknown', 'unknown'],
])('the network of %s is %s', (ip, network) => {
  expect(networkOf(ip)).toBe(network);
});

test.each([
  ['192.0.2.7:80, [2001:db8::1]:443', '192.0.2.7, 2001:db8::1'],
  ['[2001:db8::1], 10.0.0.1', '2001:db8::1, 10.0.0.1'],
  ['unknown, 999.1.1.1:80', 'unknown, 999.1.1.1:80'],
])('X-Forwarded-For: %s is read as %s', (header, bare) => {
  expect(withoutPorts(header)).toBe(bare);
});
