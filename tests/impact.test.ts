import { describe, expect, test } from 'vitest';
import { apiKeys } from '../contract/api-keys.ts';
import { approvals } from '../contract/approvals.ts';
import { customers } from '../contract/customers.ts';
import { licenses, type License } from '../contract/licenses.ts';
import { noPolicy, policies } from '../contract/policies.ts';
import { releases } from '../contract/releases.ts';
import { rbac, users } from '../contract/users.ts';
import { approveAs, asked, doing } from './approving.ts';
import {
  deactivate,
  enrollOn,
  machinesOf,
  makeApiKey,
  makeCustomer,
  makeLicense,
  makeRelease,
  revoke,
  softDelete,
  validateOn,
} from './factories.ts';
import { eventually, hours, startTestServer } from './harness.ts';
import { issueTo, offlineMachine } from './offline-machine.ts';

/** The numbers of a confirmation match the effects of the change. */
const server = await startTestServer();
const api = server.api(await server.signInAs('super_admin'));
const desktop = server.api(await makeApiKey(api));

type Seat = readonly [license: License, machineId: string];

/** The machines that are currently accepted on their license. */
async function accepted(seats: readonly Seat[]): Promise<Set<string>> {
  const machines = new Set<string>();
  for (const [license, machineId] of seats) {
    if ((await validateOn(desktop, license, machineId)).valid) machines.add(machineId);
  }
  return machines;
}

/** A customer with licenses in every state, one machine on two of them, and one whose seat staff took. */
async function company() {
  const { customerId } = await makeCustomer(api);
  const [one, two, revoked, expiring, later] = [
    await makeLicense(api, { customerId }),
    await makeLicense(api, { customerId }),
    await makeLicense(api, { customerId }),
    await makeLicense(api, { customerId, validUntil: '2026-11-20T09:35:00Z' }),
    await makeLicense(api, { customerId, validFrom: '2030-01-01T00:00:00Z' }),
  ];
  const name = (machine: string) => `${machine} of ${customerId}`;
  const seats: Seat[] = [
    [one, name('a')],
    [one, name('b')],
    [two, name('a')],
    [two, name('out')],
    [revoked, name('c')],
    [expiring, name('d')],
    [later, name('e')],
  ];
  await accepted(seats);
  const out = (await machinesOf(api, two)).find(({ machineId }) => machineId === name('out'));
  await deactivate(api, out!);
  await revoke(api, revoked);
  return { customerId, seats, one, two, revoked, expiring };
}

const ofCustomers = (...ids: string[]) => api.ok(customers.impact, { query: { ids: ids.join(',') } });
const ofLicenses = (...ids: string[]) => api.ok(licenses.impact, { query: { ids: ids.join(',') } });

describe('the customer', () => {
  test('soft deletion refuses exactly the machines that it promised, and a restore accepts them again', async () => {
    const { customerId, seats } = await company();
    const before = await accepted(seats);
    const promised = await ofCustomers(customerId);
    expect(promised).toEqual({ licenses: 5, machines: before.size, offline: 0 });
    expect(promised.machines).toBe(3);
    await softDelete(api, { customerId });
    expect((await accepted(seats)).size).toBe(0);
    expect(await ofCustomers(customerId)).toEqual(promised);
    await api.ok(customers.restore, { params: { id: customerId } });
    expect((await accepted(seats)).size).toBe(promised.machines);
  });

  test('a machine on the licenses of two customers counts once, an expired license not at all', async () => {
    const [first, second] = [await company(), await company()];
    await validateOn(desktop, first.two, `a of ${second.customerId}`);
    expect(await ofCustomers(first.customerId, second.customerId)).toEqual({
      licenses: 10,
      machines: 6,
      offline: 0,
    });
    server.clock.set('2026-11-20T09:35:01Z');
    expect((await ofCustomers(first.customerId)).machines).toBe((await accepted(first.seats)).size + 1);
    server.clock.set('2026-11-20T09:30:00Z');
  });

  test('machines of two customers that enrolled with one id are two, wherever they are counted', async () => {
    const [east, west] = [await makeLicense(api), await makeLicense(api)];
    for (const license of [east, west]) await enrollOn(server, license, 'one id of two');
    const of = { licenses: 2, machines: 2, offline: 0 };
    expect(await ofCustomers(east.customerId, west.customerId)).toEqual(of);
    expect(await ofLicenses(east.licenseId, west.licenseId)).toEqual(of);
    for (const { customerId } of [east, west])
      await api.ok(policies.putOfCustomer, {
        params: { id: customerId },
        body: { ...noPolicy, tags: ['twins'] },
      });
    expect(await api.ok(policies.listTags, { query: { search: 'twins' } })).toMatchObject([
      { customers: 2, machines: 2 },
    ]);
  });

  test('the check before a permanent deletion counts every seat that goes, also of machines that are out', async () => {
    const { customerId, seats } = await company();
    await softDelete(api, { customerId });
    const at = { params: { id: customerId } };
    const rows = await server.db
      .selectFrom('activations as a')
      .innerJoin('licenses as l', 'l.license_id', 'a.license_id')
      .where('l.customer_id', '=', customerId)
      .selectAll('a')
      .execute();
    expect(rows.length).toBe(seats.length - 1);
    expect((await api.ok(customers.checkDeletable, at)).message).toMatch(
      /^5 licenses and 6 activations of ".*" will be deleted with it\.$/,
    );
  });
});

describe('the license', () => {
  test('revoking refuses exactly the machines that it promised, reactivating accepts as many', async () => {
    const { one, two, seats } = await company();
    const before = (await accepted(seats)).size;
    const promised = await ofLicenses(one.licenseId, two.licenseId);
    await revoke(api, one);
    await revoke(api, two);
    expect(before - (await accepted(seats)).size).toBe(promised.machines);
    const back = await ofLicenses(one.licenseId);
    expect(back.machines).toBe(2);
    const lower = (await accepted(seats)).size;
    await api.ok(licenses.reactivate, { params: { id: one.licenseId } });
    expect((await accepted(seats)).size - lower).toBe(back.machines);
  });

  test('the license of a soft-deleted customer runs on no machine', async () => {
    const { one, customerId } = await company();
    await softDelete(api, { customerId });
    expect(await ofLicenses(one.licenseId)).toEqual({ licenses: 1, machines: 0, offline: 0 });
  });

  test('a machine with a license file is none of those that are refused, until that ends', async () => {
    const license = await makeLicense(api);
    await validateOn(desktop, license, 'on the network');
    const { activation } = await issueTo(api, license, offlineMachine('on no network'));
    const of = { licenses: 1, machines: 1, offline: 1 };
    expect(await ofLicenses(license.licenseId)).toEqual(of);
    await revoke(api, license);
    expect(await ofLicenses(license.licenseId)).toEqual(of);
    // also where the license is out already
    expect(await ofCustomers(license.customerId)).toEqual({ ...of, machines: 0 });
    await server.db
      .updateTable('activations')
      .set({ offline_until: new Date(server.clock.now().getTime() - 1) })
      .where('activation_id', '=', activation.activationId)
      .execute();
    expect(await ofLicenses(license.licenseId)).toEqual({ ...of, machines: 2, offline: 0 });
  });
});

test('deactivating a user ends as many sessions and change requests as were promised; keys of theirs that work go on', async () => {
  const person = await server.signInAs('admin');
  const key = await makeApiKey(server.api(person));
  const [off, over] = [await makeApiKey(server.api(person)), await makeApiKey(server.api(person))];
  await api.ok(apiKeys.update, { params: { keyId: off.id }, body: { isActive: false } });
  await server.db
    .updateTable('api_keys')
    .set({ expires_at: server.clock.now() })
    .where('api_key_id', '=', over.id)
    .execute();
  const at = { params: { id: person.userId } };
  const setting = doing(approvals.setChannel, { params: { channel: 'alpha' }, body: { required: true } });
  const request = await asked(server.api(person), setting);
  expect(await api.ok(users.impact, at)).toEqual({ openSessions: 1, apiKeys: 1, openRequests: 1 });
  const ofRole = async (roleId: string) =>
    (await api.ok(rbac.roleImpact, { params: { roleId } })).openRequests;
  expect([await ofRole('admin'), await ofRole('viewer')]).toEqual([1, 0]);
  await api.ok(users.deactivate, at);
  // whoever is no longer active has ended it already
  expect(await ofRole('admin')).toBe(0);
  expect((await server.api(person).call(users.list)).status).toBe(401);
  expect((await approveAs(api, request)).body.error).toContain('Somebody else must ask.');
  const decline = { params: { requestId: request.id }, body: { reason: 'They left.' } };
  await api.ok(approvals.decline, decline);
  expect(await api.ok(users.impact, at)).toEqual({ openSessions: 0, apiKeys: 1, openRequests: 0 });
  expect((await validateOn(server.api(key), await makeLicense(api), 'still in')).valid).toBe(true);
});

test('the impact of a user who does not exist is a 404', async () => {
  const at = { params: { id: '01920000-0000-7000-8000-000000000000' } };
  expect((await api.call(users.impact, at)).status).toBe(404);
  expect((await api.call(apiKeys.impact, { params: { keyId: at.params.id } })).status).toBe(404);
  expect((await api.call(releases.impact, { params: { releaseId: at.params.id } })).status).toBe(404);
});

test('an API key names the machines of the last day that would be refused without it', async () => {
  const key = await makeApiKey(api);
  const at = { params: { keyId: key.id } };
  expect(await api.ok(apiKeys.impact, at)).toEqual({ validations: 0, machines: 0 });
  const license = await makeLicense(api);
  for (const machine of ['x', 'y', 'x']) await validateOn(server.api(key), license, machine);
  await eventually(async () =>
    expect(await api.ok(apiKeys.impact, at)).toEqual({ validations: 3, machines: 2 }),
  );
  server.clock.advance(hours(25));
  const later = server.api(await server.signInAs('super_admin'));
  expect(await later.ok(apiKeys.impact, at)).toEqual({ validations: 0, machines: 0 });
  server.clock.set('2026-11-20T09:30:00Z');
});

test('withdrawing a release concerns the machines that were promised', async () => {
  const release = await makeRelease(server);
  const at = { params: { releaseId: release.id } };
  const alone = { newer: null, pinned: 0, hiddenBy: null, hides: [] };
  expect(await api.ok(releases.impact, at)).toEqual({ machines: 0, ...alone });
  for (const [name, version] of [
    ['has it', release.version],
    ['has another', '0.9.0'],
  ] as const) {
    await server.db
      .insertInto('machines')
      .values({
        machine_hash: Buffer.from(name.padEnd(32)),
        display_id: name,
        platform: release.platform,
        architecture: release.architecture,
        channel: 'stable',
        last_version: version,
        os_version: null,
        app_version: null,
        first_seen: server.clock.now(),
        last_seen: server.clock.now(),
        last_check_day: null,
        notes: null,
      })
      .execute();
  }
  const promised = await api.ok(releases.impact, at);
  const { affectedTotal } = await api.ok(releases.withdraw, { ...at, body: { reason: 'Broken' } });
  expect(promised).toEqual({ machines: affectedTotal, ...alone });
  expect(affectedTotal).toBe(1);
});

test('a role concerns the people who can sign in with it, and those among them without a second factor', async () => {
  const roleId = 'night_desk';
  const at = { params: { roleId } };
  await api.ok(rbac.createRole, { body: { roleId, description: 'At night', copyFrom: 'viewer' } });
  expect(await api.ok(rbac.roleImpact, at)).toEqual({ people: 0, withoutSecondFactor: 0, openRequests: 0 });
  const made = [];
  for (const name of ['ada', 'grace', 'gone']) {
    const body = { email: `${name}@night.test`, name, password: 'long enough 1', role: roleId };
    made.push(await api.ok(users.create, { body }));
  }
  await api.ok(users.deactivate, { params: { id: made[2]!.id } });
  await server.db
    .updateTable('users')
    .set({ totp_confirmed_at: server.clock.now() })
    .where('user_id', '=', made[0]!.id)
    .execute();
  expect(await api.ok(rbac.roleImpact, at)).toEqual({ people: 2, withoutSecondFactor: 1, openRequests: 0 });
  expect((await api.call(rbac.roleImpact, { params: { roleId: 'nobody' } })).status).toBe(404);
});
