import { get } from 'node:http';
import pg from 'pg';
import { describe, expect, test, vi } from 'vitest';
import { audit as calls } from '../../../contract/audit.ts';
import { customers } from '../../../contract/customers.ts';
import { licenses } from '../../../contract/licenses.ts';
import type { RouteRequest } from '../../../contract/route.ts';
import { session } from '../../../contract/session.ts';
import { makeApiKey, makeCustomer, makeLicense } from '../../../tests/factories.ts';
import { addressOf, startTestServer } from '../../../tests/harness.ts';
import { systemCaller, type Caller } from '../../caller.ts';
import { runChange, type NewEntry } from '../../change.ts';
import { listEntries } from './audit-list.ts';

type Query = NonNullable<RouteRequest<typeof calls.list>['query']>;

const server = await startTestServer();
const admin = await server.signInAs('super_admin');
const api = server.api(admin);

const entry = (fields: Partial<NewEntry> = {}, by: Partial<Caller> = {}, on = server) =>
  runChange(on.context, { ...systemCaller(on.clock.now()), ...by }, (change) =>
    on.context.writeEntry(change.tx, change.by, {
      event: 'test.made',
      resourceType: 'test',
      resourceId: null,
      summary: 'x',
      ...fields,
    }),
  );

const found = async (query: Query, on = api) => (await on.ok(calls.list, { query })).entries;
const summaries = async (query: Query, on = api) => (await found(query, on)).map((e) => e.changes_summary);

describe('the list', () => {
  test('answers the fields of the spec, the newest first', async () => {
    const customer = await makeCustomer(api, { name: 'Clinic' });
    const [first] = await found({});
    expect(first).toEqual({
      audit_id: expect.any(String),
      timestamp: server.clock.now().toISOString(),
      user_email: admin.email,
      user_role: 'super_admin',
      event_type: 'customer.created',
      resource_type: 'customer',
      resource_id: customer.customerId,
      changes_summary: 'Clinic: created',
      api_endpoint: 'POST /api/customers',
      ip_address: '127.0.0.1',
      success: true,
      error_message: null,
      // by its name in the summary, and by its id in the values of the entry
      records: expect.arrayContaining(
        ['Clinic', customer.customerId].map((name) => ({
          kind: 'customer',
          id: customer.customerId,
          name,
          hostname: null,
        })),
      ),
    });
  });

  test('has 20 entries to a page unless asked, and pages by offset and by cursor without gaps or doubles', async () => {
    for (let n = 0; n < 45; n++) {
      // some in the same millisecond
      if (n % 3 === 0) server.clock.advance(1);
      await entry({ event: 'test.paged', summary: `${n}` });
    }
    const wanted = Array.from({ length: 45 }, (_, n) => `${44 - n}`);
    const eventType = 'test.paged';
    expect(await summaries({ eventType })).toEqual(wanted.slice(0, 20));
    const byOffset = [];
    for (const offset of ['0', '10', '20', '30', '40', '50'])
      byOffset.push(...(await summaries({ eventType, limit: '10', offset })));
    expect(byOffset).toEqual(wanted);
    const byCursor: string[] = [];
    let after: string | undefined;
    let pages = 0;
    do {
      const page = await api.ok(calls.list, { query: { eventType, limit: '10', after } });
      expect(page).toMatchObject({ total: 45, totalIsExact: true, hasMore: pages < 4 });
      byCursor.push(...page.entries.map((e) => e.changes_summary));
      after = page.nextCursor ?? undefined;
      pages += 1;
      await entry({ event: 'test.other' });
    } while (after);
    expect(byCursor).toEqual(wanted);
    expect(await summaries({ eventType, limit: '5', offset: '999999999' })).toEqual([]);
    // where the count takes too long, only a page with the last entry says how many there are
    const uncounted = (offset: number) =>
      listEntries(server.context, () => Promise.resolve(undefined), { eventType, limit: 20, offset });
    expect(await uncounted(40)).toMatchObject({ total: 45, totalIsExact: true });
    expect(await uncounted(60)).toMatchObject({ totalIsExact: false });
  });

  test.each(['x', '', 'AAAA', Buffer.from('2026-01-01T00:00:00Z x').toString('base64url'), '%00'])(
    'refuses the cursor %j',
    async (after) => {
      const url = `${server.url}${calls.list.path}?after=${encodeURIComponent(after)}`;
      const answer = await fetch(url, { headers: admin.headers });
      expect([answer.status, ((await answer.json()) as { error: string }).error]).toEqual([
        400,
        'after: Must be the nextCursor of a previous page',
      ]);
    },
  );

  test('filters by person, record, event and time, each and together', async () => {
    const own = await startTestServer();
    const ownApi = own.api(await own.signInAs('super_admin'));
    const other = await own.signInAs('admin');
    const a = await makeCustomer(ownApi, { name: 'A' });
    own.clock.set('2026-11-21T00:00:00.000Z');
    const late = own.api(other.byCookie);
    await makeCustomer(late, { name: 'B' });
    own.clock.set('2026-11-21T23:59:59.999Z');
    await makeLicense(late, { customerId: a.customerId });
    const by = async (query: Query) =>
      (await found({ ...query, limit: '100' }, late)).map((e) => e.event_type);
    expect(await by({ userId: other.userId, resourceType: 'customer' })).toEqual(['customer.created']);
    expect(await by({ resourceType: 'customer' })).toEqual(['customer.created', 'customer.created']);
    expect(await by({ resourceId: a.customerId })).toEqual(['customer.created']);
    expect(await by({ eventType: 'license.created' })).toEqual(['license.created']);
    expect(await by({ startDate: '2026-11-21', endDate: '2026-11-21', resourceType: 'customer' })).toEqual([
      'customer.created',
    ]);
    expect(await by({ startDate: '2026-11-21', eventType: 'license.created' })).toHaveLength(1);
    expect(await by({ endDate: '2026-11-20', resourceType: 'customer' })).toHaveLength(1);
    expect(await by({ endDate: '2026-11-21T00:00:00.000Z', resourceType: 'customer' })).toHaveLength(2);
    expect(await by({ endDate: '2026-11-20T23:59:59.999Z', resourceType: 'customer' })).toHaveLength(1);
    expect(await by({ startDate: '2026-11-21T01:00:00+01:00', resourceType: 'customer' })).toHaveLength(1);
    expect(await by({ startDate: '2027-01-01' })).toEqual([]);
    await own.api().call(session.login, { body: { email: other.email, password: 'wrong password' } });
    expect(await by({ success: 'false' })).toEqual(['session.login_failed']);
    expect(await by({ success: 'false', resourceType: 'session' })).toEqual(['session.login_failed']);
    expect(await by({ success: 'true', resourceType: 'customer' })).toHaveLength(2);
    expect(await by({ success: 'false', search: 'customer' })).toEqual([]);
    expect(await by({ success: 'true', endDate: '2026-11-20' })).toHaveLength(5);
    expect(
      await by({ startDate: '0001-01-01', endDate: '9999-12-31', resourceType: 'customer' }),
    ).toHaveLength(2);
    expect(await by({ resourceId: a.customerId, userId: other.userId })).toEqual([]);
  });

  test.each([
    [{ startDate: 'yesterday' }, 'startDate'],
    [{ endDate: '2026-13-01' }, 'endDate'],
    [{ startDate: '2026-02-31' }, 'startDate'],
    [{ endDate: '2026-02-31T10:00:00Z' }, 'endDate'],
    [{ userId: 'x' }, 'userId'],
    [{ limit: '501' }, 'limit'],
    [{ limit: '0' }, 'limit'],
    [{ offset: '-1' }, 'offset'],
    [{ search: 'x'.repeat(201) }, 'search'],
    [{ sort: 'x' }, 'sort'],
  ])('refuses %j, naming the field', async (query, field) => {
    const answer = await api.call(calls.list, { query: query as never });
    expect([answer.status, answer.body.details[0]!.path]).toEqual([400, field]);
  });

  test('searches a Greek name that ends in σ in capital and in small letters', async () => {
    const names = ['ΕΥΑΓΓΕΛΙΣΜΟΣ', 'Ευαγγελισμος'];
    for (const name of names) await makeCustomer(api, { name });
    for (const search of names)
      expect((await summaries({ search })).toSorted(), search).toEqual(
        names.map((name) => `${name}: created`).toSorted(),
      );
  });

  test('searches email, event, resource, summary, endpoint, address and error, wildcards taken literally', async () => {
    await entry(
      {
        event: 'needle.event',
        resourceType: 'needle-type',
        resourceId: 'Needle_Id',
        summary: 'Needle 100% SUMMARY',
        error: 'needle\\error',
      },
      {
        endpoint: 'GET /needle/{id}',
        ip: '203.0.113.77',
        actor: { kind: 'apiKey', apiKeyId: 'x', name: 'Needle key', scopes: [] },
      },
    );
    for (const search of [
      'LE.EVENT',
      // as the console shows it
      'Needle event',
      'needle-TYPE',
      'needle_id',
      '100% sum',
      'le\\err',
      'get /needle/{id}',
      '203.0.113.77',
      'key needle key',
    ])
      expect(await summaries({ search }), search).toEqual(['Needle 100% SUMMARY']);
    for (const search of ['needleXid', 'needle_event', '10%sum', 'needle*'])
      expect(await summaries({ search }), search).toEqual([]);
    expect(await summaries({ search: 'needle', eventType: 'test.made' })).toEqual([]);
    await entry({ event: 'upload.cancelled', resourceType: 'upload', resourceId: null, summary: 'b.exe' });
    expect(await summaries({ search: 'Upload canceled' })).toEqual(['b.exe']);
    await entry({ resourceId: null, summary: 'K7TRD: maxActivations: 1 → 5' });
    expect(await summaries({ search: 'Max Activations' })).toEqual(['K7TRD: maxActivations: 1 → 5']);
    expect(await summaries({ search: '  ' })).not.toEqual([]);
  });
});

describe('the audit log', () => {
  test('refuses to be changed, emptied or cut, whoever asks the database', async () => {
    await makeCustomer(api);
    for (const statement of [
      "update audit_entries set user_email = 'someone else'",
      'delete from audit_entries',
      'truncate audit_entries',
    ]) {
      await expect(server.pool.query(statement), statement).rejects.toThrow('audit entries are append-only');
    }
    const { rows } = await server.pool.query('select 1 from audit_entries limit 1');
    expect(rows).toHaveLength(1);
  });

  test.each([
    ['refuses', "raise exception 'no'"],
    ['drops', 'return null'],
  ])('gets the entry of a change with the change, or not at all where a trigger %s it', async (_, does) => {
    const { customerId } = await makeCustomer(api, { name: 'Untouched' });
    await server.pool.query(`create function no_audit() returns trigger language plpgsql as $$ begin
      if new.changes_summary like '%Never%' then ${does}; end if; return new; end $$`);
    await server.pool.query(
      'create trigger no_audit before insert on audit_entries for each row execute function no_audit()',
    );
    const answer = await server
      .api(admin)
      .call(customers.update, { params: { id: customerId }, body: { name: 'Never', country: 'DE' } });
    expect(answer.status).toBe(500);
    expect(answer.body).toEqual({
      success: false,
      code: 'INTERNAL',
      error: 'Something went wrong on our side. It has been logged.',
      requestId: expect.any(String),
    });
    await server.pool.query('drop trigger no_audit on audit_entries; drop function no_audit');
    expect((await api.ok(customers.get, { params: { id: customerId } })).name).toBe('Untouched');
  });
});

test('failed sign-ins and refused calls are in it, secrets are not', async () => {
  const viewer = await server.signInAs('viewer');
  await server.api().call(session.login, { body: { email: viewer.email, password: 'a wrong secret' } });
  await server.api(viewer).call(licenses.create, { body: {} as never });
  const key = await makeApiKey(api);
  expect(await found({ search: viewer.email, eventType: 'session.login_failed' })).toMatchObject([
    { success: false, error_message: 'Email or password is not right.', user_email: null },
  ]);
  expect(await found({ userId: viewer.userId, eventType: 'call.refused' })).toMatchObject([
    {
      success: false,
      error_message: 'You lack the permission licenses:create.',
      changes_summary: 'POST /api/v1/licenses: refused',
      api_endpoint: 'POST /api/v1/licenses',
    },
  ]);
  const { rows } = await server.pool.query<{ all: string }>(
    "select string_agg(e::text, ' ') as all from audit_entries e",
  );
  for (const secret of [
    'a wrong secret',
    'correct horse',
    key.key,
    admin.accessToken,
    admin.cookie.split('=')[1]!,
  ])
    expect(rows[0]!.all).not.toContain(secret);
});

test('one entry has before and after, the request, and its seal once there is one', async () => {
  const { customerId } = await makeCustomer(api, { name: 'Old', phone: '1' });
  const answer = await api.call(
    customers.update,
    { params: { id: customerId }, body: { name: 'New', country: 'DE' } },
    { 'user-agent': 'a browser' },
  );
  const [listed] = await found({ resourceId: customerId });
  const at = { params: { id: listed!.audit_id } };
  const detail = await api.ok(calls.get, at);
  expect(detail).toMatchObject({
    ...listed,
    user_id: admin.userId,
    changes_summary: 'New: name: Old → New; phone: 1 → –',
    user_agent: 'a browser',
    request_id: answer.headers.get('x-request-id'),
    before: { name: 'Old', phone: '1' },
    after: { name: 'New', phone: null },
    seal: null,
  });
  await server.audit.seal();
  expect((await api.ok(calls.get, at)).seal).toEqual({
    sequence: expect.any(Number),
    sealedAt: server.clock.now().toISOString(),
  });
  for (const id of ['x', '00000000-0000-0000-0000-000000000000']) {
    const none = await api.call(calls.get, { params: { id } });
    expect([none.status, none.body.error]).toEqual([404, 'There is no such audit entry.']);
  }
});

describe('the export', () => {
  const csvOf = async (query: Omit<Query, 'limit'>) => {
    const response = await fetch(server.url + addressOf(calls.exportCsv, { query }), {
      headers: admin.headers,
    });
    return { response, text: await response.text() };
  };

  test('has exactly the filter, whole, and is itself audited', async () => {
    for (let n = 0; n < 130; n++) await entry({ event: 'test.exported', summary: `${n}` });
    const { response, text } = await csvOf({ eventType: 'test.exported', search: '1' });
    expect(response.headers.get('content-disposition')).toBe(
      'attachment; filename="audit-logs-2026-11-20.csv"',
    );
    expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    const [header, ...rows] = text.trim().split('\n');
    expect(header).toBe(
      'Timestamp,User,Role,Action,Resource,Resource Id,Details,IP Address,Status,Error,Endpoint,Id',
    );
    const listed = await found({ eventType: 'test.exported', search: '1', limit: '500' });
    expect(rows.map((row) => row.split(',').at(-1))).toEqual(listed.map((e) => e.audit_id));
    const [told] = await found({ eventType: 'audit.exported' });
    expect(told).toMatchObject({
      user_email: admin.email,
      changes_summary: 'Audit log: exported as CSV (eventType: test.exported; search: 1)',
    });
    expect((await api.ok(calls.get, { params: { id: told!.audit_id } })).after).toEqual({
      filter: { eventType: 'test.exported', search: '1' },
    });
    expect((await csvOf({})).text).not.toContain('Audit log: exported as CSV\n');
    for (const page of [{ limit: '1' }, { offset: '1' }])
      expect((await csvOf(page as object)).response.status).toBe(400);
  });

  test('neutralizes cells that a spreadsheet would run', async () => {
    for (const summary of [
      '=1+1',
      '+cmd',
      '-2',
      '@SUM(A1)',
      '\t=1',
      'x;=1+1',
      'a"b',
      'two\nlines',
      'more\n=1',
    ])
      await entry({ event: 'test.formula', summary });
    const { text } = await csvOf({ eventType: 'test.formula' });
    for (const cell of [
      ",'=1+1,",
      ",'+cmd,",
      ",'-2,",
      ",'@SUM(A1),",
      ",'\t'=1,",
      ",x;'=1+1,",
      ',"a""b",',
      ',"two\nlines",',
      `,"more\n'=1",`,
    ])
      expect(text).toContain(cell);
  });

  test('of more than one batch is whole, and ends when the reader goes away', async () => {
    await server.pool.query(`insert into audit_entries
      (audit_id, timestamp, event_type, resource_type, changes_summary, success)
      select gen_random_uuid(), timestamp '2020-01-01' + (n / 7) * interval '1 ms', 'test.bulk', 'bulk', n || repeat('x', 1200), true
        from generate_series(1, 20000) n`);
    const asked = vi.spyOn(pg.Client.prototype, 'query');
    const queries = () =>
      asked.mock.calls.filter((call) => JSON.stringify(call[0]).includes('from audit_entries')).length;
    try {
      const whole = await csvOf({ eventType: 'test.bulk' });
      const ids = whole.text.trim().split('\n').slice(1);
      expect(ids).toHaveLength(20_000);
      expect(new Set(ids.map((row) => row.split(',').at(-1))).size).toBe(20_000);
      const ofWhole = queries();
      expect(ofWhole).toBeGreaterThan(8);

      await new Promise<void>((resolve, reject) => {
        const request = get(
          server.url + addressOf(calls.exportCsv, { query: { eventType: 'test.bulk' } }),
          { headers: admin.headers },
          (response) => {
            response.once('data', () => {
              request.destroy();
              resolve();
            });
          },
        ).on('error', reject);
      });
      // in the time of another one, it would have come to its end
      await csvOf({ eventType: 'test.bulk' });
      expect(queries() - 2 * ofWhole).toBeLessThan(8);
    } finally {
      asked.mockRestore();
    }
  });
});

describe('the figures', () => {
  test('count each entry once, sealed or not, by UTC day, event and person', async () => {
    const own = await startTestServer({});
    own.clock.set('2026-11-20T23:59:59.999Z');
    const ownAdmin = await own.signInAs('super_admin');
    const ownApi = own.api(ownAdmin);
    await entry({ error: 'no' }, {}, own);
    await own.audit.seal();
    own.clock.advance(1);
    await entry({}, {}, own);
    const stats = await ownApi.ok(calls.stats, { query: { days: '3' } });
    expect(stats).toEqual({
      days: 3,
      total: 4,
      failed: 1,
      byDay: [
        { date: '2026-11-19', count: 0 },
        { date: '2026-11-20', count: 3 },
        { date: '2026-11-21', count: 1 },
      ],
      byEvent: [
        { event_type: 'test.made', count: 2 },
        { event_type: 'session.login', count: 1 },
        { event_type: 'user.created', count: 1 },
      ],
      byUser: [
        { user_email: 'system', count: 3 },
        { user_email: ownAdmin.email, count: 1 },
      ],
    });
    await own.audit.seal();
    expect(await ownApi.ok(calls.stats, { query: { days: '3' } })).toEqual(stats);
    expect((await ownApi.ok(calls.stats)).byDay).toHaveLength(30);
    expect((await ownApi.ok(calls.stats, { query: { days: '1' } })).total).toBe(1);
  });

  test('and the choices of the filters are what the log has', async () => {
    const own = await startTestServer();
    const ownAdmin = await own.signInAs('super_admin');
    expect(await own.api(ownAdmin).ok(calls.choices)).toEqual({
      users: [{ user_id: ownAdmin.userId, user_email: ownAdmin.email }],
      resourceTypes: ['session', 'user'],
      eventTypes: ['session.login', 'user.created'],
    });
  });
});

describe('the retention', () => {
  test('is two years, can be changed, and the change is audited', async () => {
    expect(await api.ok(calls.config)).toEqual({ retentionDays: 730, shortestRetentionDays: 90 });
    const set = (value: unknown) =>
      api.call(calls.setConfig, { params: { key: 'retentionDays' }, body: { value } as never });
    expect((await set(90)).body.data).toEqual({ retentionDays: 90, shortestRetentionDays: 90 });
    expect(await found({ eventType: 'audit.config_changed' })).toMatchObject([
      { changes_summary: 'Audit log: retentionDays: 730 → 90', user_email: admin.email },
    ]);
    await set(90);
    expect(await found({ eventType: 'audit.config_changed' })).toHaveLength(1);
    for (const [value, sentence] of [
      [89, 'value: Must be at least 90 days'],
      [0, 'value: Must be at least 90 days'],
      [36_501, 'value: '],
      [100.5, 'value: '],
      ['365', 'value: '],
      [undefined, 'value: '],
    ] as const) {
      const answer = await set(value);
      expect([answer.status, answer.body.error]).toEqual([400, expect.stringContaining(sentence)]);
    }
    const other = await api.call(calls.setConfig, {
      params: { key: 'other' } as never,
      body: { value: 100 },
    });
    expect(other.status).toBe(400);
    expect((await api.ok(calls.config)).retentionDays).toBe(90);
  });

  test('a retention that another user set meanwhile is not overwritten unseen', async () => {
    const set = (value: number, seen: number) =>
      api.call(calls.setConfig, { params: { key: 'retentionDays' }, body: { value, seen } });
    const { retentionDays } = await api.ok(calls.config);
    expect((await set(200, retentionDays)).status).toBe(200);
    const late = await set(300, retentionDays);
    expect(late.status).toBe(409);
    expect(late.body).toMatchObject({
      code: 'EDIT_CONFLICT',
      details: [{ path: 'value', current: 200, yours: 300 }],
    });
    expect((await set(200, retentionDays)).status).toBe(200);
    expect((await set(retentionDays, 200)).status).toBe(200);
  });
});
