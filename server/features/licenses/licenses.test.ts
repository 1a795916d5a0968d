import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { audit } from '../../../contract/audit.ts';
import { licenses as calls, type License, type SeatFilter } from '../../../contract/licenses.ts';
import { modules } from '../../../contract/modules.ts';
import { validation } from '../../../contract/validation.ts';
import {
  deactivate,
  makeApiKey,
  makeCustomer,
  makeLicense,
  revoke,
  softDelete,
  validateOn,
  type LicenseFields,
} from '../../../tests/factories.ts';
import {
  auditOf,
  days,
  eventually,
  startTestServer,
  startTwin,
  type Api,
  type TestServer,
} from '../../../tests/harness.ts';

const server = await startTestServer();
const api = server.api(await server.signInAs('super_admin'));
afterAll(() => server.close());

const at = ({ licenseId }: Pick<License, 'licenseId'>) => ({ params: { id: licenseId } });
const keys = (list: License[]) => list.map((license) => license.licenseKey);

/** Sessions that outlive every move of the clock. */
const endless = { sessionIdleMs: days(9999), sessionMaxMs: days(9999) };

/** A server with nothing in it, for tests that look at whole lists. */
async function fresh(work: (own: Api, ownServer: TestServer) => Promise<void>): Promise<void> {
  const own = await startTestServer({ config: endless });
  try {
    await work(own.api((await own.signInAs('super_admin')).byCookie), own);
  } finally {
    await own.close();
  }
}

describe('issuing a license', () => {
  test('makes the key and answers the license with its owner', async () => {
    const { customerId, name } = await makeCustomer(api);
    const answer = await api.call(calls.create, {
      body: {
        customerId,
        type: 'enterprise',
        validFrom: '2026-11-20T00:00:00+02:00',
        validUntil: '2027-11-20T00:00:00Z',
        maxActivations: 3,
        moduleIds: ['mod_lung_nodule', 'mod_diabetes'],
      },
    });
    expect(answer.status).toBe(201);
    expect(answer.body.data).toEqual({
      licenseId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      licenseKey: expect.stringMatching(/^E[0-9A-HJKMNP-TV-Z]{4}(-[0-9A-HJKMNP-TV-Z]{5}){4}$/),
      customerId,
      customer: { name, deletedAt: null },
      type: 'enterprise',
      status: 'active',
      validFrom: '2026-11-19T22:00:00.000Z',
      validUntil: '2027-11-20T00:00:00.000Z',
      maxActivations: 3,
      currentActivations: 0,
      moduleIds: ['mod_lung_nodule', 'mod_diabetes'],
      createdAt: server.clock.now().toISOString(),
      updatedAt: server.clock.now().toISOString(),
    });
    expect(await api.ok(calls.get, at(answer.body.data))).toEqual(answer.body.data);
  });

  test('gives a trial another prefix', async () => {
    expect((await makeLicense(api, { type: 'trial' })).licenseKey).toMatch(/^T/);
  });

  test.each([
    ['a list', ['mod_copd', 'mod_prostate']],
    ['a list of one JSON text', ['["mod_copd","mod_prostate"]']],
    ['a JSON text', '["mod_copd","mod_prostate"]'],
    ['a list with doubles', ['mod_copd', 'mod_prostate', 'mod_copd']],
  ])('takes moduleIds as %s', async (_, moduleIds) => {
    const license = await makeLicense(api, { moduleIds });
    expect(license.moduleIds).toEqual(['mod_copd', 'mod_prostate']);
    expect((await api.ok(calls.update, { ...at(license), body: { moduleIds } })).moduleIds).toEqual([
      'mod_copd',
      'mod_prostate',
    ]);
  });

  test('may have no modules', async () => {
    expect((await makeLicense(api, { moduleIds: undefined })).moduleIds).toEqual([]);
    expect((await makeLicense(api, { moduleIds: '[]' })).moduleIds).toEqual([]);
  });

  test.each<[string, LicenseFields, number, string]>([
    [
      'an unknown module',
      { moduleIds: ['mod_astrology'] },
      422,
      'moduleIds: There is no module mod_astrology',
    ],
    ['moduleIds that are neither list nor JSON', { moduleIds: 'mod_copd' }, 400, 'moduleIds'],
    ['moduleIds of numbers', { moduleIds: [1] }, 400, 'moduleIds'],
    ['moduleIds that are broken JSON', { moduleIds: '["mod_copd"' }, 400, 'moduleIds'],
    [
      'an unknown customer',
      { customerId: '01920000-0000-7000-8000-000000000000' },
      422,
      'customerId: There is no such customer',
    ],
    ['no seat', { maxActivations: 0 }, 400, 'maxActivations: Must be at least 1'],
    ['half a seat', { maxActivations: 1.5 }, 400, 'maxActivations: Must be a whole number'],
    ['no seats', { maxActivations: undefined as never }, 400, 'maxActivations: Max activations is required'],
    ['seats as text', { maxActivations: '3' as never }, 400, 'maxActivations: Must be a number'],
    ['too many seats', { maxActivations: 2 ** 31 }, 400, 'maxActivations: Must be at most 1,000,000'],
    ['an unknown type', { type: 'perpetual' as never }, 400, 'type'],
    [
      'an end before the start',
      { validUntil: '2025-12-31T00:00:00Z' },
      400,
      'validUntil: Must be after Valid From',
    ],
    [
      'an end at the start',
      { validUntil: '2026-01-01T00:00:00Z' },
      400,
      'validUntil: Must be after Valid From',
    ],
    [
      'a day that does not exist',
      { validUntil: '2027-02-29T00:00:00Z' },
      400,
      'validUntil: Must be an ISO 8601',
    ],
    ['a date without a time', { validUntil: '2027-02-28' }, 400, 'validUntil: Must be an ISO 8601'],
    [
      'year 0',
      { validFrom: '0000-01-01T00:00:00Z' },
      400,
      'validFrom: Must lie between the years 1970 and 9999',
    ],
    ['year 10000', { validUntil: '10000-01-01T00:00:00Z' }, 400, 'validUntil'],
    [
      'year 10000 by its offset',
      { validUntil: '9999-12-31T23:59:59-01:00' },
      400,
      'validUntil: Must lie between',
    ],
  ])('refuses %s, naming the field', async (_, fields, status, sentence) => {
    const { customerId } = await makeCustomer(api);
    const body = {
      customerId,
      type: 'trial',
      validFrom: '2026-01-01T00:00:00Z',
      validUntil: '2036-01-01T00:00:00Z',
      maxActivations: 1,
      ...fields,
    };
    const answer = await api.call(calls.create, { body: body as never });
    expect(answer.status).toBe(status);
    expect(answer.body.error).toContain(sentence);
    expect(answer.body.details[0]!.path).toContain(sentence.split(':')[0]);
  });

  test('refuses a soft-deleted customer', async () => {
    const customer = await makeCustomer(api);
    await softDelete(api, customer);
    const answer = await api.call(calls.create, {
      body: {
        customerId: customer.customerId,
        type: 'trial',
        validFrom: '2026-01-01T00:00:00Z',
        validUntil: '2027-01-01T00:00:00Z',
        maxActivations: 1,
      },
    });
    expect([answer.status, answer.body.error]).toEqual([422, 'customerId: Customer is soft-deleted']);
  });

  test('can happen many times at once for one customer', async () => {
    const { customerId } = await makeCustomer(api);
    const made = await Promise.all(Array.from({ length: 12 }, () => makeLicense(api, { customerId })));
    expect(new Set(keys(made)).size).toBe(12);
    expect((await api.call(calls.list, { query: { customerId } })).body.meta.total).toBe(12);
  });
});

describe('the three tabs', () => {
  test('divide all licenses, to the millisecond of validUntil', async () => {
    await fresh(async (own, ownServer) => {
      const license = await makeLicense(own, { validUntil: '2026-12-01T00:00:00Z' });
      await revoke(own, await makeLicense(own, { validUntil: '2026-12-01T00:00:00Z' }));
      const counts = () =>
        eventually(async () => {
          const { counts: now } = (await own.call(calls.list)).body.meta;
          const tabs = await Promise.all(
            (['active', 'revoked', 'expired'] as const).map(
              async (tab) => (await own.ok(calls.list, { query: { tab } })).length,
            ),
          );
          expect([now.active, now.revoked, now.expired]).toEqual(tabs);
          return tabs;
        });
      expect(await counts()).toEqual([1, 1, 0]);
      ownServer.clock.set('2026-12-01T00:00:00.000Z');
      expect(await counts(), 'at validUntil itself').toEqual([1, 1, 0]);
      ownServer.clock.advance(1);
      expect(await counts(), 'a millisecond later').toEqual([0, 1, 1]);
      await revoke(own, license);
      expect(await counts(), 'an expired license that is revoked').toEqual([0, 2, 0]);
    });
  });

  test('are counted under the other filters, and total is that of the tab', async () => {
    await fresh(async (own) => {
      const { customerId } = await makeLicense(own, { type: 'trial' });
      await makeLicense(own, { customerId });
      await revoke(own, await makeLicense(own, { customerId }));
      await makeLicense(own);
      const meta = async (query: object) => (await own.call(calls.list, { query })).body.meta;
      expect(await meta({ customerId })).toMatchObject({
        total: 3,
        counts: { active: 2, revoked: 1, expired: 0 },
      });
      expect(await meta({ customerId, tab: 'revoked' })).toMatchObject({
        total: 1,
        counts: { active: 2, revoked: 1, expired: 0 },
      });
      expect(await meta({ type: 'trial' })).toMatchObject({
        total: 1,
        counts: { active: 1, revoked: 0, expired: 0 },
      });
    });
  });

  test('show a change at once, in its own process, and in another within moments', async () => {
    await fresh(async (own, ownServer) => {
      const twin = await startTwin(ownServer);
      const other = twin.api(await twin.signInAs('viewer'));
      const counts = async (who: Api) => (await who.call(calls.list)).body.meta.counts;
      expect(await counts(other)).toEqual({ active: 0, revoked: 0, expired: 0 });
      const license = await makeLicense(own);
      expect(await counts(own)).toEqual({ active: 1, revoked: 0, expired: 0 });
      await revoke(own, license);
      expect(await counts(own)).toEqual({ active: 0, revoked: 1, expired: 0 });
      await eventually(
        async () => expect(await counts(other)).toEqual({ active: 0, revoked: 1, expired: 0 }),
        500,
      );
      await twin.close();
    });
  });
});

describe('the list', () => {
  test('groups by customer, and says how many licenses each has in the whole list', async () => {
    await fresh(async (own) => {
      const b = await makeCustomer(own, { name: 'beta' });
      const a = await makeCustomer(own, { name: 'Alpha' });
      for (const { customerId } of [b, a, b, a, a]) await makeLicense(own, { customerId });
      const whole = await own.call(calls.list);
      expect(whole.body.data.map((license) => license.customer!.name)).toEqual([
        'Alpha',
        'Alpha',
        'Alpha',
        'beta',
        'beta',
      ]);
      expect(whole.body.meta).toMatchObject({ total: 5, limit: null, offset: 0 });
      const page = await own.call(calls.list, { query: { limit: '2', offset: '2' } });
      expect(page.body.data.map((license) => license.customer!.name)).toEqual(['Alpha', 'beta']);
      expect(page.body.meta.groups.toSorted((x, y) => x.count - y.count)).toEqual([
        { customerId: b.customerId, count: 2 },
        { customerId: a.customerId, count: 3 },
      ]);
    });
  });

  test('marks licenses of a soft-deleted customer', async () => {
    const license = await makeLicense(api);
    await softDelete(api, license);
    const [listed] = await api.ok(calls.list, { query: { customerId: license.customerId } });
    expect(listed!.customer!.deletedAt).toBe(server.clock.now().toISOString());
  });

  test('pages without gaps or doubles in every order', async () => {
    await fresh(async (own) => {
      const { customerId } = await makeCustomer(own);
      await Promise.all(
        Array.from({ length: 13 }, (_, i) =>
          makeLicense(own, { ...(i % 2 ? { customerId } : {}), type: i % 3 ? 'trial' : 'enterprise' }),
        ),
      );
      const all = keys(await own.ok(calls.list)).toSorted();
      for (const sort of [
        'customer',
        '-customer',
        'licenseKey',
        '-type',
        'validUntil',
        'activations',
        '-createdAt',
      ] as const) {
        const pages = await Promise.all(
          [0, 5, 10, 15].map((offset) =>
            own.ok(calls.list, { query: { sort, limit: '5', offset: String(offset) } }),
          ),
        );
        expect(
          pages.map((page) => page.length),
          sort,
        ).toEqual([5, 5, 3, 0]);
        expect(keys(pages.flat()).toSorted(), sort).toEqual(all);
      }
    });
  });

  test('sorts by every column, both ways', async () => {
    await fresh(async (own, ownServer) => {
      const desktop = ownServer.api(await makeApiKey(own));
      const make = async (name: string, fields: LicenseFields, machines: number) => {
        const { customerId } = await makeCustomer(own, { name });
        ownServer.clock.advance(1000);
        const license = await makeLicense(own, { customerId, ...fields });
        for (let i = 0; i < machines; i++) await validateOn(desktop, license, `m${i}`);
        return license.licenseKey;
      };
      const one = await make(
        'b',
        { type: 'trial', validUntil: '2028-01-01T00:00:00Z', maxActivations: 2 },
        1,
      );
      const two = await make(
        'C',
        { type: 'enterprise', validUntil: '2027-01-01T00:00:00Z', maxActivations: 10 },
        3,
      );
      const three = await make(
        'a',
        { type: 'trial', validUntil: '2029-01-01T00:00:00Z', maxActivations: 1 },
        1,
      );
      const order = async (sort: string) =>
        keys(await own.ok(calls.list, { query: { sort: sort as never } }));
      const expected: Record<string, string[]> = {
        customer: [three, one, two],
        licenseKey: [one, two, three].toSorted(),
        validUntil: [two, one, three],
        activations: [two, one, three],
        createdAt: [one, two, three],
      };
      for (const [sort, list] of Object.entries(expected)) {
        expect(await order(sort), sort).toEqual(list);
        expect(await order(`-${sort}`), `-${sort}`).toEqual(list.toReversed());
      }
      expect((await order('type'))[0]).toBe(two);
      expect((await order('-type'))[2]).toBe(two);
    });
  });

  test('finds those that expire within so many days', async () => {
    await fresh(async (own) => {
      const until = (offset: number) => new Date(Date.UTC(2026, 10, 20, 9, 30) + offset).toISOString();
      const [soon, edge] = [
        await makeLicense(own, { validUntil: until(days(1)) }),
        await makeLicense(own, { validUntil: until(days(30)) }),
      ];
      await makeLicense(own, { validUntil: until(days(30) + 1) });
      await makeLicense(own, { validUntil: until(-1) });
      const listed = await own.ok(calls.list, { query: { expiringWithinDays: '30', sort: 'validUntil' } });
      expect(keys(listed)).toEqual(keys([soon, edge]));
    });
  });

  test('finds those with all seats in use, above 75 percent of them, and none, with the counts of the tabs', async () => {
    await fresh(async (own) => {
      const used = async (seats: number, of: number) => {
        const license = await makeLicense(own, { maxActivations: of });
        for (let n = 0; n < seats; n++) await validateOn(own, license, `machine-${n}`);
        return license;
      };
      const [full, high, atThreeQuarters, empty] = [
        await used(1, 1),
        await used(4, 5),
        await used(3, 4),
        await used(0, 2),
      ];
      const found = (seats: SeatFilter) => own.ok(calls.list, { query: { seats, sort: 'createdAt' } });
      expect(keys(await found('full'))).toEqual(keys([full]));
      expect(keys(await found('high'))).toEqual(keys([full, high]));
      expect(keys(await found('empty'))).toEqual(keys([empty]));
      const { body } = await own.call(calls.list, { query: { seats: 'high' } });
      expect(body.meta.counts).toEqual({ active: 2, revoked: 0, expired: 0 });
      const csv = await own.call(calls.exportCsv, { query: { seats: 'empty' } });
      expect(csv.text).toContain(empty.licenseKey);
      expect(csv.text).not.toContain(atThreeQuarters.licenseKey);
    });
  });

  test('finds those not seen for so many days: neither new ones, nor ones that any machine uses', async () => {
    await fresh(async (own, ownServer) => {
      const { clock } = ownServer;
      const desktop = ownServer.api(await makeApiKey(own));
      const [silent, used, partlyUsed] = [
        await makeLicense(own),
        await makeLicense(own),
        await makeLicense(own, { maxActivations: 2 }),
      ];
      for (const license of [silent, used, partlyUsed]) await validateOn(desktop, license, 'first');
      await validateOn(desktop, partlyUsed, 'second');
      const unseen = async (unseenForDays: string) =>
        keys(await own.ok(calls.list, { query: { unseenForDays, sort: 'createdAt' } }));
      clock.advance(days(30));
      await validateOn(desktop, used, 'first');
      await validateOn(desktop, partlyUsed, 'second');
      const issuedToday = await makeLicense(own);
      await eventually(async () => expect(await unseen('30')).toEqual([silent.licenseKey]));
      clock.advance(days(1));
      expect(await unseen('1')).toEqual(keys([silent, used, partlyUsed, issuedToday]));
      expect(await unseen('31')).toEqual([silent.licenseKey]);
      expect(await unseen('32')).toEqual([]);
    });
  });
});

describe('the search', () => {
  let license: License;
  let ownServer: TestServer;
  let own: Api;
  const found = async (search: string) => keys(await own.ok(calls.list, { query: { search } }));
  beforeAll(async () => {
    ownServer = await startTestServer({ config: endless });
    own = ownServer.api((await ownServer.signInAs('super_admin')).byCookie);
    const { customerId } = await makeCustomer(own, {
      name: 'St. Mary_s 100% Hôpital',
      email: 'mary@clinic.example',
    });
    license = await makeLicense(own, {
      customerId,
      type: 'trial',
      validUntil: '2027-03-05T12:00:00Z',
      moduleIds: ['mod_lung_nodule'],
    });
    await makeLicense(own, { validUntil: '2030-12-31T23:59:59Z', moduleIds: [] });
    await own.ok(validation.validate, {
      body: { licenseKey: license.licenseKey, machineId: 'b7c1e2f0-9d41', hostname: 'ONC-WS-08' },
    });
  });
  afterAll(() => ownServer.close());

  test.each([
    ['a customer name without its accents', 'hopital'],
    ['a customer name with more accents than it has', 'mâry'],
    ['a host name in any case', 'onc-ws-08'],
    ['a part of a host name', 'WS-0'],
    ['a fragment of a machine id', 'E2F0-9d'],
    ['the date as the list shows it', '5 Mar 2027'],
    ['the date with its month in full', '5 march 2027'],
    ['the date as the CSV writes it', '2027-03-05'],
    ['a part of the type', 'TRI'],
    ['the whole long date', 'March 5, 2027'],
    ['the long date in lower case', 'march 5, 2027'],
    ['a part of the long date', 'rch 5, 20'],
    ['a part of the customer name', 'mary'],
    ['a wildcard, literally', 'y_s 100%'],
    ['the raw name of a module', 'mod_lung_nodule'],
    ['a module name with spaces', 'Lung Nodule'],
    ['a module name with spaces and its prefix', 'mod lung nod'],
  ])('finds by %s', async (_, search) => {
    expect(await found(search)).toEqual([license.licenseKey]);
  });

  test('finds by the key, whole or in part, in any case', async () => {
    expect(await found(license.licenseKey)).toEqual([license.licenseKey]);
    expect(await found(license.licenseKey.slice(3, 16).toLowerCase())).toEqual([license.licenseKey]);
  });

  test('finds by the key without dashes, in other groups, and in part', async () => {
    const signs = license.licenseKey.replaceAll('-', '');
    const typed = [
      signs,
      signs.toLowerCase(),
      signs.match(/.{1,4}/g)!.join(' '),
      signs.slice(3, 14),
      `${signs.slice(2, 9)} - ${signs.slice(9, 17)}`,
      license.licenseKey.replaceAll('0', 'O').replaceAll('1', 'l'),
    ];
    for (const search of typed) expect([search, await found(search)]).toEqual([search, [license.licenseKey]]);
  });

  test.each([
    'March 05, 2027',
    'mary@clinic',
    'lung_nodule mod',
    'y%s',
    'y％s',
    '2027-05-03',
    'no such words',
    '08 onc',
  ])('does not find by %s', async (search) => {
    expect(await found(search)).toEqual([]);
  });

  test('writes the long date of UTC', async () => {
    expect(await found('December 31, 2030')).toHaveLength(1);
    expect(await found('January 1, 2031')).toHaveLength(0);
  });

  test('finds by the words of the three states', async () => {
    const states = async () =>
      Promise.all(['active', 'revoked', 'expired'].map(async (word) => (await found(word)).length));
    expect(await states()).toEqual([2, 0, 0]);
    await revoke(own, license);
    expect(await states()).toEqual([1, 1, 0]);
    await own.ok(calls.reactivate, at(license));
    ownServer.clock.set('2028-01-01T00:00:00Z');
    expect(await states()).toEqual([1, 0, 1]);
    expect(await found('EXPI')).toEqual([license.licenseKey]);
    ownServer.clock.set('2026-11-20T09:30:00Z');
  });

  test('follows a change of the license, and finds nothing by what it was', async () => {
    const other = await makeLicense(own, { type: 'trial', moduleIds: ['mod_melanoma'] });
    await own.ok(calls.update, {
      ...at(other),
      body: { type: 'enterprise', validUntil: '2033-07-01T00:00:00Z', moduleIds: ['mod_cytology'] },
    });
    expect(await found('melanoma')).toEqual([]);
    expect(await found('cytology')).toEqual([other.licenseKey]);
    expect(await found('July 1, 2033')).toEqual([other.licenseKey]);
  });

  test('finds a license once, by however many of its machines', async () => {
    const other = await makeLicense(own, { maxActivations: 2 });
    for (const machineId of ['RAD-77', 'RAD-78'])
      await own.ok(validation.validate, { body: { licenseKey: other.licenseKey, machineId } });
    const { data, meta } = (await own.call(calls.list, { query: { search: 'rad-7' } })).body;
    expect([keys(data), meta.total, meta.counts.active]).toEqual([[other.licenseKey], 1, 1]);
  });

  test('finds a Turkish and a Greek customer by their own names', async () => {
    for (const name of ['İstanbul Hastanesi', 'ΣΟΦΟΣ']) {
      const made = await makeLicense(own, { customerId: (await makeCustomer(own, { name })).customerId });
      expect(await found(name)).toEqual([made.licenseKey]);
    }
  });

  test.each([1000, 1002])('finds by a host name that %i machines share, beside a name', async (many) => {
    const host = `shared-${many}`;
    const { customerId } = await makeCustomer(own, { name: `Ward ${host}` });
    const [first, second, named] = [
      await makeLicense(own),
      await makeLicense(own),
      await makeLicense(own, { customerId }),
    ];
    await sql`
      insert into activations (activation_id, license_id, machine_id, status, activation_type, hostname, created_at, updated_at)
      select gen_random_uuid(), case when n = ${many} then ${first.licenseId}::uuid else ${second.licenseId} end,
             'machine-' || n, 'active', 'automatic', upper(${host}), now(), now()
        from generate_series(1, ${many}::int) n`.execute(ownServer.db);
    expect((await found(host)).toSorted()).toEqual(keys([first, second, named]).toSorted());
  });
});

describe('changing a license', () => {
  const update = (license: License, body: object, headers: Record<string, string> = {}) =>
    api.call(calls.update, { ...at(license), body }, headers);

  test('changes what is sent, and leaves the rest', async () => {
    const license = await makeLicense(api);
    const answer = await update(license, { maxActivations: 7 });
    expect(answer.status).toBe(200);
    expect(answer.body.data).toEqual({
      ...license,
      maxActivations: 7,
      updatedAt: answer.body.data.updatedAt,
    });
    expect(answer.body.data.updatedAt > license.updatedAt).toBe(true);
  });

  test('keeps the key, also when the type changes', async () => {
    const license = await makeLicense(api, { type: 'trial' });
    expect((await update(license, { type: 'enterprise' })).body.data.licenseKey).toBe(license.licenseKey);
  });

  test('can move it to another customer, and both counts follow', async () => {
    const license = await makeLicense(api);
    const { customerId } = await makeCustomer(api, { name: 'The new owner' });
    const moved = (await update(license, { customerId })).body.data;
    expect(moved).toMatchObject({ customerId, customer: { name: 'The new owner' } });
    expect(keys(await api.ok(calls.list, { query: { search: 'the new owner' } }))).toEqual([
      license.licenseKey,
    ]);
    const { customers } = await import('../../../contract/customers.ts');
    const count = async (id: string) => (await api.ok(customers.get, { params: { id } })).licenseCount;
    expect([await count(license.customerId), await count(customerId)]).toEqual([0, 1]);
  });

  test.each([
    [{ validUntil: '2025-12-31T00:00:00Z' }, 422, 'validUntil'],
    [{ validFrom: '2036-01-01T00:00:00Z' }, 422, 'validUntil'],
    [{ validFrom: '2030-01-01T00:00:00Z', validUntil: '2029-01-01T00:00:00Z' }, 400, 'validUntil'],
    [{ moduleIds: ['mod_nothing'] }, 422, 'moduleIds'],
    [{ customerId: '01920000-0000-7000-8000-000000000000' }, 422, 'customerId'],
    [{ maxActivations: null }, 400, 'maxActivations'],
    [{ status: 'revoked' }, 400, 'status'],
    [{ licenseKey: 'X' }, 400, 'licenseKey'],
    [{ currentActivations: 0 }, 400, 'currentActivations'],
  ])('refuses %j, naming the field, and changes nothing', async (body, status, path) => {
    const license = await makeLicense(api);
    const answer = await update(license, body);
    expect([answer.status, answer.body.details[0]!.path]).toEqual([status, path]);
    expect(await api.ok(calls.get, at(license))).toEqual(license);
  });

  test('refuses fewer seats than machines that hold one, and takes as many', async () => {
    const license = await makeLicense(api, { maxActivations: 3 });
    const desktop = server.api(await makeApiKey(api));
    for (const machine of ['a', 'b']) await validateOn(desktop, license, machine);
    const answer = await update(license, { maxActivations: 1 });
    expect(answer.status).toBe(422);
    expect(answer.body.error).toMatch(/^maxActivations: 2 machines are active/);
    expect((await update(license, { maxActivations: 2 })).status).toBe(200);
  });

  test('refuses a lost update with 409 and both versions, by body and by If-Match', async () => {
    const license = await makeLicense(api);
    const theirs = await update(license, { maxActivations: 5, updatedAt: license.updatedAt });
    expect(theirs.status).toBe(200);
    for (const answer of [
      await update(license, { maxActivations: 9, type: 'enterprise', updatedAt: license.updatedAt }),
      await update(
        license,
        { maxActivations: 9, type: 'enterprise' },
        { 'if-match': `"${license.updatedAt}"` },
      ),
    ]) {
      expect([answer.status, answer.body.code]).toEqual([409, 'EDIT_CONFLICT']);
      expect(answer.body.details).toEqual([
        { path: 'maxActivations', message: expect.any(String), current: 5, yours: 9 },
        {
          path: 'updatedAt',
          message: expect.any(String),
          current: theirs.body.data.updatedAt,
          yours: license.updatedAt,
        },
      ]);
    }
    expect(
      (await update(license, { maxActivations: 9 }, { 'if-match': theirs.headers.get('etag')! })).status,
    ).toBe(200);
  });

  test('refuses a revoked license, and one of a soft-deleted customer', async () => {
    const revoked = await makeLicense(api);
    await revoke(api, revoked);
    expect((await update(revoked, { maxActivations: 9 })).body).toMatchObject({
      code: 'WRONG_STATE',
      error: 'Revoked licenses cannot be edited.',
    });
    const orphan = await makeLicense(api);
    await softDelete(api, orphan);
    expect((await update(orphan, { maxActivations: 9 })).body).toMatchObject({
      code: 'WRONG_STATE',
      error: 'Customer is soft-deleted.',
    });
  });

  test('keeps a module that no longer exists, if the license already had it', async () => {
    const license = await makeLicense(api, { moduleIds: ['mod_copd'] });
    await server.db
      .updateTable('licenses')
      .set({ module_ids: ['mod_retired'] })
      .where('license_id', '=', license.licenseId)
      .execute();
    expect((await update(license, { moduleIds: ['mod_retired', 'mod_copd'] })).status).toBe(200);
  });
});

describe('revoking and reactivating', () => {
  test('go back and forth, and the machines keep their seats', async () => {
    const license = await makeLicense(api);
    const desktop = server.api(await makeApiKey(api));
    await validateOn(desktop, license, 'm1');
    expect(await revoke(api, license)).toMatchObject({ status: 'revoked', currentActivations: 1 });
    expect((await validateOn(desktop, license, 'm1')).code).toBe('REVOKED');
    expect(await api.ok(calls.reactivate, at(license))).toMatchObject({
      status: 'active',
      currentActivations: 1,
    });
    expect((await validateOn(desktop, license, 'm1')).code).toBe('VALID');
  });

  test('refuse what is so already', async () => {
    const license = await makeLicense(api);
    expect((await api.call(calls.reactivate, at(license))).body).toMatchObject({
      code: 'WRONG_STATE',
      error: 'License is already active.',
    });
    await revoke(api, license);
    expect((await api.call(calls.revoke, at(license))).body).toMatchObject({
      code: 'WRONG_STATE',
      error: 'License is already revoked.',
    });
  });

  test('refuse a license of a soft-deleted customer', async () => {
    const license = await makeLicense(api);
    await softDelete(api, license);
    for (const call of [calls.revoke, calls.reactivate]) {
      expect((await api.call(call, at(license))).body).toMatchObject({
        code: 'WRONG_STATE',
        error: 'Customer is soft-deleted.',
      });
    }
  });

  test('take an empty object as body, as the console sends it, and nothing else', async () => {
    const license = await makeLicense(api);
    const send = (method: 'PATCH' | 'POST', change: string, body: string) =>
      fetch(`${server.url}/api/v1/licenses/${license.licenseId}/${change}`, {
        method,
        body,
        headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      });
    const token = (await server.signInAs('license_manager')).accessToken;
    expect((await send('PATCH', 'revoke', '{"status":"active"}')).status).toBe(400);
    expect((await send('PATCH', 'revoke', '{}')).status).toBe(200);
    expect((await send('POST', 'reactivate', '{"status":"revoked"}')).status).toBe(400);
    expect((await send('POST', 'reactivate', '{}')).status).toBe(200);
  });
});

describe('deleting a license', () => {
  test('is refused while it is active, and removes a revoked one with its activations', async () => {
    const license = await makeLicense(api);
    const desktop = server.api(await makeApiKey(api));
    await validateOn(desktop, license, 'm1');
    expect((await api.call(calls.delete, at(license))).body).toMatchObject({ code: 'WRONG_STATE' });
    await revoke(api, license);
    expect((await api.call(calls.delete, at(license))).status).toBe(204);
    expect((await api.call(calls.get, at(license))).status).toBe(404);
    expect((await validateOn(desktop, license, 'm1')).code).toBe('NOT_FOUND');
    expect((await auditOf(server, license.licenseId)).map((entry) => entry.event_type)).toEqual([
      'license.created',
      'license.revoked',
      'license.deleted',
    ]);
  });

  test('can happen to many licenses of one customer at once', async () => {
    const { customerId } = await makeCustomer(api);
    const made = [];
    for (let i = 0; i < 8; i++) made.push(await makeLicense(api, { customerId }));
    await Promise.all(made.map((license) => revoke(api, license)));
    const answers = await Promise.all(made.map((license) => api.call(calls.delete, at(license))));
    expect(answers.map((answer) => answer.status)).toEqual(answers.map(() => 204));
  });
});

describe('the CSV of the list', () => {
  test('holds the filtered list with derived states and readable modules', async () => {
    await fresh(async (own) => {
      const { customerId } = await makeCustomer(own, { name: '=Evil, Inc.' });
      const license = await makeLicense(own, {
        customerId,
        validUntil: '2026-11-01T00:00:00Z',
        moduleIds: ['mod_lung_nodule', 'mod_copd'],
      });
      await makeLicense(own);
      const answer = await own.call(calls.exportCsv, { query: { tab: 'expired' } });
      expect(answer.headers.get('content-disposition')).toBe(
        'attachment; filename="licenses-2026-11-20.csv"',
      );
      const [header, ...rows] = answer.text.trimEnd().split('\n');
      expect(header).toBe(
        'License Key,Customer,Type,Status,Activations,Max Activations,Modules,Valid From,Valid Until,Id',
      );
      expect(rows).toEqual([
        `${license.licenseKey},"'=Evil, Inc.",enterprise,expired,0,3,"Lung Nodule, Copd",2026-01-01T00:00:00.000Z,2026-11-01T00:00:00.000Z,${license.licenseId}`,
      ]);
    });
  });

  test('leaves an entry that says who took the keys, and by which filter', async () => {
    await fresh(async (own) => {
      await makeLicense(own);
      await own.call(calls.exportCsv, { query: { type: 'enterprise' } });
      const { entries } = await own.ok(audit.list, { query: { eventType: 'license.exported' } });
      expect(entries).toMatchObject([
        { changes_summary: 'Licenses: exported 1 as CSV', resource_type: 'license' },
      ]);
      const { after } = await own.ok(audit.get, { params: { id: entries[0]!.audit_id } });
      expect(after).toEqual({ filter: { type: 'enterprise' } });
    });
  });
});

test('the modules come with their categories, oncology, pathology and chronic diseases among them', async () => {
  const list = await api.ok(modules.list);
  const categories = new Set(list.map((module) => module.metadata.category));
  for (const category of ['oncology', 'pathology', 'chronic_diseases', undefined])
    expect(categories).toContain(category);
  expect(list.every((module) => module.name && module.description)).toBe(true);
});

test('the machines of a license can be listed by its key however it is typed', async () => {
  const { activations } = await import('../../../contract/activations.ts');
  const license = await makeLicense(api);
  const desktop = server.api(await makeApiKey(api));
  const { activation } = await validateOn(desktop, license, 'm1', {
    hostname: 'ct-scanner-1',
    platform: 'win32',
  });
  await validateOn(desktop, license, 'm2');
  await deactivate(api, activation!);
  const typed = license.licenseKey.replaceAll('-', ' ').toLowerCase();
  const list = await api.ok(activations.list, { params: { licenseKey: typed } });
  expect(list).toMatchObject([
    { machineId: 'm2', status: 'active', activationType: 'automatic' },
    { machineId: 'm1', status: 'deactivated', hostname: 'ct-scanner-1', platform: 'win32' },
  ]);
  for (const licenseKey of ['E0000-00000-00000-00000-00000', 'nonsense', `${license.licenseKey}X`]) {
    expect((await api.call(activations.list, { params: { licenseKey } })).status, licenseKey).toBe(404);
  }
});
