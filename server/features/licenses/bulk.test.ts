import { describe, expect, test } from 'vitest';
import { bulkLicenses as calls, mostInBulk, type PlannedChange } from '../../../contract/license-bulk.ts';
import { licenses, type License } from '../../../contract/licenses.ts';
import {
  deactivate,
  makeCustomer,
  makeLicense,
  revoke,
  signInWith,
  softDelete,
  unique,
  validateOn,
} from '../../../tests/factories.ts';
import { auditOf, startTestServer } from '../../../tests/harness.ts';

const server = await startTestServer();
const api = server.api(await server.signInAs('license_manager'));
const admin = server.api(await server.signInAs('super_admin'));

const oneYear = { kind: 'extendByMonths', months: 12 } as const;
const at = ({ licenseId }: Pick<License, 'licenseId'>) => ({ params: { id: licenseId } });
const get = (license: License) => api.ok(licenses.get, at(license));
const ids = (all: License[]) => all.map(({ licenseId }) => licenseId);
/** What the console sends: the values that were previewed, with the versions. */
const set = (planned: PlannedChange[]) =>
  api.ok(calls.change, {
    body: {
      licenses: planned.map(({ licenseId, updatedAt, after }) => ({ licenseId, updatedAt, ...after })),
    },
  });

/** Licenses of a customer of their own: one of each kind that matters. */
async function someLicenses() {
  const customer = await makeCustomer(admin, { name: unique('Bulk') });
  const make = (fields: object = {}) => makeLicense(api, { customerId: customer.customerId, ...fields });
  const plain = await make({ validUntil: '2028-02-29T17:30:00Z' });
  const expired = await make({ validUntil: '2026-06-01T00:00:00Z' });
  const revoked = await make();
  await revoke(api, revoked);
  return { customer, plain, expired, revoked };
}

describe('the preview', () => {
  test('names what changes, before and after, and what stays, with the reason; and changes nothing', async () => {
    const { customer, plain, expired, revoked } = await someLicenses();
    const { changed, leftOut } = await api.ok(calls.preview, {
      query: { customerId: customer.customerId },
      body: { change: oneYear },
    });
    const named = ({ licenseId, licenseKey }: License) => ({
      licenseId,
      licenseKey,
      customerId: customer.customerId,
      customerName: customer.name,
    });
    expect(changed).toEqual([
      {
        ...named(plain),
        updatedAt: plain.updatedAt,
        before: { validUntil: '2028-02-29T17:30:00.000Z' },
        after: { validUntil: '2029-02-28T17:30:00.000Z' },
      },
      {
        ...named(expired),
        updatedAt: expired.updatedAt,
        before: { validUntil: '2026-06-01T00:00:00.000Z' },
        after: { validUntil: '2027-06-01T00:00:00.000Z' },
      },
    ]);
    expect(leftOut).toEqual([{ ...named(revoked), reason: 'Revoked licenses cannot be edited' }]);
    expect(await get(plain)).toEqual(plain);
  });

  test('needs the permission to read licenses too', async () => {
    const { customer } = await someLicenses();
    const changer = await signInWith(server, admin, [{ resource: 'licenses', action: 'update' }]);
    const answer = await changer.call(calls.preview, {
      query: { customerId: customer.customerId },
      body: { change: oneYear },
    });
    expect([answer.status, answer.body.error]).toEqual([403, 'You lack the permission licenses:read.']);
  });

  test('never shortens a license, and leaves those of a soft-deleted customer', async () => {
    const { customer, plain, expired } = await someLicenses();
    const preview = () =>
      api.ok(calls.preview, {
        body: {
          ids: ids([plain, expired]),
          change: { kind: 'extendTo', validUntil: '2027-01-01T00:00:00Z' },
        },
      });
    const { changed, leftOut } = await preview();
    expect(changed.map(({ licenseKey, after }) => [licenseKey, after.validUntil])).toEqual([
      [expired.licenseKey, '2027-01-01T00:00:00.000Z'],
    ]);
    expect(leftOut.map(({ reason }) => reason)).toEqual(['Ends on that day or later already']);
    await softDelete(admin, customer);
    const gone = await preview();
    expect([gone.changed, gone.leftOut.map(({ reason }) => reason)]).toEqual([
      [],
      ['Customer is soft-deleted', 'Customer is soft-deleted'],
    ]);
  });

  test('adds and removes modules', async () => {
    const { customerId } = await makeCustomer(admin);
    const has = await makeLicense(admin, { customerId, moduleIds: ['mod_copd', 'mod_diabetes'] });
    const lacks = await makeLicense(admin, { customerId, moduleIds: ['mod_prostate'] });
    const same = await makeLicense(admin, { customerId, moduleIds: ['mod_copd'] });
    const { changed, leftOut } = await api.ok(calls.preview, {
      body: {
        ids: ids([has, lacks, same]),
        change: { kind: 'modules', add: ['mod_copd'], remove: ['mod_diabetes'] },
      },
    });
    expect(changed.map(({ licenseId, after }) => [licenseId, after.moduleIds])).toEqual([
      [has.licenseId, ['mod_copd']],
      [lacks.licenseId, ['mod_prostate', 'mod_copd']],
    ]);
    expect(leftOut.map(({ licenseId, reason }) => [licenseId, reason])).toEqual([
      [same.licenseId, 'Has these modules already'],
    ]);
  });

  test('refuses a module that does not exist, and more licenses than it shows', async () => {
    const unknown = await api.call(calls.preview, {
      body: { change: { kind: 'modules', add: ['mod_astrology'], remove: [] } },
    });
    expect([unknown.status, unknown.body.error]).toEqual([
      422,
      'moduleIds: There is no module mod_astrology',
    ]);
    const { customerId } = await makeCustomer(admin);
    await server.pool.query(
      `insert into licenses (license_id, license_key, customer_id, type, valid_from, valid_until,
         max_activations, created_at, updated_at)
       select gen_random_uuid(), 'BULK-' || n, $1, 'trial', now(), now() + interval '1 year', 1, now(), now()
         from generate_series(1, ${mostInBulk + 1}) n`,
      [customerId],
    );
    const tooMany = await api.call(calls.preview, { query: { customerId }, body: { change: oneYear } });
    expect([tooMany.status, tooMany.body.error]).toEqual([
      422,
      'licenses: More than 5000 licenses match. Narrow the filter',
    ]);
    await server.pool.query('delete from licenses where customer_id = $1', [customerId]);
  });
});

describe('the change', () => {
  test('does exactly what was previewed, each with an audit entry, and again back', async () => {
    const { customer, plain, expired } = await someLicenses();
    const { changed } = await api.ok(calls.preview, {
      query: { customerId: customer.customerId },
      body: { change: oneYear },
    });
    const done = await set(changed);
    expect(done.refused).toEqual([]);
    expect([(await get(plain)).validUntil, (await get(expired)).validUntil]).toEqual([
      '2029-02-28T17:30:00.000Z',
      '2027-06-01T00:00:00.000Z',
    ]);
    const entries = await auditOf(server, plain.licenseId);
    expect(entries.at(-1)).toMatchObject({
      event_type: 'license.updated',
      before: { validUntil: '2028-02-29T17:30:00.000Z' },
      after: { validUntil: '2029-02-28T17:30:00.000Z' },
    });

    const versions = new Map(done.changed.map(({ licenseId, updatedAt }) => [licenseId, updatedAt]));
    const back = changed.map(({ licenseId, before }) => ({
      licenseId,
      updatedAt: versions.get(licenseId)!,
      ...before,
    }));
    await api.ok(licenses.update, { ...at(expired), body: { maxActivations: 9 } });
    const undone = await api.ok(calls.change, { body: { licenses: back } });
    expect(undone.changed.map(({ licenseId }) => licenseId)).toEqual([plain.licenseId]);
    expect(undone.refused).toEqual([
      { licenseId: expired.licenseId, reason: 'Was changed by someone else meanwhile' },
    ]);
    expect((await get(plain)).validUntil).toBe('2028-02-29T17:30:00.000Z');
    expect((await get(expired)).validUntil).toBe('2027-06-01T00:00:00.000Z');
  });

  test('touches nothing that the filter matches only later, and nothing that changed since', async () => {
    const { customer, plain, expired } = await someLicenses();
    const { changed } = await api.ok(calls.preview, {
      query: { customerId: customer.customerId },
      body: { change: oneYear },
    });
    const later = await makeLicense(api, { customerId: customer.customerId });
    const edited = await api.ok(licenses.update, {
      ...at(plain),
      body: { validUntil: '2030-01-01T00:00:00Z' },
    });
    expect((await set(changed)).refused.map(({ licenseId }) => licenseId)).toEqual([plain.licenseId]);
    expect(await get(later)).toEqual(later);
    expect(await get(plain)).toEqual(edited);
    expect((await get(expired)).validUntil).toBe('2027-06-01T00:00:00.000Z');
  });

  test('refuses what a single change refuses, and does the rest', async () => {
    const { plain, revoked } = await someLicenses();
    const { activation } = await validateOn(admin, plain, 'machine');
    await deactivate(api, activation!);
    const [now, gone] = [await get(plain), '01920000-0000-7000-8000-000000000000'];
    const answer = await api.ok(calls.change, {
      body: {
        licenses: [
          { licenseId: now.licenseId, updatedAt: now.updatedAt, moduleIds: ['mod_copd'] },
          { licenseId: revoked.licenseId, updatedAt: revoked.updatedAt, moduleIds: [] },
          { licenseId: gone, updatedAt: now.updatedAt, moduleIds: [] },
        ],
      },
    });
    expect(answer.changed.map(({ licenseId }) => licenseId)).toEqual([plain.licenseId]);
    expect(new Map(answer.refused.map(({ licenseId, reason }) => [licenseId, reason]))).toEqual(
      new Map([
        [revoked.licenseId, 'Revoked licenses cannot be edited.'],
        [gone, 'There is no such license. It may have been deleted.'],
      ]),
    );
    const wrong = await api.ok(calls.change, {
      body: {
        licenses: [
          {
            licenseId: plain.licenseId,
            updatedAt: answer.changed[0]!.updatedAt,
            validUntil: '2025-01-01T00:00:00Z',
          },
        ],
      },
    });
    expect(wrong.refused.map(({ reason }) => reason)).toEqual(['validUntil: Must be after Valid From']);
  });

  test('revokes what was previewed, says whom it stops, and reactivates', async () => {
    const { customer, plain, expired, revoked } = await someLicenses();
    await validateOn(admin, plain, 'stopped by many');
    const ask = (status: License['status'], all: License[]) =>
      api.ok(calls.preview, { body: { ids: ids(all), change: { kind: 'status', status } } });
    const preview = await ask('revoked', [plain, expired, revoked]);
    // the machine of an expired license is refused already
    expect([preview.changed.length, preview.machines]).toEqual([2, 1]);
    expect(preview.leftOut.map(({ reason }) => reason)).toEqual(['License is already revoked']);

    await api.ok(licenses.update, { ...at(expired), body: { maxActivations: 9 } });
    const done = await set(preview.changed);
    expect(done.changed.map(({ licenseId }) => licenseId)).toEqual([plain.licenseId]);
    expect(done.refused.map(({ reason }) => reason)).toEqual([
      'This license was changed since you saw it. Look at it again.',
    ]);
    expect([(await get(plain)).status, (await get(expired)).status]).toEqual(['revoked', 'active']);
    expect((await auditOf(server, plain.licenseId)).at(-1)).toMatchObject({ event_type: 'license.revoked' });
    expect((await set(preview.changed)).refused[0]!.reason).toBe('License is already revoked.');

    const back = await ask('active', [plain]);
    await set(back.changed);
    expect((await get(plain)).status).toBe('active');
    const { licenseId, updatedAt } = await get(plain);
    const both = { licenseId, updatedAt, status: 'revoked', moduleIds: [] } as const;
    expect((await api.call(calls.change, { body: { licenses: [both] } })).status).toBe(400);
    await softDelete(admin, customer);
    expect((await ask('revoked', [plain])).leftOut[0]!.reason).toBe('Customer is soft-deleted');
  });

  test('made twice at once changes each license once', async () => {
    const made = await Promise.all(Array.from({ length: 20 }, () => makeLicense(admin)));
    const { changed } = await api.ok(calls.preview, { body: { ids: ids(made), change: oneYear } });
    const [one, other] = await Promise.all([set(changed), set(changed.toReversed())]);
    expect(one.changed.length + other.changed.length).toBeGreaterThanOrEqual(20);
    for (const license of made) {
      expect((await get(license)).validUntil).toBe('2037-01-01T00:00:00.000Z');
      const entries = await auditOf(server, license.licenseId);
      expect(entries.map(({ event_type }) => event_type)).toEqual(['license.created', 'license.updated']);
    }
  });

  test('takes each license once and at most 50, with a version', async () => {
    const { licenseId, updatedAt } = await makeLicense(admin);
    const one = { licenseId, updatedAt, moduleIds: [] };
    const status = async (all: object[]) =>
      (await api.call(calls.change, { body: { licenses: all as never } })).status;
    expect(await status([one, one])).toBe(400);
    expect(await status([{ licenseId, moduleIds: [] }])).toBe(400);
    expect(await status(Array.from({ length: 51 }, () => one))).toBe(400);
    expect(await status([])).toBe(400);
  });
});

test('the export of ticked licenses holds these and no others', async () => {
  const { plain, expired } = await someLicenses();
  const download = async (query: string) =>
    (
      await fetch(`${server.url}${licenses.exportCsv.path}?${query}`, {
        headers: (await server.signInAs('viewer')).headers,
      })
    ).text();
  const text = await download(`ids=${plain.licenseId}`);
  expect(text).toContain(plain.licenseKey);
  expect(text).not.toContain(expired.licenseKey);
  expect(await download(`ids=${plain.licenseId}&tab=expired`)).not.toContain(plain.licenseKey);
});
