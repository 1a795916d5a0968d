import { describe, expect, test } from 'vitest';
import { countries } from '../../../contract/countries.ts';
import { customers as calls } from '../../../contract/customers.ts';
import { licenses } from '../../../contract/licenses.ts';
import { makeApiKey, makeCustomer, makeLicense, softDelete, validateOn } from '../../../tests/factories.ts';
import { auditOf, startTestServer, type Api } from '../../../tests/harness.ts';
import { othersIn } from '../../../tests/rows.ts';

const server = await startTestServer();
const admin = await server.signInAs('super_admin');
const api = server.api(admin);

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
    [{ status: 'inactive' }, 'status: Unknown field'],
    [{ customerId: 'x' }, 'customerId: Unknown field'],
  ])('refuses %j, naming the field', async (fields, sentence) => {
    const answer = await api.call(calls.create, { body: { name: 'A', country: 'DE', ...fields } as never });
    expect(answer.status).toBe(400);
    expect(answer.body.error).toContain(sentence);
    expect(answer.body.details[0]!.path).toBe(sentence.split(':')[0]);
  });

  test('takes a name of which the stored form fits, so that it can be saved again', async () => {
    // a Hebrew letter that is three in the form in which texts are stored
    const create = (name: string) => api.call(calls.create, { body: { name, country: 'DE' } });
    const refused = await create('\ufb2c'.repeat(67));
    expect([refused.status, refused.body.error]).toEqual([400, 'name: Must be at most 200 characters']);
    const taken = await create('\ufb2c'.repeat(66));
    const { customerId, name } = taken.body.data;
    const body = { name, country: 'AT' };
    expect((await api.call(calls.update, { params: { id: customerId }, body })).status).toBe(200);
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

describe('one customer', () => {
  test('is found with its licenses; a soft-deleted one only when asked for', async () => {
    const { customerId, licenseId, licenseKey, moduleIds } = await makeLicense(api);
    const get = (query?: { includeDeleted: 'true' }) =>
      api.call(calls.get, { params: { id: customerId }, ...(query ? { query } : {}) });
    const issued = [{ licenseId, licenseKey, moduleIds }];
    expect((await get()).body.data).toMatchObject({ status: 'active', licenses: issued });
    await softDelete(api, { customerId });
    expect((await get()).status).toBe(404);
    expect((await get({ includeDeleted: 'true' })).body.data).toMatchObject({
      status: 'inactive',
      licenses: issued,
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

  test('refuses If-Match where no versions are compared, so that nobody relies on it', async () => {
    const { updatedAt } = await makeCustomer(api);
    const input = { body: { name: 'New', country: 'DE' } };
    const create = (version: string) => api.call(calls.create, input, { 'if-match': version });
    const guarded = await create(`"${updatedAt}"`);
    expect([guarded.status, guarded.body.error]).toEqual([400, 'If-Match: This call compares no versions']);
    expect((await create('*')).status).toBe(201);
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
    expect(answer.body.error).toBe('Customer is soft-deleted: reactivate it first, under Soft Deleted.');
    const others = await othersIn(server, 'customers', 'customer_id', made.customerId);
    await api.ok(calls.hardDelete, { params: { id: made.customerId } });
    expect(await othersIn(server, 'customers', 'customer_id', made.customerId)).toEqual(others);
    expect((await update(made.customerId, {})).body.error).toBe(
      'There is no such customer. It may have been deleted.',
    );
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

  test('and deleting it at all are refused where it is not the one that was shown', async () => {
    const { customerId: id, updatedAt } = await makeCustomer(api);
    const renamed = await api.ok(calls.update, {
      params: { id },
      body: { name: 'Hospital', country: 'DE' },
    });
    for (const call of [calls.softDelete, calls.restore, calls.hardDelete]) {
      const stale = await api.call(call, { params: { id } }, { 'if-match': `"${updatedAt}"` });
      expect([stale.status, stale.body.code]).toEqual([409, 'WRONG_STATE']);
    }
    const query = { updatedAt: renamed.updatedAt };
    const { updatedAt: deleted } = await api.ok(calls.softDelete, { params: { id }, query });
    const version = { 'if-match': `"${deleted}"` };
    expect((await api.call(calls.restore, { params: { id } }, version)).status).toBe(200);
    expect((await api.call(calls.softDelete, { params: { id } }, version)).status).toBe(409);
  });

  test('and restoring it are refused where a colleague deleted it again since it was shown', async () => {
    const { customerId } = await makeCustomer(api);
    const at = { params: { id: customerId } };
    const { updatedAt } = await api.ok(calls.softDelete, at);
    const check = await api.ok(calls.checkDeletable, at);
    expect(check.updatedAt).toBe(updatedAt);
    await api.ok(calls.restore, { ...at, query: { updatedAt } });
    await makeLicense(api, { customerId });
    const again = await api.ok(calls.softDelete, at);
    for (const call of [calls.restore, calls.hardDelete]) {
      const answer = await api.call(call, { ...at, query: { updatedAt } });
      expect([answer.status, answer.body.error]).toEqual([
        409,
        'This customer was changed since you saw it. Look at it again.',
      ]);
    }
    await api.ok(calls.hardDelete, { ...at, query: { updatedAt: again.updatedAt } });
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
    // somebody may have changed it since
    expect([first, again].map(({ headers }) => headers.get('idempotent-replayed'))).toEqual([null, 'true']);
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
    const rename = (version: string) =>
      api.call(
        calls.update,
        { params: { id: made.customerId }, body: { name: 'Other name', country: 'DE' } },
        { 'idempotency-key': 'key-8', 'if-match': `"${version}"` },
      );
    expect((await rename(made.updatedAt)).status).toBe(200);
    expect((await rename('2026-01-01T00:00:00.000Z')).body.code).toBe('IDEMPOTENCY_MISMATCH');
  });

  test('belongs to the person who sent it', async () => {
    const other = server.api(await server.signInAs('admin'));
    const [mine, theirs] = [await create('key-3', 'Mine'), await create('key-3', 'Theirs', other)];
    expect([mine.status, theirs.status]).toEqual([201, 201]);
    const again = [await create('key-3', 'Mine'), await create('key-3', 'Theirs', other)];
    expect(again.map(({ body }) => body)).toEqual([mine.body, theirs.body]);
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
