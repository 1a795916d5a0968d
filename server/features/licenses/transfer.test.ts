import { describe, expect, test } from 'vitest';
import { audit } from '../../../contract/audit.ts';
import { customerPage } from '../../../contract/customer-page.ts';
import { customers, type Customer } from '../../../contract/customers.ts';
import { licenses as calls, type License } from '../../../contract/licenses.ts';
import { machines } from '../../../contract/machines.ts';
import { noPolicy, policies, type UpdatePolicy } from '../../../contract/policies.ts';
import {
  askFeed,
  enrollOn,
  makeApiKey,
  makeCustomer,
  makeLicense,
  makeRelease,
  revoke,
  signInWith,
  softDelete,
  validateOn,
} from '../../../tests/factories.ts';
import { checkedTime, days, seconds, startTestServer, startTwin, type Api } from '../../../tests/harness.ts';
import { systemChange } from '../../change.ts';
import { checkClock } from '../../checked-time.ts';
import { housekeep } from '../../jobs/housekeeping.ts';
import { transferLicense } from './transfer.ts';

const server = await startTestServer();
const twin = await startTwin(server);
const session = await server.signInAs('super_admin');
const admin = server.api(session);
const key = await makeApiKey(admin, { scopes: ['updates', 'validate'] });
const desktop = server.api(key);

const nobody = '01920000-0000-7000-8000-000000000000';
const at = ({ licenseId }: Pick<License, 'licenseId'>) => ({ params: { id: licenseId } });
const transfer = (license: License, customerId: string, { as = admin, seen = false } = {}) =>
  as.call(calls.transfer, {
    ...at(license),
    body: { customerId, ...(seen && { updatedAt: license.updatedAt }) },
  });
const preview = (license: License, customerId: string, as: Api = admin) =>
  as.call(calls.transferImpact, { ...at(license), query: { customerId } });
const put = (customerId: string, policy: Partial<UpdatePolicy>) =>
  admin.ok(policies.putOfCustomer, {
    params: { id: customerId },
    body: { ...noPolicy, ...policy, tags: [] },
  });

test('what a transfer would change is for who may read licenses', async () => {
  const { customerId } = await makeCustomer(admin);
  const changer = await signInWith(server, admin, [{ resource: 'licenses', action: 'update' }]);
  const answer = await preview(await makeLicense(admin), customerId, changer);
  expect([answer.status, answer.body.error]).toEqual([403, 'You lack the permission licenses:read.']);
});

test.each([
  ['ahead', days(3)],
  ['behind', -days(3)],
])(
  'a transfer by a process whose clock is %s shows neither customer what is of the other',
  async (_, offMs) => {
    const [former, owner] = [await makeCustomer(admin), await makeCustomer(admin)];
    const license = await makeLicense(admin, { customerId: former.customerId, maxActivations: 2 });
    await validateOn(desktop, license, 'theirs');
    server.clock.advance(seconds(1));
    await systemChange(server.context, server.clock.now(), ({ tx, now }) => checkClock(tx, now));
    await systemChange(twin.context, new Date(server.clock.now().getTime() + offMs), (change) =>
      transferLicense(change, license.licenseId, owner.customerId, undefined),
    );
    await housekeep(server.context, checkedTime(server));
    server.clock.advance(seconds(1));
    await validateOn(desktop, license, 'ours');
    server.clock.advance(seconds(1));
    await housekeep(server.context, checkedTime(server));
    const machinesOnTimeline = async ({ customerId }: Customer) => {
      const { entries } = await admin.ok(customerPage.timeline, { params: { id: customerId } });
      return entries.flatMap(({ what }) => /^Machine (\w+) on .*: activated$/.exec(what)?.[1] ?? []);
    };
    expect(await machinesOnTimeline(former)).toEqual(['theirs']);
    expect(await machinesOnTimeline(owner)).toEqual(['ours']);
  },
);

test('a transferred license belongs to the other customer, with its machines', async () => {
  const [from, to] = [await makeCustomer(admin), await makeCustomer(admin)];
  const license = await makeLicense(admin, { customerId: from.customerId });
  await validateOn(desktop, license, 'kept');
  server.clock.advance(seconds(1));
  const answer = await transfer(license, to.customerId, { seen: true });
  expect(answer.status, answer.text).toBe(200);
  expect(answer.body.data).toMatchObject({
    customerId: to.customerId,
    customer: { name: to.name },
    currentActivations: 1,
    licenseKey: license.licenseKey,
  });
  expect(answer.headers.get('etag')).toBe(`"${answer.body.data.updatedAt}"`);
  expect((await validateOn(desktop, license, 'kept')).code).toBe('VALID');
  expect(await admin.ok(calls.list, { query: { search: to.name } })).toHaveLength(1);
  expect(await admin.ok(calls.list, { query: { search: from.name } })).toHaveLength(0);
  const { entries } = await admin.ok(audit.list, { query: { resourceId: license.licenseId, limit: '1' } });
  expect(entries[0]).toMatchObject({
    event_type: 'license.transferred',
    changes_summary: `${license.licenseKey}: transferred from ${from.name} to ${to.name}`,
  });
  // the machines are refused with their customer
  await softDelete(admin, to);
  expect((await validateOn(desktop, license, 'kept')).code).toBe('CUSTOMER_INACTIVE');
});

test('a license that was transferred in this instant can be deleted', async () => {
  const to = await makeCustomer(admin);
  const license = await makeLicense(admin);
  server.clock.advance(seconds(1));
  await transfer(license, to.customerId);
  await revoke(admin, license);
  const answer = await admin.call(calls.delete, at(license));
  expect(answer.status, answer.text).toBe(204);
});

test('a transfer is refused with the reason', async () => {
  const [from, to, gone] = [await makeCustomer(admin), await makeCustomer(admin), await makeCustomer(admin)];
  await softDelete(admin, gone);
  const license = await makeLicense(admin, { customerId: from.customerId });
  const revoked = await makeLicense(admin, { customerId: from.customerId });
  await revoke(admin, revoked);
  const orphan = await makeLicense(admin);
  await softDelete(admin, orphan);
  const cases = [
    [license, gone.customerId, 422, 'customerId: Customer is soft-deleted'],
    [license, nobody, 422, 'customerId: There is no such customer'],
    [license, from.customerId, 422, 'customerId: The license belongs to this customer already'],
    [license, from.customerId.toUpperCase(), 422, 'customerId: The license belongs to this customer already'],
    [revoked, to.customerId, 409, 'Revoked licenses cannot be transferred.'],
    [orphan, to.customerId, 409, 'Customer is soft-deleted.'],
    [
      { ...license, licenseId: nobody },
      to.customerId,
      404,
      'There is no such license. It may have been deleted.',
    ],
  ] as const;
  for (const [one, customerId, status, error] of cases) {
    const answers = [await transfer(one, customerId), await preview(one, customerId)];
    for (const answer of answers) expect([answer.status, answer.body.error]).toEqual([status, error]);
  }
  expect((await admin.ok(calls.get, at(license))).customerId).toBe(from.customerId);
});

test('a transfer from an old version of the license is an edit conflict', async () => {
  const to = await makeCustomer(admin);
  const license = await makeLicense(admin);
  server.clock.advance(seconds(1));
  await admin.ok(calls.update, { ...at(license), body: { maxActivations: 9 } });
  const answer = await transfer(license, to.customerId, { seen: true });
  expect([answer.status, answer.body.code]).toEqual([409, 'EDIT_CONFLICT']);
  const byHeader = await admin.call(
    calls.transfer,
    { ...at(license), body: { customerId: to.customerId } },
    { 'if-match': `"${license.updatedAt}"` },
  );
  expect(byHeader.body.code).toBe('EDIT_CONFLICT');
});

describe('the update policy of the machines', () => {
  const facts = { platform: 'win32', architecture: 'x64', appVersion: '1.0.0' };
  const fed = async (headers: Record<string, string>) => {
    const answer = await askFeed(server.api({ headers }), { 'x-app-version': '4.1.0' });
    return /version: "(.+)"/.exec(answer.text)?.[1];
  };

  test('is that of the new customer, as the preview said', async () => {
    for (const version of ['4.1.0', '4.2.0', '5.0.0']) await makeRelease(server, { version });
    const [from, to] = [await makeCustomer(admin), await makeCustomer(admin)];
    await put(to.customerId, { pin: '4.2.' });
    const license = await makeLicense(admin, { customerId: from.customerId });
    const elsewhere = await makeLicense(admin, { customerId: from.customerId });
    const proven = await enrollOn(server, license, 'proven', facts);
    await validateOn(desktop, license, 'never asked');
    await validateOn(desktop, elsewhere, 'of another license');
    const named = { ...key.headers, 'x-machine-id': 'of another license' };
    for (const headers of [proven.headers, named]) expect(await fed(headers)).toBe('5.0.0');
    await expect
      .poll(async () => (await preview(license, to.customerId)).body.data.updates)
      .toEqual({ machines: 2, changed: 1, held: 0, isComplete: true });
    const { machines: seats, policy } = (await preview(license, to.customerId)).body.data;
    expect({ seats, policy }).toEqual({
      seats: 2,
      policy: { from: [], to: [`The policy of ${to.name} pins its machines to 4.2.`] },
    });
    await transfer(license, to.customerId);
    expect(await fed(proven.headers)).toBe('4.2.0');
    expect(await fed(named)).toBe('5.0.0');
    const page = await admin.ok(machines.explain, { params: { id: 'proven' } });
    expect(page.find(({ version }) => version === '5.0.0')?.detail).toContain(`The policy of ${to.name}`);
  });

  test('is not told to users who may read neither customers nor rollouts, nor the name of the customer', async () => {
    const [from, to] = [await makeCustomer(admin), await makeCustomer(admin)];
    await put(to.customerId, { pin: '4.2.' });
    const license = await makeLicense(admin, { customerId: from.customerId });
    const support = server.api(await server.signInAs('support_agent'));
    const told = (await preview(license, to.customerId, support)).body.data;
    expect(told).toMatchObject({ to: { name: to.name }, policy: { from: [] } });
    await server.db
      .deleteFrom('role_permissions')
      .where('role_id', '=', 'support_agent')
      .where('resource', '=', 'customers')
      .execute();
    const less = server.api(await server.signInAs('support_agent'));
    const untold = (await preview(license, to.customerId, less)).body.data;
    expect(untold).toMatchObject({ to: { name: null }, policy: null });
    const rollouts = { role_id: 'support_agent', resource: 'rollouts', action: 'read' } as const;
    await server.db.insertInto('role_permissions').values(rollouts).execute();
    const roller = server.api(await server.signInAs('support_agent'));
    expect((await preview(license, to.customerId, roller)).body.data).toMatchObject({
      to: { name: null },
      policy: { to: ['The policy of its customer pins its machines to 4.2.'] },
    });
  });
});

describe('at once', () => {
  const numbers = Array.from({ length: 12 }, (_, i) => i);
  const twins = [admin, twin.api(session)] as const;

  test('of two transfers of what two people saw, one wins', async () => {
    for (const round of numbers) {
      const [from, one, other] = [
        await makeCustomer(admin),
        await makeCustomer(admin),
        await makeCustomer(admin),
      ];
      const license = await makeLicense(admin, { customerId: from.customerId });
      const targets = round % 2 ? [one, other] : [other, one];
      const answers = await Promise.all(
        targets.map((to, i) => transfer(license, to.customerId, { as: twins[i]!, seen: true })),
      );
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409]);
      const winner = targets[answers.findIndex(({ status }) => status === 200)]!;
      expect((await admin.ok(calls.get, at(license))).customerId).toBe(winner.customerId);
      const past = await server.db
        .selectFrom('past_license_owners')
        .select('customer_id')
        .where('license_id', '=', license.licenseId)
        .execute();
      expect(past).toEqual([{ customer_id: from.customerId }]);
    }
  });

  test('machines that take their seat meanwhile are accepted', async () => {
    for (const round of numbers) {
      const [from, to] = [await makeCustomer(admin), await makeCustomer(admin)];
      const license = await makeLicense(admin, { customerId: from.customerId, maxActivations: 9 });
      const machine = (i: number) => validateOn(desktop, license, `${round} ${i}`);
      const [one, given, other] = await Promise.all([
        machine(1),
        transfer(license, to.customerId),
        machine(2),
      ]);
      expect([one.code, given.status, other.code]).toEqual(['VALID', 200, 'VALID']);
    }
  });

  test('licenses that change places between two customers do not deadlock', async () => {
    const [one, other] = [await makeCustomer(admin), await makeCustomer(admin)];
    const [mine, theirs] = [
      await makeLicense(admin, { customerId: one.customerId }),
      await makeLicense(admin, { customerId: other.customerId }),
    ];
    for (const round of numbers) {
      const [a, b] = round % 2 ? [one, other] : [other, one];
      const answers = await Promise.all([
        transfer(mine, a.customerId, { as: twins[0] }),
        transfer(theirs, b.customerId, { as: twins[1] }),
        admin.call(customers.update, {
          params: { id: one.customerId },
          body: { name: `${one.name} ${round}`, country: 'DE' },
        }),
      ]);
      // the first round finds both where they are
      for (const { status } of answers) expect([200, 422]).toContain(status);
    }
  });

  test('a license never ends with a customer that is deleted', async () => {
    for (const round of numbers) {
      const to = await makeCustomer(admin);
      const license = await makeLicense(admin);
      const remove = () => twins[1].call(customers.softDelete, { params: { id: to.customerId } });
      const give = () => transfer(license, to.customerId);
      const [given, removed] = await Promise.all(
        round % 2 ? [give(), remove()] : [remove(), give()].toReversed(),
      );
      expect(removed!.status).toBe(200);
      const { customerId, customer } = await admin.ok(calls.get, at(license));
      // either it was transferred before the deletion and is found again there, or it stayed
      if (given!.status === 200) expect(customer?.deletedAt).not.toBeNull();
      else {
        expect([given!.status, given!.body.error]).toEqual([422, 'customerId: Customer is soft-deleted']);
        expect(customerId).toBe(license.customerId);
      }
      const gone = await admin.call(customers.hardDelete, { params: { id: to.customerId } });
      expect(gone.status).toBe(204);
      expect((await admin.call(calls.get, at(license))).status).toBe(given!.status === 200 ? 404 : 200);
    }
  });
});
