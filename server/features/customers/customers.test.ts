import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { countries } from '../../../contract/countries.ts';
import { customers as calls } from '../../../contract/customers.ts';
import { licenses } from '../../../contract/licenses.ts';
import { makeApiKey, makeCustomer, makeLicense, softDelete, validateOn } from '../../../tests/factories.ts';
import { auditOf, eventually, startTestServer, type Api, type TestServer } from '../../../tests/harness.ts';

const server = await startTestServer();
const admin = await server.signInAs('super_admin');
const api = server.api(admin);
afterAll(() => server.close());

/** A server with these customers and no others. */
async function withCustomers(
  names: string[],
  work: (own: Api, ownServer: TestServer) => Promise<void>,
): Promise<void> {
  const own = await startTestServer();
  const ownApi = own.api(await own.signInAs('super_admin'));
  try {
    for (const name of names) await makeCustomer(ownApi, { name });
    await work(ownApi, own);
  } finally {
    await own.close();
  }
}

describe('creating a customer', () => {
  test('answers it with the defaults of the spec, and stores what was sent', async () => {
    const body = {
      name: ' Charité ',
      contactName: 'Dr. Ada',
      email: 'ada@charite.de',
      phone: '+49 30 1',
      country: 'DE',
    };
    const answer = await api.call(calls.create, { body });
    expect(answer.status).toBe(201);
    expect(answer.body.data).toEqual({
      customerId: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/),
      ...body,
      name: 'Charité',
      type: 'organization',
      status: 'active',
      inheritLicenses: false,
      deletedAt: null,
      createdAt: server.clock.now().toISOString(),
      updatedAt: server.clock.now().toISOString(),
      licenseCount: 0,
    });
    const stored = await api.ok(calls.get, { params: { id: answer.body.data.customerId } });
    expect(stored).toEqual({ ...answer.body.data, licenses: [] });
  });

  test.each(['a@b', "o'brien+x@clinic", 'ada@charite.de'])('takes %s as the browser does', async (email) => {
    expect((await makeCustomer(api, { email })).email).toBe(email);
  });

  test('stores empty optional fields as null', async () => {
    const made = await makeCustomer(api, { contactName: '', email: '', phone: '  ' });
    expect(made).toMatchObject({ contactName: null, email: null, phone: null });
  });

  test.each([
    [{ name: '' }, 'name: Company Name is required'],
    [{ name: '   ' }, 'name: Company Name is required'],
    [{ name: undefined }, 'name: Company Name is required'],
    [{ name: 5 }, 'name: Must be text'],
    [{ name: 'x'.repeat(201) }, 'name: Must be at most 200 characters'],
    [{ name: 'a\0b' }, 'name: Contains characters that are not text'],
    [{ country: 'XX' }, 'country: Must be a two-letter country code'],
    [{ country: 'de' }, 'country: Must be a two-letter country code'],
    [{ country: undefined }, 'country: Country is required'],
    [{ email: 'not an address' }, 'email: Must be an email address'],
    [{ status: 'inactive' }, 'status: Is not a known field'],
    [{ customerId: 'x' }, 'customerId: Is not a known field'],
  ])('refuses %j, naming the field', async (fields, sentence) => {
    const answer = await api.call(calls.create, { body: { name: 'A', country: 'DE', ...fields } as never });
    expect(answer.status).toBe(400);
    expect(answer.body.error).toContain(sentence);
    expect(answer.body.details[0]!.path).toBe(sentence.split(':')[0]);
  });

  test('names every wrong field at once', async () => {
    const answer = await api.call(calls.create, { body: { name: '', country: '', email: 'x' } });
    expect(answer.body.details.map((detail) => detail.path).toSorted()).toEqual(['country', 'email', 'name']);
  });

  test('knows the 197 countries of the list', async () => {
    expect(countries).toHaveLength(197);
    for (const country of ['PS', 'VA', 'TW', 'XK'])
      expect((await makeCustomer(api, { country })).country).toBe(country);
  });
});

describe('the list', () => {
  test('leaves out the soft-deleted, and counts them', async () => {
    await withCustomers(['Alpha', 'Beta'], async (own) => {
      const [alpha] = await own.ok(calls.list);
      await softDelete(own, alpha!);
      const answer = await own.call(calls.list);
      expect(answer.body.data.map((customer) => customer.name)).toEqual(['Beta']);
      expect(answer.body.meta).toEqual({ total: 1, limit: null, offset: 0, deleted: 1 });
      const all = await own.call(calls.list, { query: { includeDeleted: 'true' } });
      expect(all.body.data.map((customer) => customer.name)).toEqual(['Alpha', 'Beta']);
    });
  });

  test('answers whole without a limit, with the licenses and their modules', async () => {
    const license = await makeLicense(api, { moduleIds: ['mod_copd'] });
    const all = await api.ok(calls.list);
    expect(all.find((customer) => customer.customerId === license.customerId)).toMatchObject({
      licenseCount: 1,
      licenses: [{ licenseId: license.licenseId, licenseKey: license.licenseKey, moduleIds: ['mod_copd'] }],
    });
  });

  test('pages without gaps or doubles', async () => {
    await withCustomers(['e', 'B', 'a', 'D', 'c'], async (own) => {
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
  });

  test.each([
    ['name', ['Alpha', 'beta', 'Gamma']],
    ['-name', ['Gamma', 'beta', 'Alpha']],
    ['email', ['beta', 'Alpha', 'Gamma']],
    ['-email', ['Alpha', 'beta', 'Gamma']],
    ['country', ['Gamma', 'Alpha', 'beta']],
    ['createdAt', ['beta', 'Gamma', 'Alpha']],
    ['-createdAt', ['Alpha', 'Gamma', 'beta']],
  ] as const)('sorts by %s, the empty last', async (sort, names) => {
    const own = await startTestServer();
    const ownApi = own.api(await own.signInAs('admin'));
    for (const fields of [
      { name: 'beta', email: 'a@x.de', country: 'FR' },
      { name: 'Gamma', country: 'AT' },
      { name: 'Alpha', email: 'b@x.de', country: 'DE' },
    ]) {
      await makeCustomer(ownApi, fields);
      own.clock.advance(1000);
    }
    const listed = await ownApi.ok(calls.list, { query: { sort } });
    expect(listed.map((customer) => customer.name)).toEqual(names);
    await own.close();
  });

  test('searches name and email, whatever the case, with wildcards taken literally', async () => {
    await withCustomers(
      ['100% Health', '100 Health', 'Under_score', 'Underxscore', 'Back\\slash'],
      async (own) => {
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
      },
    );
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
    await withCustomers(['One'], async (own) => {
      const two = await makeCustomer(own, { name: 'Two', country: 'FR' });
      await softDelete(own, await makeCustomer(own, { name: 'Three', country: 'FR' }));
      const names = async (query: object) => (await own.ok(calls.list, { query })).map((c) => c.name);
      expect(await names({ country: 'FR' })).toEqual([two.name]);
      expect(await names({ status: 'inactive' })).toEqual([]);
      expect(await names({ status: 'inactive', includeDeleted: 'true' })).toEqual(['Three']);
      expect(await names({ status: 'active', includeDeleted: 'true' })).toEqual(['One', 'Two']);
    });
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

describe('one customer', () => {
  test('is found with its licenses; a soft-deleted one only when asked for', async () => {
    const { customerId } = await makeCustomer(api);
    await softDelete(api, { customerId });
    const get = (query?: { includeDeleted: 'true' }) =>
      api.call(calls.get, { params: { id: customerId }, ...(query ? { query } : {}) });
    expect((await get()).status).toBe(404);
    expect((await get({ includeDeleted: 'true' })).body.data).toMatchObject({
      status: 'inactive',
      licenses: [],
    });
  });

  test('answers 404 for an unknown id and 400 for what is no id', async () => {
    expect(
      (await api.call(calls.get, { params: { id: '01920000-0000-7000-8000-000000000000' } })).status,
    ).toBe(404);
    const answer = await api.call(calls.get, { params: { id: 'undefined' } });
    expect(answer.status).toBe(400);
    expect(answer.body.error).toBe('id: Must be an id (UUID)');
  });
});

describe('changing a customer', () => {
  const update = (id: string, body: object, headers: Record<string, string> = {}) =>
    api.call(calls.update, { params: { id }, body: { name: 'New', country: 'FR', ...body } }, headers);

  test('stores every field; what is left out becomes null', async () => {
    const made = await makeCustomer(api, { email: 'old@x.de', phone: '1', contactName: 'Old' });
    server.clock.advance(1000);
    const answer = await update(made.customerId, { email: 'new@x.de' });
    expect(answer.status).toBe(200);
    expect(answer.body.data).toMatchObject({
      name: 'New',
      country: 'FR',
      email: 'new@x.de',
      phone: null,
      contactName: null,
    });
    expect(answer.body.data.updatedAt).toBe(server.clock.now().toISOString());
    expect(answer.headers.get('etag')).toBe(`"${answer.body.data.updatedAt}"`);
  });

  test('refuses a lost update with 409 and both versions of what differs', async () => {
    const made = await makeCustomer(api, { name: 'First', phone: '1' });
    const theirs = await update(made.customerId, {
      name: 'Theirs',
      country: made.country,
      phone: '1',
      updatedAt: made.updatedAt,
    });
    expect(theirs.status).toBe(200);
    const mine = await update(made.customerId, {
      name: 'Mine',
      country: made.country,
      phone: '1',
      updatedAt: made.updatedAt,
    });
    expect(mine.status).toBe(409);
    expect(mine.body.code).toBe('EDIT_CONFLICT');
    expect(mine.body.details).toEqual([
      { path: 'name', message: expect.any(String), current: 'Theirs', yours: 'Mine' },
      {
        path: 'updatedAt',
        message: expect.any(String),
        current: theirs.body.data.updatedAt,
        yours: made.updatedAt,
      },
    ]);
    expect((await api.ok(calls.get, { params: { id: made.customerId } })).name).toBe('Theirs');
  });

  test('takes the version from If-Match as well', async () => {
    const made = await makeCustomer(api);
    const stale = { 'if-match': `"${made.updatedAt}"` };
    expect((await update(made.customerId, {}, stale)).status).toBe(200);
    expect((await update(made.customerId, {}, stale)).status).toBe(409);
    expect((await update(made.customerId, {})).status, 'no version: the last one wins').toBe(200);
  });

  test('reads If-Match as HTTP does: * is any version, and what is no version is refused as such', async () => {
    const made = await makeCustomer(api);
    expect((await update(made.customerId, {}, { 'if-match': '*' })).status).toBe(200);
    expect((await update(made.customerId, {}, { 'if-match': 'yesterday' })).status).toBe(400);
  });

  test('gives every change a version of its own, also within a millisecond', async () => {
    const made = await makeCustomer(api);
    const versions = [made.updatedAt];
    for (let i = 0; i < 5; i++)
      versions.push((await update(made.customerId, { name: `N${i}` })).body.data.updatedAt);
    expect(new Set(versions).size).toBe(6);
    expect(versions).toEqual(versions.toSorted());
  });

  test('lets one of ten parallel edits from the same version win', async () => {
    const made = await makeCustomer(api);
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        update(made.customerId, { name: `Edit ${i}`, updatedAt: made.updatedAt }),
      ),
    );
    expect(answers.map((answer) => answer.status).toSorted()).toEqual([200, ...Array<number>(9).fill(409)]);
  });

  test('refuses a soft-deleted one', async () => {
    const made = await makeCustomer(api);
    await softDelete(api, made);
    const answer = await update(made.customerId, {});
    expect(answer.status).toBe(409);
    expect(answer.body.error).toBe('Customer is soft-deleted.');
  });

  test('shows the new name in the license list, its search and its counts at once', async () => {
    const license = await makeLicense(api);
    const query = { search: 'Renamed Infirmary', tab: 'active' } as const;
    expect((await api.call(licenses.list, { query })).body.meta.total).toBe(0);
    await update(license.customerId, { name: 'Renamed Infirmary' });
    const { body } = await api.call(licenses.list, { query });
    expect(body.data.map((l) => l.customer?.name)).toEqual(['Renamed Infirmary']);
    expect(body.meta).toMatchObject({
      total: 1,
      counts: { active: 1 },
      groups: [{ customerId: license.customerId, count: 1 }],
    });
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
    await withCustomers(['a', 'b', 'c'], async (own) => {
      for (const customer of await own.ok(calls.list)) await softDelete(own, customer);
      const page = await own.call(calls.trash, { query: { limit: '2', offset: '1' } });
      expect(page.body.data).toHaveLength(2);
      expect(page.body.meta).toEqual({ total: 3, limit: 2, offset: 1 });
      expect(await own.ok(calls.trash)).toHaveLength(3);
    });
  });
});

describe('deleting for good', () => {
  test('is refused, with the reason, until the customer is in the trash', async () => {
    const made = await makeCustomer(api);
    const at = { params: { id: made.customerId } };
    const check = await api.ok(calls.checkDeletable, at);
    expect(check.canDelete).toBe(false);
    expect(check.message).toMatch(/soft-deleted/);
    const answer = await api.call(calls.hardDelete, at);
    expect(answer.status).toBe(409);
    expect(answer.body.error).toBe(check.message);
  });

  test('says what goes with it, and takes licenses and activations along; the audit entries stay', async () => {
    const license = await makeLicense(api);
    const desktop = server.api(await makeApiKey(api));
    const { activation } = await validateOn(desktop, license, 'machine-1');
    const at = { params: { id: license.customerId } };
    await softDelete(api, license);
    expect(await api.ok(calls.checkDeletable, at)).toMatchObject({
      canDelete: true,
      message: expect.stringMatching(/^1 license and 1 activation of ".*" will be deleted with it\.$/),
    });
    const answer = await api.call(calls.hardDelete, at);
    expect([answer.status, answer.text]).toEqual([204, '']);
    expect((await api.call(calls.get, { ...at, query: { includeDeleted: 'true' } })).status).toBe(404);
    expect((await api.call(licenses.get, { params: { id: license.licenseId } })).status).toBe(404);
    expect(await validateOn(desktop, license, 'machine-1')).toMatchObject({
      code: 'NOT_FOUND',
      license: null,
    });
    const rows = await server.db
      .selectFrom('activations')
      .selectAll()
      .where('activation_id', '=', activation!.activationId)
      .execute();
    expect(rows).toEqual([]);
    const events = async (id: string) => (await auditOf(server, id)).map((entry) => entry.event_type);
    expect(await events(license.customerId)).toEqual([
      'customer.created',
      'customer.soft_deleted',
      'customer.deleted',
    ]);
    expect(await events(license.licenseId)).toEqual(['license.created']);
    expect(await events(activation!.activationId)).toEqual(['activation.created']);
  });
});

describe('the CSV of the list', () => {
  const rowsOf = (text: string) => text.trimEnd().split('\n');

  test('holds the filtered list, marked as UTF-8, as a file', async () => {
    await withCustomers(['Zoë & Söhne', 'Other'], async (own) => {
      const answer = await own.call(calls.exportCsv, { query: { search: 'zoë' } });
      expect(answer.status).toBe(200);
      expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8');
      expect(answer.headers.get('content-disposition')).toBe(
        'attachment; filename="customers-2026-11-20.csv"',
      );
      const [header, ...rows] = rowsOf(answer.text);
      expect(header).toBe('Name,Contact Name,Email,Phone,Country,Status,Licenses,Created,Id');
      expect(rows).toEqual([
        expect.stringMatching(/^Zoë & Söhne,,,,Germany,active,0,2026-11-20T09:30:00\.000Z,/),
      ]);
    });
  });

  test('begins with a byte order mark, which tells Excel that it is UTF-8', async () => {
    const response = await fetch(`${server.url}/api/customers/export.csv`, { headers: admin.headers });
    expect([...new Uint8Array(await response.arrayBuffer()).slice(0, 3)]).toEqual([0xef, 0xbb, 0xbf]);
  });

  test('escapes what a spreadsheet would run, and quotes what would break a row', async () => {
    await withCustomers(['=HYPERLINK("http://x")', '+1', '@x', '-2', 'a "b", c\nd'], async (own) => {
      const { text } = await own.call(calls.exportCsv);
      for (const start of ['=', '+', '@', '-']) expect(text).not.toMatch(new RegExp(`^"?\\${start}`, 'm'));
      expect(text).toContain('"a ""b"", c\nd"');
    });
  });

  const fill = ({ pool }: TestServer, customers: number) =>
    pool.query(
      `insert into customers (customer_id, name, contact_name, country, created_at, updated_at)
       select gen_random_uuid(), 'C' || 100000 + n, repeat('x', 200), 'DE', now(), now() from generate_series(1, $1::int) n`,
      [customers],
    );

  test('holds all of 1,200 customers in their order, more than one piece', async () => {
    await withCustomers([], async (own, ownServer) => {
      await fill(ownServer, 1200);
      const [, ...rows] = rowsOf((await own.call(calls.exportCsv, { query: { sort: '-name' } })).text);
      expect(rows.map((row) => row.split(',')[0])).toEqual(
        Array.from({ length: 1200 }, (_, n) => `C${101_200 - n}`),
      );
    });
  });

  test('holds no connection of the database while its reader takes its time', async () => {
    await withCustomers([], async (_, ownServer) => {
      const { headers } = await ownServer.signInAs('super_admin');
      // more than the buffers between the two hold
      await fill(ownServer, 50_000);
      const response = await fetch(`${ownServer.url}/api/customers/export.csv`, { headers });
      const reader = response.body!.getReader();
      await reader.read();
      await eventually(() => Promise.resolve(ownServer.pool.idleCount === ownServer.pool.totalCount));
      await reader.cancel();
    });
  });

  test('leaves an entry that says who took it', async () => {
    await withCustomers(['Taken'], async (own, { db }) => {
      await own.call(calls.exportCsv, { query: { search: 'tak' } });
      const entry = await db
        .selectFrom('audit_entries')
        .select(['changes_summary', 'user_email'])
        .where('event_type', '=', 'customer.exported')
        .executeTakeFirstOrThrow();
      expect(entry).toEqual({
        changes_summary: 'Customers: exported 1 as CSV',
        user_email: expect.any(String),
      });
    });
  });
});

describe('Idempotency-Key', () => {
  const create = (key: string, name = 'Same', who: Api = api) =>
    who.call(calls.create, { body: { name, country: 'DE' } }, { 'idempotency-key': key });
  const countOf = async (name: string) => (await api.ok(calls.list, { query: { search: name } })).length;

  test('with the same body gives the first answer again, and changes nothing', async () => {
    const first = await create('key-1', 'Only once');
    const again = await create('key-1', 'Only once');
    expect(again.status).toBe(201);
    expect(again.body).toEqual(first.body);
    expect(again.headers.get('etag')).toBe(first.headers.get('etag'));
    expect(await countOf('Only once')).toBe(1);
    expect(await auditOf(server, first.body.data.customerId)).toHaveLength(1);
  });

  test('with another body, path or version is refused', async () => {
    const made = (await create('key-2', 'Mismatch')).body.data;
    expect((await create('key-2', 'Another')).body.code).toBe('IDEMPOTENCY_MISMATCH');
    const elsewhere = await api.call(
      calls.softDelete,
      { params: { id: made.customerId } },
      { 'idempotency-key': 'key-2' },
    );
    expect([elsewhere.status, elsewhere.body.code]).toEqual([409, 'IDEMPOTENCY_MISMATCH']);
    expect(await countOf('Another')).toBe(0);
  });

  test('belongs to the person who sent it', async () => {
    const other = server.api(await server.signInAs('admin'));
    const [mine, theirs] = [await create('key-3', 'Mine'), await create('key-3', 'Theirs', other)];
    expect([mine.status, theirs.status]).toEqual([201, 201]);
  });

  test('sent twenty times at once makes one customer, and all twenty hear of the same', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => create('key-4', 'Parallel twin')));
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([201]));
    expect(new Set(answers.map((answer) => answer.body.data.customerId)).size).toBe(1);
    expect(await countOf('Parallel twin')).toBe(1);
  });

  test('is not used up by a call that failed', async () => {
    expect((await create('key-5', '')).status).toBe(400);
    expect((await create('key-5', 'Second try')).status).toBe(201);
    const { customerId } = await makeCustomer(api);
    const restore = () =>
      api.call(calls.restore, { params: { id: customerId } }, { 'idempotency-key': 'key-6' });
    expect((await restore()).status).toBe(409);
    await softDelete(api, { customerId });
    expect((await restore()).status).toBe(200);
  });

  test('answers a call without content again as well', async () => {
    const made = await makeCustomer(api);
    await softDelete(api, made);
    const remove = () =>
      api.call(calls.hardDelete, { params: { id: made.customerId } }, { 'idempotency-key': 'key-7' });
    expect([(await remove()).status, (await remove()).status]).toEqual([204, 204]);
  });

  test.each(['', 'x'.repeat(201)])('that is unusable is refused, and named', async (key) => {
    const answer = await create(key);
    expect(answer.status).toBe(400);
    expect(answer.body.details[0]!.path).toBe('Idempotency-Key');
  });
});
