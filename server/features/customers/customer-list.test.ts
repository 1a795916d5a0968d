import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { customers as calls } from '../../../contract/customers.ts';
import { makeCustomer, makeLicense, signInWith, softDelete } from '../../../tests/factories.ts';
import { eventually, startTestServer, type TestServer } from '../../../tests/harness.ts';
import { entriesOf } from '../../../tests/rows.ts';

const server = await startTestServer();
const admin = await server.signInAs('super_admin');
const api = server.api(admin);

/** A server with these customers and no others. */
async function startWith(names: string[]) {
  const own = await startTestServer();
  const ownApi = own.api(await own.signInAs('super_admin'));
  for (const name of names) await makeCustomer(ownApi, { name });
  return [ownApi, own] as const;
}

describe('the list', () => {
  test('leaves out the soft-deleted, and counts them', async () => {
    const [own] = await startWith(['Alpha', 'Beta']);
    const [alpha] = await own.ok(calls.list);
    await softDelete(own, alpha!);
    const answer = await own.call(calls.list);
    expect(answer.body.data.map((customer) => customer.name)).toEqual(['Beta']);
    expect(answer.body.meta).toEqual({ total: 1, limit: null, offset: 0, deleted: 1 });
    const all = await own.call(calls.list, { query: { includeDeleted: 'true' } });
    expect(all.body.data.map((customer) => customer.name)).toEqual(['Alpha', 'Beta']);
  });

  test('answers whole without a limit, with the licenses and their modules', async () => {
    const license = await makeLicense(api, { moduleIds: ['mod_copd'] });
    const all = await api.ok(calls.list);
    expect(all.find((customer) => customer.customerId === license.customerId)).toMatchObject({
      licenseCount: 1,
      licenses: [{ licenseId: license.licenseId, licenseKey: license.licenseKey, moduleIds: ['mod_copd'] }],
    });
  });

  test('keeps license keys from who may not read licenses, as one customer does', async () => {
    const { customerId, licenseKey } = await makeLicense(api);
    const reader = await signInWith(server, api, [{ resource: 'customers', action: 'read' }]);
    for (const answer of [
      await reader.call(calls.list),
      await reader.call(calls.get, { params: { id: customerId } }),
    ]) {
      expect(answer.text).toContain(customerId);
      expect(answer.text).not.toContain(licenseKey);
    }
    const { licenseCount, licenses } = await reader.ok(calls.get, { params: { id: customerId } });
    expect([licenseCount, licenses]).toEqual([1, undefined]);
    await softDelete(api, { customerId });
    expect((await reader.call(calls.trash)).text).not.toContain(licenseKey);
  });

  test('pages without gaps or doubles', async () => {
    const [own] = await startWith(['e', 'B', 'a', 'D', 'c']);
    const pages = await Promise.all(
      [0, 2, 4, 6].map((offset) => own.call(calls.list, { query: { limit: '2', offset: String(offset) } })),
    );
    expect(pages.flatMap((page) => page.body.data.map((customer) => customer.name))).toEqual([
      'a',
      'B',
      'c',
      'D',
      'e',
    ]);
    expect(pages.map((page) => page.body.meta.total)).toEqual([5, 5, 5, 5]);
  });

  test.each([
    ['name', ['Adana', 'Alpha', 'beta', 'Gamma']],
    ['-name', ['Gamma', 'beta', 'Alpha', 'Adana']],
    ['email', ['beta', 'Alpha', 'Gamma', 'Adana']],
    ['-email', ['Alpha', 'beta', 'Gamma', 'Adana']],
    // Austria, France, Germany: as the list shows them, not by code; within one by name
    ['country', ['Gamma', 'Adana', 'beta', 'Alpha']],
    ['createdAt', ['beta', 'Gamma', 'Alpha', 'Adana']],
    ['-createdAt', ['Adana', 'Alpha', 'Gamma', 'beta']],
  ] as const)('sorts by %s, the empty last', async (sort, names) => {
    const own = await startTestServer();
    const ownApi = own.api(await own.signInAs('admin'));
    for (const fields of [
      { name: 'beta', email: 'a@x.de', country: 'FR' },
      { name: 'Gamma', country: 'AT' },
      { name: 'Alpha', email: 'b@x.de', country: 'DE' },
      { name: 'Adana', country: 'FR' },
    ]) {
      await makeCustomer(ownApi, fields);
      own.clock.advance(1000);
    }
    const listed = await ownApi.ok(calls.list, { query: { sort } });
    expect(listed.map((customer) => customer.name)).toEqual(names);
  });

  test('searches name and email, whatever the case, with wildcards taken literally', async () => {
    const [own] = await startWith(['100% Health', '100 Health', 'Under_score', 'Underxscore', 'Back\\slash']);
    await makeCustomer(own, { name: 'Zebra', email: 'INFO@Clinic.example' });
    const found = async (search: string) =>
      (await own.ok(calls.list, { query: { search } })).map((c) => c.name);
    expect(await found('0% h')).toEqual(['100% Health']);
    expect(await found('r_s')).toEqual(['Under_score']);
    expect(await found('\\')).toEqual(['Back\\slash']);
    expect(await found('info@clinic')).toEqual(['Zebra']);
    expect(await found('HEALTH')).toHaveLength(2);
    expect(await found('zébrá')).toEqual(['Zebra']);
    expect(await found('zebra info')).toEqual([]);
    expect(await found('DE')).toEqual(['Under_score', 'Underxscore']);
  });

  test.each(['İstanbul Hastanesi', 'ΝΟΣΟΚΟΜΕΙΟ ΣΟΦΟΣ', 'Straße ẞ', 'Łódź', 'Ǆ clinic', '東京病院'])(
    'finds %s by its own name',
    async (name) => {
      await makeCustomer(api, { name });
      const found = await api.ok(calls.list, { query: { search: name } });
      expect(found.map((customer) => customer.name)).toEqual([name]);
    },
  );

  test.each([
    ['Zürcher Klinik', 'zur'],
    ['Köln Labor', 'Koln'],
    ['Hôpital Nord', 'hopital'],
    ['Große Klinik', 'grosse'],
    ['Ørsted Hospital', 'orsted'],
  ])('finds %s by "%s"', async (name, search) => {
    await makeCustomer(api, { name });
    const found = await api.ok(calls.list, { query: { search } });
    expect(found.map((customer) => customer.name)).toContain(name);
  });

  test('finds every customer by any part of its name (property)', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc
          .string({ minLength: 3, maxLength: 40, unit: 'grapheme' })
          .filter((s) => s.trim().length > 2 && !/\p{Cc}/u.test(s)),
        fc.nat(),
        async (text, at) => {
          const made = await makeCustomer(api, { name: text });
          const from = at % Math.max(1, made.name.length - 2);
          const search = made.name.slice(from).toWellFormed().replaceAll('�', '').trim();
          fc.pre(search.length > 0 && made.name.includes(search));
          const found = await api.ok(calls.list, { query: { search } });
          expect(found.map((customer) => customer.customerId)).toContain(made.customerId);
        },
      ),
      { numRuns: 60, seed: 7 },
    );
  });

  test('filters by status and by country', async () => {
    const [own] = await startWith(['One']);
    const two = await makeCustomer(own, { name: 'Two', country: 'FR' });
    await softDelete(own, await makeCustomer(own, { name: 'Three', country: 'FR' }));
    const names = async (query: object) => (await own.ok(calls.list, { query })).map((c) => c.name);
    expect(await names({ country: 'FR' })).toEqual([two.name]);
    expect(await names({ status: 'inactive' })).toEqual([]);
    expect(await names({ status: 'inactive', includeDeleted: 'true' })).toEqual(['Three']);
    expect(await names({ status: 'active', includeDeleted: 'true' })).toEqual(['One', 'Two']);
  });

  test.each([
    [{ limit: '0' }, 'limit'],
    [{ limit: '501' }, 'limit'],
    [{ limit: '1.5' }, 'limit'],
    [{ limit: 'ten' }, 'limit'],
    [{ offset: '-1' }, 'offset'],
    [{ sort: 'phone' }, 'sort'],
    [{ status: 'deleted' }, 'status'],
    [{ includeDeleted: '1' }, 'includeDeleted'],
    [{ search: 'x'.repeat(201) }, 'search'],
    [{ page: '1' }, 'page'],
  ])('refuses %j, naming the parameter', async (query, path) => {
    const answer = await api.call(calls.list, { query: query as never });
    expect(answer.status).toBe(400);
    expect(answer.body.details[0]!.path).toBe(path);
  });
});

describe('the trash', () => {
  test('takes a customer in and gives it back as it was', async () => {
    const made = await makeCustomer(api, { name: 'Phoenix', phone: '42' });
    server.clock.advance(1000);
    const gone = await softDelete(api, made);
    expect(gone).toMatchObject({ status: 'inactive', deletedAt: server.clock.now().toISOString() });
    const trash = await api.call(calls.trash, { query: { search: 'phoenix' } });
    expect(trash.body.data.map((customer) => customer.customerId)).toEqual([made.customerId]);
    expect(trash.body.meta.total).toBe(1);
    const back = await api.ok(calls.restore, { params: { id: made.customerId } });
    expect(back).toMatchObject({ name: 'Phoenix', phone: '42', status: 'active', deletedAt: null });
    expect((await api.ok(calls.trash, { query: { search: 'phoenix' } })).length).toBe(0);
  });

  test('refuses to take in what is in it, and to give back what is not', async () => {
    const made = await makeCustomer(api);
    const at = { params: { id: made.customerId } };
    expect((await api.call(calls.restore, at)).body).toMatchObject({
      code: 'WRONG_STATE',
      error: 'Customer is not soft-deleted.',
    });
    await softDelete(api, made);
    expect((await api.call(calls.softDelete, at)).body).toMatchObject({
      code: 'WRONG_STATE',
      error: 'Customer is already soft-deleted.',
    });
  });

  test('pages and answers whole as the list does', async () => {
    const [own] = await startWith(['a', 'b', 'c']);
    for (const customer of await own.ok(calls.list)) await softDelete(own, customer);
    const page = await own.call(calls.trash, { query: { limit: '2', offset: '1' } });
    expect(page.body.data).toHaveLength(2);
    expect(page.body.meta).toEqual({ total: 3, limit: 2, offset: 1 });
    expect(await own.ok(calls.trash)).toHaveLength(3);
  });
});

describe('the CSV of the list', () => {
  const rowsOf = (text: string) => text.trimEnd().split('\n');

  test('holds the filtered list, marked as UTF-8, as a file', async () => {
    const [own] = await startWith(['Zoë & Söhne', 'Other']);
    const answer = await own.call(calls.exportCsv, { query: { search: 'zoë' } });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(answer.headers.get('content-disposition')).toBe('attachment; filename="customers-2026-11-20.csv"');
    const [header, ...rows] = rowsOf(answer.text);
    expect(header).toBe('Name,Contact Name,Email,Phone,Country,Status,Licenses,Created,Id');
    expect(rows).toEqual([
      expect.stringMatching(/^Zoë & Söhne,,,,Germany,active,0,2026-11-20T09:30:00\.000Z,/),
    ]);
  });

  test('begins with a byte order mark, which tells Excel that it is UTF-8', async () => {
    const response = await fetch(`${server.url}/api/customers/export.csv`, { headers: admin.headers });
    expect([...new Uint8Array(await response.arrayBuffer()).slice(0, 3)]).toEqual([0xef, 0xbb, 0xbf]);
  });

  test('escapes what a spreadsheet would run, and quotes what would break a row', async () => {
    const [own] = await startWith(['=HYPERLINK("http://x")', '+1', '@x', '-2', 'a "b", c\nd']);
    const { text } = await own.call(calls.exportCsv);
    for (const start of ['=', '+', '@', '-']) expect(text).not.toMatch(new RegExp(`^"?\\${start}`, 'm'));
    expect(text).toContain('"a ""b"", c d"');
  });

  const fill = ({ pool }: TestServer, customers: number) =>
    pool.query(
      `insert into customers (customer_id, name, contact_name, country, created_at, updated_at)
       select gen_random_uuid(), 'C' || 100000 + n, repeat('x', 200), 'DE', now(), now() from generate_series(1, $1::int) n`,
      [customers],
    );

  test('holds all of 1,200 customers in their order, more than one piece', async () => {
    const [own, ownServer] = await startWith([]);
    await fill(ownServer, 1200);
    const [, ...rows] = rowsOf((await own.call(calls.exportCsv, { query: { sort: '-name' } })).text);
    expect(rows.map((row) => row.split(',')[0])).toEqual(
      Array.from({ length: 1200 }, (_, n) => `C${101_200 - n}`),
    );
  });

  test('holds no connection of the database while its reader takes its time', async () => {
    const [_, ownServer] = await startWith([]);
    const { headers } = await ownServer.signInAs('super_admin');
    // more than the buffers between the two hold
    await fill(ownServer, 50_000);
    const response = await fetch(`${ownServer.url}/api/customers/export.csv`, { headers });
    const reader = response.body!.getReader();
    await reader.read();
    await eventually(() => Promise.resolve(ownServer.pool.idleCount === ownServer.pool.totalCount));
    await reader.cancel();
  });

  test('leaves an entry that says who took it', async () => {
    const [own, { db }] = await startWith(['Taken']);
    await own.call(calls.exportCsv, { query: { search: 'tak' } });
    const [entry] = await entriesOf({ db }, 'customer.exported');
    expect(entry).toMatchObject({
      changes_summary: 'Customers: exported 1 as CSV',
      user_email: expect.any(String),
    });
  });
});
