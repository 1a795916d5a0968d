import { describe, expect, test } from 'vitest';
import { apiKeys as calls } from '../../../contract/api-keys.ts';
import { customers } from '../../../contract/customers.ts';
import { session } from '../../../contract/session.ts';
import { users } from '../../../contract/users.ts';
import { validation } from '../../../contract/validation.ts';
import { makeApiKey, type ApiKeyFields, type MadeApiKey } from '../../../tests/factories.ts';
import {
  auditOf,
  eventually,
  hours,
  startTestServer,
  startTwin,
  type Identity,
  type TestServer,
} from '../../../tests/harness.ts';

const behindProxy = { config: { trustProxy: ['127.0.0.1'] } };
const server = await startTestServer(behindProxy);
const maker = await server.signInAs('super_admin');
const staff = server.api(maker.byCookie);

const callWith = (who: Identity, on: TestServer = server, headers: Record<string, string> = {}) =>
  on.api(who).call(validation.validate, { body: { licenseKey: 'x', machineId: 'm' } }, headers);
const list = async () => (await staff.ok(calls.list)).apiKeys;

async function startOwnServer() {
  const own = await startTestServer(behindProxy);
  return [own, own.api((await own.signInAs('super_admin')).byCookie)] as const;
}

describe('a new key', () => {
  test('is shown whole once, with what was asked for and the defaults of the spec', async () => {
    const answer = await staff.call(calls.create, {
      body: { name: 'PACS', expiresAt: '2027-01-01T00:00:00Z' },
    });
    expect(answer.status).toBe(201);
    const { key, ...shown } = answer.body.data;
    expect(shown).toEqual({
      id: expect.any(String),
      name: 'PACS',
      keyPrefix: expect.stringMatching(/^lyd_[a-z0-9]{12}$/),
      isActive: true,
      revokedAt: null,
      scopes: ['validate'],
      expiresAt: '2027-01-01T00:00:00.000Z',
      rateLimit: 1000,
      ipWhitelist: [],
      totalRequests: 0,
      createdAt: server.clock.now().toISOString(),
      lastUsedAt: null,
      lastUsedIp: null,
      maker: { userId: maker.userId, email: maker.email, status: 'active', lacks: [] },
      updatedAt: server.clock.now().toISOString(),
    });
    expect(key).toMatch(new RegExp(`^${shown.keyPrefix}_[\\w-]{43}$`));
    expect((await list()).find((one) => one.id === shown.id)).toEqual(shown);
    expect(await staff.ok(calls.get, { params: { keyId: shown.id } })).toEqual(shown);
  });

  test('has a scope once that is named twice', async () => {
    const { scopes, id } = await makeApiKey(staff, { scopes: ['updates', 'validate', 'updates'] });
    // in the order of the contract, whatever order they are named in
    expect(scopes).toEqual(['validate', 'updates']);
    const patch = { params: { keyId: id }, body: { scopes: ['validate' as const, 'validate' as const] } };
    expect((await staff.ok(calls.update, patch)).scopes).toEqual(['validate']);
  });

  test('leaves its secret nowhere: not in the list, the audit log, the idempotency table or its own row', async () => {
    const answer = await staff.call(
      calls.create,
      { body: { name: 'Secret', expiresAt: '2027-01-01T00:00:00Z' } },
      { 'idempotency-key': 'make-a-key' },
    );
    const secret = answer.body.data.key.slice(answer.body.data.keyPrefix.length + 1);
    const dump = await Promise.all(
      (['api_keys', 'audit_entries', 'idempotency_keys'] as const).map((table) =>
        server.db.selectFrom(table).selectAll().execute(),
      ),
    );
    const asText = JSON.stringify(dump, (_, value: { type?: string; data?: number[] }) =>
      value?.type === 'Buffer' ? Buffer.from(value.data!).toString('latin1') : value,
    );
    expect(asText).toContain('Secret');
    expect(asText).not.toContain(secret);
    expect(JSON.stringify(await list())).not.toContain(secret);
  });

  test('whose answer was lost is shown to its creator who sends the request again, and not created twice', async () => {
    const create = (by = staff) =>
      by.call(
        calls.create,
        { body: { name: 'Once', expiresAt: '2027-01-01T00:00:00Z' } },
        { 'idempotency-key': 'once' },
      );
    const made = await create();
    const again = await create();
    expect([again.status, again.body.data]).toEqual([201, made.body.data]);
    expect((await list()).filter((one) => one.name === 'Once')).toHaveLength(1);
    // The same key and request of a colleague are another call.
    const colleague = await create(server.api(await server.signInAs('super_admin')));
    expect(colleague.body.data.key).not.toBe(made.body.data.key);
  });

  test('of a creator that a database writer moves to a colleague is not decrypted for them', async () => {
    const body = { name: 'Moved', expiresAt: '2027-01-01T00:00:00Z' };
    const key = { 'idempotency-key': 'moved' };
    await staff.ok(calls.create, { body }, key);
    const thief = await server.signInAs('super_admin');
    await server.db
      .updateTable('idempotency_keys')
      .set({ actor: thief.userId })
      .where('key', '=', 'moved')
      .execute();
    const answer = await server.api(thief).call(calls.create, { body }, key);
    expect([answer.status, answer.body.data]).toEqual([409, undefined]);
  });

  test.each([
    [{ name: '' }, 400, 'name: Name is required'],
    [{ expiresAt: undefined }, 400, 'expiresAt: Expiration date is required'],
    [{ expiresAt: '' }, 400, 'expiresAt: Expiration date is required'],
    [{ expiresAt: '2027-01-01' }, 400, 'expiresAt: Must be an ISO 8601 date and time'],
    [{ expiresAt: '2026-11-20T09:30:00.000Z' }, 422, 'expiresAt: Must lie in the future'],
    [{ rateLimit: 0 }, 400, 'rateLimit: Rate limit must be at least 1'],
    [{ rateLimit: 1.5 }, 400, 'rateLimit: Must be a whole number'],
    [{ rateLimit: 2 ** 31 }, 400, 'rateLimit'],
    [{ ipWhitelist: ['10.0.0.256'] }, 422, 'ipWhitelist: 10.0.0.256 is neither'],
    [{ ipWhitelist: ['fe80::1%eth0'] }, 422, 'ipWhitelist: fe80::1%eth0 is neither'],
    [
      { ipWhitelist: ['10.1', '::1', 'x'] },
      422,
      'ipWhitelist: 10.1, x are neither IP addresses nor CIDR ranges',
    ],
    [{ ipWhitelist: ['10.0.0.0/33'] }, 422, 'ipWhitelist'],
    [{ ipWhitelist: ['10.0.0.0/'] }, 422, 'ipWhitelist'],
    [{ ipWhitelist: ['10.0.0.0/-1'] }, 422, 'ipWhitelist'],
    [{ ipWhitelist: ['10.1'] }, 422, 'ipWhitelist'],
    [{ ipWhitelist: ['0x7f.1'] }, 422, 'ipWhitelist'],
    [{ ipWhitelist: ['2001:db8::/129'] }, 422, 'ipWhitelist'],
    [{ ipWhitelist: ['example.com'] }, 422, 'ipWhitelist'],
    [{ ipWhitelist: [''] }, 400, 'ipWhitelist'],
    [{ scopes: ['everything'] }, 400, 'scopes'],
    [{ isActive: true }, 400, 'isActive: Unknown field'],
  ])('with %j is refused, naming the field', async (fields, status, sentence) => {
    const answer = await staff.call(calls.create, {
      body: { name: 'A', expiresAt: '2027-01-01T00:00:00Z', ...fields } as never,
    });
    expect(answer.status).toBe(status);
    expect(answer.body.error).toContain(sentence);
    expect(answer.body.details[0]!.path).toContain(sentence.split(':')[0]);
  });
});

describe('a key', () => {
  test('opens the calls of the desktop as X-API-Key and as bearer token, and no others', async () => {
    const made = await makeApiKey(staff);
    const bearer = { headers: { authorization: `Bearer ${made.key}` } };
    for (const who of [made, bearer]) {
      expect((await callWith(who)).status).toBe(200);
      expect(
        (await server.api(who).call(validation.releaseSeat, { body: { licenseKey: 'x', machineId: 'm' } }))
          .status,
      ).toBe(200);
      expect((await server.api(who).call(customers.list)).status).toBe(403);
      expect((await server.api(who).call(session.me)).status).toBe(403);
      expect((await server.api(who).call(calls.list)).status).toBe(403);
    }
  });

  test('that is wrong in its secret, its form or its prefix is not known', async () => {
    const { key, keyPrefix } = await makeApiKey(staff);
    const other = await makeApiKey(staff);
    const secretOf = (whole: string) => whole.slice(keyPrefix.length);
    for (const wrong of [
      keyPrefix,
      `${key}x`,
      key.slice(0, -1),
      keyPrefix + secretOf(other.key),
      key.toUpperCase(),
      'lyd_',
      'x',
      '',
      ` ${key} x`,
      `${key.slice(0, -1)}${key.endsWith('A') ? 'B' : 'A'}`,
    ]) {
      const answer = await callWith({ headers: { 'x-api-key': wrong } });
      expect([answer.status, answer.body.error], wrong).toEqual([401, 'The API key is not known.']);
    }
  });

  test('counts its use, and no other, in the list without a write per request', async () => {
    const [made, unused] = [await makeApiKey(staff), await makeApiKey(staff)];
    const from = { 'x-forwarded-for': '203.0.113.7' };
    await Promise.all(Array.from({ length: 7 }, () => callWith(made, server, from)));
    await eventually(async () => {
      const shown = (await list()).find((one) => one.id === made.id)!;
      expect(shown).toMatchObject({
        totalRequests: 7,
        lastUsedAt: server.clock.now().toISOString(),
        lastUsedIp: '203.0.113.7',
      });
    });
    expect((await list()).find((one) => one.id === unused.id)).toMatchObject({
      totalRequests: 0,
      lastUsedAt: null,
    });
  });

  test('expires on the millisecond', async () => {
    const [own, ownStaff] = await startOwnServer();
    const made = await makeApiKey(ownStaff, { expiresAt: '2026-12-01T00:00:00Z' });
    own.clock.set('2026-11-30T23:59:59.999Z');
    expect((await callWith(made, own)).status).toBe(200);
    own.clock.advance(1);
    const answer = await callWith(made, own);
    expect([answer.status, answer.body.error]).toEqual([401, 'The API key has expired.']);
  });
});

describe('changing a key', () => {
  const update = (id: string, body: object) => staff.call(calls.update, { params: { keyId: id }, body });

  test('takes effect with its next call: switched off and on again, other addresses, another limit', async () => {
    const made = await makeApiKey(staff);
    const status = async () => (await callWith(made)).status;
    expect(await status()).toBe(200);
    expect((await update(made.id, { isActive: false })).body.data).toMatchObject({
      isActive: false,
      revokedAt: null,
    });
    expect(await status()).toBe(401);
    await update(made.id, { isActive: true, ipWhitelist: ['203.0.113.9'] });
    expect(await status()).toBe(403);
    await update(made.id, { ipWhitelist: [], rateLimit: 1 });
    expect(await status()).toBe(429);
    await update(made.id, { rateLimit: 1000 });
    await eventually(async () => expect(await status()).toBe(200));
  });

  test('leaves what is not sent, is in the audit log, and never shows the secret', async () => {
    const made = await makeApiKey(staff, { name: 'Before', ipWhitelist: ['10.0.0.1'] });
    const answer = await update(made.id, { name: 'After' });
    expect(answer.body.data).toMatchObject({
      name: 'After',
      ipWhitelist: ['10.0.0.1'],
      rateLimit: made.rateLimit,
    });
    expect(answer.text).not.toContain(made.key.slice(-43));
    expect((await auditOf(server, made.id)).at(-1)).toMatchObject({
      event_type: 'api_key.updated',
      changes_summary: 'API key After: name: Before → After',
    });
    const expiresAt = '2030-01-01T00:00:00.000Z';
    expect((await update(made.id, { expiresAt })).body.data).toMatchObject({ name: 'After', expiresAt });
    expect((await list()).filter(({ name }) => name === 'After')).toMatchObject([{ id: made.id, expiresAt }]);
  });

  test('to an end in the past is refused: a slip would cut off its programs; an expired key keeps its end', async () => {
    const made = await makeApiKey(staff);
    for (const expiresAt of ['2025-12-01T00:00:00Z', server.clock.now().toISOString()]) {
      const { status, body } = await update(made.id, { expiresAt });
      expect([status, body.error]).toEqual([422, 'expiresAt: Must lie in the future']);
    }
    expect((await callWith(made)).status).toBe(200);
    await server.db
      .updateTable('api_keys')
      .set({ expires_at: new Date('2025-12-01T00:00:30Z') })
      .where('api_key_id', '=', made.id)
      .execute();
    // as a form with hours and minutes sends it back
    const asShown = { name: 'Old one', expiresAt: '2025-12-01T01:00:00+01:00' };
    expect((await update(made.id, asShown)).body.data).toMatchObject({
      name: 'Old one',
      expiresAt: '2025-12-01T00:00:30.000Z',
    });
    const slip = await update(made.id, { expiresAt: '2025-11-30T00:00:00Z' });
    expect([slip.status, slip.body.error], 'renewed to a past day').toEqual([
      422,
      'expiresAt: Must lie in the future',
    ]);
  });

  test('that somebody else changed meanwhile is refused with what differs, by updatedAt and by If-Match', async () => {
    const made = await makeApiKey(staff, { ipWhitelist: ['10.0.0.1'] });
    const theirs = await update(made.id, { ipWhitelist: ['10.0.0.2'], name: 'Theirs' });
    const mine = { ipWhitelist: ['10.0.0.3'], isActive: true };
    const seen = { 'if-match': `"${made.updatedAt}"` };
    for (const answer of [
      await update(made.id, { ...mine, updatedAt: made.updatedAt }),
      await staff.call(calls.update, { params: { keyId: made.id }, body: mine }, seen),
    ]) {
      expect(answer.status).toBe(409);
      expect(answer.body).toMatchObject({
        code: 'EDIT_CONFLICT',
        error: 'This API key was changed by someone else while you were editing it.',
        details: [
          { path: 'ipWhitelist', current: ['10.0.0.2'], yours: ['10.0.0.3'] },
          { path: 'updatedAt', current: theirs.body.data.updatedAt, yours: made.updatedAt },
        ],
      });
    }
    const saved = await update(made.id, { ...mine, updatedAt: theirs.body.data.updatedAt });
    expect(saved.body.data).toMatchObject({ ipWhitelist: ['10.0.0.3'], name: 'Theirs' });
  });

  test('of two from the same version one wins, and the use of a key makes no version', async () => {
    const made = await makeApiKey(staff);
    await callWith(made);
    await eventually(async () =>
      expect((await list()).find((one) => one.id === made.id)!.totalRequests).toBe(1),
    );
    const save = (rateLimit: number) => update(made.id, { rateLimit, updatedAt: made.updatedAt });
    const answers = await Promise.all([save(7), save(8)]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409]);
  });

  test('is refused for a revoked key, which stays revoked', async () => {
    const made = await makeApiKey(staff);
    await staff.call(calls.revoke, { params: { keyId: made.id } });
    expect((await update(made.id, { isActive: true })).body).toMatchObject({ code: 'WRONG_STATE' });
    expect((await callWith(made)).status).toBe(401);
  });
});

describe('the maker of a key', () => {
  test('is shown with what changed about them, while the key goes on', async () => {
    const admin = await server.signInAs('admin');
    const made = await makeApiKey(server.api(admin), { scopes: ['validate', 'releases'] });
    const other = await makeApiKey(staff);
    const ofAdmin = async () => {
      const { apiKeys } = await staff.ok(calls.list, { query: { createdBy: admin.userId } });
      expect(apiKeys.map(({ id }) => id)).toEqual([made.id]);
      return apiKeys[0]!.maker;
    };
    const { userId, email } = admin;
    expect(await ofAdmin()).toEqual({ userId, email, status: 'active', lacks: [] });

    await staff.ok(users.update, { params: { id: userId }, body: { role: 'license_manager' } });
    const lacks = ['releases:create', 'rollouts:create or rollouts:update'];
    expect(await ofAdmin()).toEqual({ userId, email, status: 'active', lacks });
    await staff.ok(users.deactivate, { params: { id: userId } });
    expect(await ofAdmin()).toMatchObject({ status: 'inactive' });
    expect((await callWith(made)).status).toBe(200);

    await staff.ok(users.delete, { params: { id: userId } });
    const { maker: gone } = (await list()).find(({ id }) => id === made.id)!;
    expect(gone).toMatchObject({ userId: null, email, status: 'deleted' });
    expect((await callWith(made)).status).toBe(200);
    expect((await list()).find(({ id }) => id === other.id)!.maker).toMatchObject({ userId: maker.userId });
  });
});

describe('revocation', () => {
  test('refuses the next call, for good, and is in the audit log', async () => {
    const made = await makeApiKey(staff);
    expect((await callWith(made)).status).toBe(200);
    const revoke = () => staff.call(calls.revoke, { params: { keyId: made.id } });
    expect((await revoke()).status).toBe(204);
    const answer = await callWith(made);
    expect([answer.status, answer.body.error]).toEqual([401, 'The API key has been revoked.']);
    expect([(await revoke()).status, (await revoke()).body.code]).toEqual([409, 'WRONG_STATE']);
    expect(await auditOf(server, made.id)).toMatchObject([
      { event_type: 'api_key.created', before: null, after: { isActive: true } },
      { event_type: 'api_key.revoked', before: { isActive: true }, after: { isActive: false } },
      { event_type: 'api_key.refused', success: false },
    ]);
  });

  test('reaches another process within moments', async () => {
    const twin = await startTwin(server);
    const made = await makeApiKey(staff);
    expect((await callWith(made, twin)).status).toBe(200);
    await staff.call(calls.revoke, { params: { keyId: made.id } });
    await eventually(async () => expect((await callWith(made, twin)).status).toBe(401));
  });
});

describe('the whitelist', () => {
  const cases: [string[], string, boolean][] = [
    [[], '203.0.113.9', true],
    [['203.0.113.9'], '203.0.113.9', true],
    [['203.0.113.9'], '203.0.113.10', false],
    [['10.0.0.0/8'], '10.255.255.255', true],
    [['10.0.0.0/8'], '11.0.0.0', false],
    [['10.20.30.40/16'], '10.20.0.0', true],
    [['0.0.0.0/0'], '203.0.113.9', true],
    [['0.0.0.0/0'], '2001:db8::1', false],
    [['203.0.113.9/32'], '203.0.113.9', true],
    [['2001:db8::/32'], '2001:db8:ffff::1', true],
    [['2001:db8::/32'], '2001:db9::1', false],
    [['2001:DB8:0:0:0:0:0:1'], '2001:db8::1', true],
    [['::/0'], '2001:db8::1', true],
    [['::/0'], '203.0.113.9', false],
    [['::/64'], '203.0.113.9', false],
    [['fe80::/10'], 'fe80::1%eth0', true],
    [['203.0.113.0/24'], '::ffff:203.0.113.9', true],
    [['203.0.113.0/24'], '::ffff:cb00:7109', true],
    [['203.0.113.0/24'], '::ffff:203.0.114.9', false],
    [['::ffff:203.0.113.9'], '203.0.113.9', true],
    [['::ffff:203.0.113.0/120'], '203.0.113.77', true],
    [['::ffff:203.0.113.0/120'], '203.0.114.77', false],
    [['10.0.0.0/8', '2001:db8::/32'], '2001:db8::7', true],
  ];
  test.each(cases)('%j and the address %s: %s', async (ipWhitelist, address, allowed) => {
    const made = await makeApiKey(staff, { ipWhitelist });
    const answer = await callWith(made, server, { 'x-forwarded-for': address });
    expect(answer.status).toBe(allowed ? 200 : 403);
    if (!allowed) expect(answer.body.error).toBe('The API key may not be used from this address.');
  });

  test('goes by the connection where no proxy is trusted, whatever X-Forwarded-For says', async () => {
    const own = await startTestServer();
    const ownStaff = own.api(await own.signInAs('super_admin'));
    const made = await makeApiKey(ownStaff, { ipWhitelist: ['203.0.113.9'] });
    expect((await callWith(made, own, { 'x-forwarded-for': '203.0.113.9' })).status).toBe(403);
    const local = await makeApiKey(ownStaff, { ipWhitelist: ['127.0.0.1'] });
    expect((await callWith(local, own, { 'x-forwarded-for': '203.0.113.9' })).status).toBe(200);
  });

  test('believes only the trusted hop of X-Forwarded-For, and no words in it', async () => {
    const made = await makeApiKey(staff, { ipWhitelist: ['203.0.113.9'] });
    const from = async (header: string) =>
      (await callWith(made, server, { 'x-forwarded-for': header })).status;
    expect(await from('203.0.113.9, 198.51.100.1'), 'the first was written by the caller').toBe(403);
    expect(await from('198.51.100.1, 203.0.113.9')).toBe(200);
    for (const words of ['localhost', '203.0.113.9.', "' or 1=1 --", '203.0.113.9%00'])
      expect(await from(words), words).toBe(403);
  });
});

describe('the hourly limit', () => {
  const statuses = async (made: MadeApiKey, on: TestServer[], count: number) => {
    const answers = await Promise.all(
      Array.from({ length: count }, (_, i) => callWith(made, on[i % on.length])),
    );
    return {
      passed: answers.filter((answer) => answer.status === 200).length,
      refused: answers.filter((answer) => answer.status === 429),
    };
  };

  test.each([1, 20, 37, 100])('of %i is exact under 200 parallel calls', async (rateLimit) => {
    const made = await makeApiKey(staff, { rateLimit });
    const { passed, refused } = await statuses(made, [server], 200);
    expect([passed, refused.length]).toEqual([rateLimit, 200 - rateLimit]);
  });

  test('is exact across two processes', async () => {
    const twin = await startTwin(server, behindProxy);
    const made = await makeApiKey(staff, { rateLimit: 90 });
    const { passed, refused } = await statuses(made, [server, twin], 200);
    expect([passed, refused.length]).toEqual([90, 110]);
  });

  test('gives back what a process did not use', async () => {
    const twin = await startTwin(server, behindProxy);
    const made = await makeApiKey(staff, { rateLimit: 60 });
    await callWith(made, twin);
    let passed = 0;
    await eventually(async () => {
      passed += (await statuses(made, [server], 20)).passed;
      expect(passed).toBe(59);
    });
    expect((await callWith(made, twin)).status).toBe(429);
  });

  test('is said in RateLimit headers, and in Retry-After when it is used up', async () => {
    const made = await makeApiKey(staff, { rateLimit: 3 });
    const said = (answer: { headers: Headers }) =>
      ['limit', 'remaining', 'reset'].map((name) => Number(answer.headers.get(`ratelimit-${name}`)));
    for (const left of [2, 1, 0]) expect(said(await callWith(made))).toEqual([3, left, 1800]);
    const refused = await callWith(made);
    expect(refused.status).toBe(429);
    expect(said(refused)).toEqual([3, 0, 1800]);
    expect(refused.headers.get('retry-after')).toBe('1800');
    expect(refused.body.error).toBe('The API key has used its 3 requests of this hour.');
  });

  test('begins again with the hour', async () => {
    const [own, ownStaff] = await startOwnServer();
    const made = await makeApiKey(ownStaff, { rateLimit: 2 });
    expect((await statuses(made, [own], 5)).passed).toBe(2);
    own.clock.set('2026-11-20T09:59:59.999Z');
    expect((await callWith(made, own)).status).toBe(429);
    own.clock.advance(1);
    expect((await statuses(made, [own], 5)).passed).toBe(2);
    own.clock.advance(hours(1));
    expect((await statuses(made, [own], 5)).passed).toBe(2);
  });

  test('holds after a restart within the hour', async () => {
    const [own, ownStaff] = await startOwnServer();
    const made = await makeApiKey(ownStaff, { rateLimit: 50 });
    const twin = await startTwin(own);
    expect((await statuses(made, [twin], 30)).passed).toBe(30);
    await twin.close();
    expect((await statuses(made, [own], 30)).passed).toBe(20);
  });

  test('is not used up by calls that the whitelist refuses', async () => {
    const fields: ApiKeyFields = { rateLimit: 1, ipWhitelist: ['203.0.113.9'] };
    const made = await makeApiKey(staff, fields);
    for (let i = 0; i < 3; i++)
      expect((await callWith(made, server, { 'x-forwarded-for': '198.51.100.1' })).status).toBe(403);
    expect((await callWith(made, server, { 'x-forwarded-for': '203.0.113.9' })).status).toBe(200);
  });
});
