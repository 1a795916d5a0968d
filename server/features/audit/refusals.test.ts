import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { account } from '../../../contract/account.ts';
import { apiKeys } from '../../../contract/api-keys.ts';
import { customers } from '../../../contract/customers.ts';
import type { AuditEvent } from '../../../contract/audit-events.ts';
import { session } from '../../../contract/session.ts';
import { users } from '../../../contract/users.ts';
import { makeApiKey } from '../../../tests/factories.ts';
import { minutes, startTestServer, startTwin, type TestServer } from '../../../tests/harness.ts';
import { entriesOf } from '../../../tests/rows.ts';
import { closeWindows } from './refusal-windows.ts';
import { macOf } from './keys.ts';

let server: TestServer;
beforeEach(async () => {
  server = await startTestServer();
});

const entries = (event: AuditEvent) => entriesOf(server, event);
const summaries = async (event: AuditEvent) => (await entries(event)).map((entry) => entry.changes_summary);
const refused = async (kind: string) => {
  const text = await (await fetch(`${server.url}/metrics`)).text();
  return Number(new RegExp(`^lanyard_refused_total\\{kind="${kind}"\\} (\\d+)`, 'm').exec(text)?.[1]);
};
const login = (email: string, on = server) =>
  on.api().call(session.login, { body: { email, password: 'wrong' } });
/** The window ends; whatever was counted is saved and summed up. */
async function endWindow(...others: TestServer[]): Promise<void> {
  for (const one of [server, ...others]) await one.refusals.flush();
  server.clock.advance(minutes(16));
  await closeWindows(server.context, server.auditKeys);
}

describe('what is refused again and again', () => {
  test('is one entry at once, and one with the count when the window ends; across processes', async () => {
    const viewer = await server.signInAs('viewer');
    const twin = await startTwin(server);
    for (let n = 0; n < 30; n++) {
      const on = n % 2 ? twin : server;
      expect((await on.api(viewer).call(users.list)).status).toBe(403);
    }
    for (const one of [server, twin]) await one.refusals.flush();
    await closeWindows(server.context, server.auditKeys);
    expect(await summaries('call.refused')).toEqual(['GET /api/users: refused']);
    await endWindow(twin);
    expect(await summaries('call.refused')).toEqual([
      'GET /api/users: refused',
      'GET /api/users: refused, 29 more times from 09:30 to 09:45 UTC',
    ]);
    const [, counted] = await entries('call.refused');
    expect(counted).toMatchObject({ user_email: viewer.email, success: false, after: { more: 29 } });
    expect(await server.db.selectFrom('audit_refusals').selectAll().execute()).toEqual([]);
    await endWindow(twin);
    expect(await entries('call.refused')).toHaveLength(2);
    expect((await server.audit.verify()).whole).toBe(true);
    expect(await refused('call_refused')).toBe(15);
  });

  test('has a budget: who varies what is refused fills neither the log nor the memory', async () => {
    for (let n = 0; n < 70; n++) await login(`guess${n}@lanyard.test`);
    expect(await entries('session.login_failed')).toHaveLength(50);
    await endWindow();
    expect(await entries('session.login_failed')).toHaveLength(50);
    expect(await summaries('refusal.counted')).toEqual([
      'Refusals: 20 others from 09:30 to 09:45 UTC (sign_in_failed)',
    ]);
  });

  test('a throttled sign-in is one entry, however often it is tried', async () => {
    const { email } = await server.createPerson('viewer');
    for (let n = 0; n < 40; n++) await login(email);
    const errors = (await entries('session.login_failed')).map((entry) => entry.error_message);
    expect(errors.filter((error) => error === 'Too many failed sign-ins')).toHaveLength(1);
    expect(errors.length).toBeLessThanOrEqual(11);
    await endWindow();
    expect((await summaries('session.login_failed')).at(-1)).toMatch(
      /failed, \d+ more times from 09:30 to 09:45 UTC$/,
    );
  });

  test('an entry that somebody wrote into the database is not said again as ours', async () => {
    const forged = '01920000-0000-7000-8000-000000000000';
    await server.pool.query(
      `insert into audit_entries (audit_id, timestamp, event_type, resource_type, changes_summary, success)
       values ($1, now(), 'call.refused', 'call', 'An invented story', false)`,
      [forged],
    );
    await server.pool.query(
      "insert into audit_refusals values ('2026-11-20T09:00:00Z', 'call_refused', 'x', $1, 1, 99)",
      [forged],
    );
    await endWindow();
    expect(await summaries('call.refused')).toEqual(['An invented story']);
    expect(await summaries('refusal.counted')).toHaveLength(1);
  });

  test('counts that somebody wrote into the database make no entry of what was never refused', async () => {
    const [login_] = await (async () => {
      await server.signInAs('admin');
      return entries('session.login');
    })();
    await server.pool.query(
      "insert into audit_refusals values ('2026-11-20T09:00:00Z', 'call_refused', 'x', $1, 1, 99)",
      [login_!.audit_id],
    );
    await endWindow();
    expect(await entries('session.login')).toHaveLength(1);
    expect(await summaries('refusal.counted')).toEqual([
      'Refusals: 98 others from 09:00 to 09:15 UTC (call_refused)',
    ]);
  });
});

test('a refusal whose entry the database could not take is counted, and the next one has an entry', async () => {
  const viewer = await server.signInAs('viewer');
  await server.pool.query(
    `create function no_room() returns trigger language plpgsql as $$ begin raise 'no room' using errcode = '53100'; end $$;
     create trigger no_room before insert on audit_refusals execute function no_room()`,
  );
  expect((await server.api(viewer).call(users.list)).status).toBe(503);
  await server.pool.query('drop trigger no_room on audit_refusals');
  expect((await server.api(viewer).call(users.list)).status).toBe(403);
  expect(await summaries('call.refused')).toEqual(['GET /api/users: refused']);
  await endWindow();
  expect((await summaries('call.refused')).at(-1)).toBe(
    'GET /api/users: refused, once more from 09:30 to 09:45 UTC',
  );
});

describe('what somebody typed as an email', () => {
  test('is a hash with its first characters where nobody has it, and the address where somebody does', async () => {
    await login('hunter2-my-password');
    await login('HUNTER2-my-password');
    const { email } = await server.createPerson('viewer');
    await login(email.toUpperCase());
    const all = await summaries('session.login_failed');
    expect(all[0]).toMatch(/^Session of hu… \([0-9a-f]{12}\): sign-in failed$/);
    expect(all[1]!.slice(-30)).toBe(all[0]!.slice(-30));
    expect(all[2]).toBe(`Session of ${email}: sign-in failed`);
    // guesses cannot be compared with it: it takes a key that is not in the database
    const text = 'lanyard typed text 1\nhunter2-my-password';
    for (const guess of [
      macOf(Buffer.alloc(32), text),
      ...[text, 'hunter2-my-password'].map((one) => createHash('sha256').update(one).digest()),
    ])
      expect(all[0]).not.toContain(guess.toString('hex').slice(0, 12));
    const everything = JSON.stringify(await server.db.selectFrom('audit_entries').selectAll().execute());
    expect(everything.toLowerCase()).not.toContain('hunter2');
  });
});

describe('an attack on a credential is in the log and counted', () => {
  test('an API key: unknown, revoked, expired, switched off, from another address', async () => {
    const api = server.api(await server.signInAs('super_admin'));
    const use = (key: string) =>
      fetch(`${server.url}/api/licenses/validate`, {
        method: 'POST',
        headers: { 'x-api-key': key, 'content-type': 'application/json' },
        body: '{}',
      });
    const revoked = await makeApiKey(api, { name: 'Revoked' });
    await api.ok(apiKeys.revoke, { params: { keyId: revoked.id } });
    const expired = await makeApiKey(api, { name: 'Old', expiresAt: '2026-11-20T09:40:00.000Z' });
    const off = await makeApiKey(api, { name: 'Off' });
    await api.ok(apiKeys.update, { params: { keyId: off.id }, body: { isActive: false } });
    const elsewhere = await makeApiKey(api, { name: 'Elsewhere', ipWhitelist: ['203.0.113.7'] });
    server.clock.advance(minutes(12));
    for (const { key } of [revoked, expired, off, elsewhere]) for (let n = 0; n < 3; n++) await use(key);
    for (let n = 0; n < 3; n++) await use(`lyd_abcdefghijkl_${'x'.repeat(42)}${n}`);
    expect((await entries('api_key.refused')).map((e) => [e.changes_summary, e.error_message])).toEqual([
      ['API key Revoked: refused', 'The API key has been revoked.'],
      ['API key Old: refused', 'The API key has expired.'],
      ['API key Off: refused', 'The API key is not active.'],
      ['API key Elsewhere: refused', 'The API key may not be used from this address.'],
      [expect.stringMatching(/^API key ly… \([0-9a-f]{12}\): refused$/), 'The API key is not known.'],
    ]);
    const [first] = await entries('api_key.refused');
    expect(first).toMatchObject({
      resource_id: revoked.id,
      ip_address: '127.0.0.1',
      api_endpoint: 'POST /api/licenses/validate',
    });
    for (const kind of ['unknown', 'revoked', 'expired', 'inactive', 'address'])
      expect([kind, await refused(`api_key_${kind}`)]).toEqual([kind, 3]);
  });

  test('unknown credentials from the addresses of one IPv6 network, as one', async () => {
    server = await startTestServer({ config: { trustProxy: ['127.0.0.1'] } });
    const use = (from: string, credential: Record<string, string>) =>
      fetch(`${server.url}/api/licenses/validate`, {
        method: 'POST',
        headers: { 'x-forwarded-for': from, 'content-type': 'application/json', ...credential },
        body: '{}',
      });
    for (const from of ['2001:db8:1:2::1', '2001:db8:1:2::2', '2001:db8:1:3::1']) {
      expect((await use(from, { 'x-api-key': `lyd_abcdefghijkl_${'x'.repeat(43)}` })).status).toBe(401);
      expect((await use(from, { 'x-machine-token': `lym_abcdefghijkl_${'x'.repeat(43)}` })).status).toBe(401);
    }
    const addresses = async (event: AuditEvent) => (await entries(event)).map((entry) => entry.ip_address);
    for (const event of ['api_key.refused', 'call.refused'] as const)
      expect(await addresses(event)).toEqual(['2001:db8:1:2::1', '2001:db8:1:3::1']);
    await endWindow();
    for (const event of ['api_key.refused', 'call.refused'] as const)
      expect((await summaries(event)).at(-1)).toMatch(/refused, once more from 09:30 to 09:45 UTC$/);
  });

  test('a key at the second address of a call, under the name of the call', async () => {
    await fetch(`${server.url}/analytics/health`, { headers: { 'x-api-key': 'lyd_unknown' } });
    expect(await entries('api_key.refused')).toMatchObject([{ api_endpoint: 'GET /api/analytics/health' }]);
  });

  test('a wrong current password', async () => {
    const person = await server.signInAs('viewer');
    const newPassword = 'another long enough pass phrase';
    const body = { currentPassword: 'wrong', newPassword, confirmPassword: newPassword };
    for (let n = 0; n < 3; n++) await server.api(person).call(account.changePassword, { body });
    expect(await entries('user.password_refused')).toMatchObject([
      { user_email: person.email, resource_id: person.userId, success: false },
    ]);
    expect(await refused('current_password_wrong')).toBe(3);
  });

  test('a rotated cookie that came back, once', async () => {
    const person = await server.signInAs('viewer');
    const { accessToken } = await server.api(person.byCookie).ok(session.refresh);
    // the answer arrived
    await server.api({ headers: { authorization: `Bearer ${accessToken}` } }).ok(session.me);
    server.clock.advance(minutes(1));
    const reuse = () => server.api(person.byCookie).call(customers.list);
    const answers = await Promise.all(Array.from({ length: 8 }, reuse));
    expect([...answers, await reuse()].every(({ status }) => status === 401)).toBe(true);
    expect(await entries('session.cookie_reused')).toMatchObject([
      {
        changes_summary: `Session of ${person.email}: ended, since a cookie came back that had been replaced`,
        ip_address: '127.0.0.1',
      },
    ]);
    expect(await refused('rotated_cookie')).toBe(1);
  });
});
