import { describe, expect, test } from 'vitest';
import { licenses as calls, type License } from '../../../contract/licenses.ts';
import { modules } from '../../../contract/modules.ts';
import {
  deactivate,
  makeApiKey,
  makeCustomer,
  makeLicense,
  softDelete,
  validateOn,
  type LicenseFields,
} from '../../../tests/factories.ts';
import { startTestServer } from '../../../tests/harness.ts';

const server = await startTestServer();
const api = server.api(await server.signInAs('super_admin'));

const at = ({ licenseId }: Pick<License, 'licenseId'>) => ({ params: { id: licenseId } });
const keys = (list: License[]) => list.map((license) => license.licenseKey);

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
    ['countless seats', { maxActivations: 1e20 }, 400, 'maxActivations: Must be at most 1,000,000'],
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
    expect(answer.body.details.map(({ path }) => path.split('.')[0])).toEqual([sentence.split(':')[0]]);
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
