import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { customers } from '../../../contract/customers.ts';
import { imports } from '../../../contract/imports.ts';
import { licenses as calls, type License } from '../../../contract/licenses.ts';
import { validation } from '../../../contract/validation.ts';
import { makeCustomer, makeLicense, revoke } from '../../../tests/factories.ts';
import { startTestServer, type Api, type TestServer } from '../../../tests/harness.ts';

const at = ({ licenseId }: Pick<License, 'licenseId'>) => ({ params: { id: licenseId } });
const keys = (list: License[]) => list.map((license) => license.licenseKey);

describe('the search', () => {
  let license: License;
  let ownServer: TestServer;
  let own: Api;
  const found = async (search: string) => keys(await own.ok(calls.list, { query: { search } }));
  beforeAll(async () => {
    ownServer = await startTestServer();
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
      body: { licenseKey: license.licenseKey, machineId: 'b7c1e2f0-9d41', hostname: 'ONC-WL-08' },
    });
  });

  test.each([
    ['a customer name without its accents', 'hopital'],
    ['a customer name with more accents than it has', 'mâry'],
    ['a whole customer name in capitals', 'ST. MARY_S 100% HÔPITAL'],
    ['a host name in any case', 'onc-wl-08'],
    ['a part of a host name', 'WL-0'],
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
    for (const machineId of ['RUD-77', 'RUD-78'])
      await own.ok(validation.validate, { body: { licenseKey: other.licenseKey, machineId } });
    const { data, meta } = (await own.call(calls.list, { query: { search: 'rud-7' } })).body;
    expect([keys(data), meta.total, meta.counts.active]).toEqual([[other.licenseKey], 1, 1]);
  });

  test('finds a Turkish and a Greek customer by their own names', async () => {
    for (const name of ['İstanbul Hastanesi', 'ΣΟΦΟΣ']) {
      const made = await makeLicense(own, { customerId: (await makeCustomer(own, { name })).customerId });
      expect(await found(name)).toEqual([made.licenseKey]);
    }
  });

  test('finds a Greek name in any case, although a sigma at its end has two forms', async () => {
    const names = ['Ευαγγελισμός', 'ΕΥΑΓΓΕΛΙΣΜΟΣ'];
    const made = await Promise.all(names.map((name) => makeCustomer(own, { name })));
    const issued = await Promise.all(made.map(({ customerId }) => makeLicense(own, { customerId })));
    for (const search of [...names, 'ΕΥΑΓΓΕΛΙΣΜΌΣ', 'ευαγγελισ', 'ΕΥΑΓΓΕΛΙΣ']) {
      expect((await found(search)).toSorted(), search).toEqual(keys(issued).toSorted());
      expect(await own.ok(customers.list, { query: { search } }), search).toHaveLength(2);
    }
    const csv = `Company Name,Country\n${names[0]!.toUpperCase()},GR`;
    expect((await own.ok(imports.checkCustomers, { body: { csv, skipExisting: true } })).names).toHaveLength(
      1,
    );
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
