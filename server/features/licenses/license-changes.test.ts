import { describe, expect, test } from 'vitest';
import { activations } from '../../../contract/activations.ts';
import { licenses as calls, type License } from '../../../contract/licenses.ts';
import { validation } from '../../../contract/validation.ts';
import {
  deactivate,
  machinesOf,
  makeApiKey,
  makeCustomer,
  makeLicense,
  revoke,
  softDelete,
  validateOn,
} from '../../../tests/factories.ts';
import { auditOf, startTestServer } from '../../../tests/harness.ts';

const server = await startTestServer();
const api = server.api(await server.signInAs('super_admin'));

const at = ({ licenseId }: Pick<License, 'licenseId'>) => ({ params: { id: licenseId } });
const keys = (list: License[]) => list.map((license) => license.licenseKey);

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
    const dates = { validFrom: '2026-02-01T00:00:00.000Z', validUntil: '2030-01-01T00:00:00.000Z' };
    expect((await update(license, dates)).body.data).toMatchObject({ ...dates, maxActivations: 7 });
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

  test('takes fewer seats than machines hold: these keep theirs, and no other gets one', async () => {
    const license = await makeLicense(api, { maxActivations: 3 });
    const desktop = server.api(await makeApiKey(api));
    const codeOf = async (machine: string) => (await validateOn(desktop, license, machine)).code;
    for (const machine of ['a', 'b', 'c']) await codeOf(machine);
    expect((await update(license, { maxActivations: 1 })).body.data).toMatchObject({
      maxActivations: 1,
      currentActivations: 3,
    });
    expect([await codeOf('a'), await codeOf('d')]).toEqual(['VALID', 'TOO_MANY_ACTIVATIONS']);
    const [first, ...others] = await machinesOf(api, license);
    for (const machine of others) await deactivate(api, machine);
    expect(await codeOf('d')).toBe('TOO_MANY_ACTIVATIONS');
    await deactivate(api, first!);
    expect(await codeOf('d')).toBe('VALID');
  });

  test('lets machines above the smaller number of seats go on the same day, and then as many as any other', async () => {
    const license = await makeLicense(api, { maxActivations: 6 });
    const desktop = server.api(await makeApiKey(api));
    const [licenseKey, machines] = [license.licenseKey, ['a', 'b', 'c', 'd', 'e', 'f']];
    for (const machine of machines) await validateOn(desktop, license, machine);
    await update(license, { maxActivations: 1 });
    const release = async (machineId: string) =>
      (await desktop.ok(validation.releaseSeat, { body: { licenseKey, machineId } })).code;
    for (const machine of machines) expect([machine, await release(machine)]).toEqual([machine, 'RELEASED']);
    const list = await api.call(activations.list, { params: { licenseKey } });
    expect(list.body.meta.selfReleases).toEqual({ today: 1, atMost: 2 });
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
  /** No word of a conflict: nobody has typed anything, and its state may be as it was shown. */
  const unseen = {
    code: 'WRONG_STATE',
    error: 'This license was changed since you saw it. Look at it again.',
  };

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

  test('the revocation of a colleague is not undone with an earlier one', async () => {
    const license = await makeLicense(api);
    const { updatedAt } = await api.ok(calls.revoke, at(license));
    await api.ok(calls.reactivate, { ...at(license), query: { updatedAt } });
    const again = await api.ok(calls.revoke, at(license));
    const answer = await api.call(calls.reactivate, { ...at(license), query: { updatedAt } });
    expect([answer.status, answer.body]).toMatchObject([409, unseen]);
    await api.ok(calls.reactivate, { ...at(license), query: { updatedAt: again.updatedAt } });
  });

  test('a license that a colleague has transferred is not revoked unseen', async () => {
    const [seen, other] = [await makeLicense(api), await makeCustomer(api)];
    const { customerId } = other;
    const moved = await api.ok(calls.transfer, { ...at(seen), body: { customerId } });
    const query = { updatedAt: seen.updatedAt };
    const answer = await api.call(calls.revoke, { ...at(seen), query });
    expect([answer.status, answer.body]).toMatchObject([409, unseen]);
    expect((await api.ok(calls.get, at(seen))).status).toBe('active');
    await api.ok(calls.revoke, { ...at(seen), query: { updatedAt: moved.updatedAt } });
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

  test('take an empty object as body, and nothing else', async () => {
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
    const total = async () =>
      (await api.call(calls.list, { query: { customerId } })).body.meta.counts.revoked;
    expect(await total()).toBe(8);
    const answers = await Promise.all(made.map((license) => api.call(calls.delete, at(license))));
    expect(answers.map((answer) => answer.status)).toEqual(answers.map(() => 204));
    expect(await total(), 'no count of before is kept').toBe(0);
  });
});
