import { expect, test } from 'vitest';
import { customerExport, customerPage as calls } from '../../../contract/customer-page.ts';
import { licenses, type License } from '../../../contract/licenses.ts';
import { deactivate, makeApiKey, makeCustomer, makeLicense, validateOn } from '../../../tests/factories.ts';
import { checkedTime, days, eventually, seconds, startTestServer } from '../../../tests/harness.ts';
import { housekeep } from '../../jobs/housekeeping.ts';

/* What the pages of two customers show of a license that was one's and is the other's. */

const server = await startTestServer();
const admin = server.api((await server.signInAs('super_admin')).byCookie);
const desktop = server.api(await makeApiKey(admin));

const at = (customerId: string) => ({ params: { id: customerId } });
const overview = (customerId: string) => admin.ok(calls.overview, at(customerId));
const machinesOf = (customerId: string) => admin.call(calls.machines, { ...at(customerId), query: {} });
const exported = (customerId: string) => admin.call(calls.export, at(customerId));
const transfer = (license: License, customerId: string) =>
  admin.ok(licenses.transfer, { params: { id: license.licenseId }, body: { customerId } });
const moment = () => server.clock.advance(seconds(5));

test('a transferred license brings the machines that hold a seat, not those that lost it before', async () => {
  const [from, to] = [await makeCustomer(admin), await makeCustomer(admin)];
  const license = await makeLicense(admin, { customerId: from.customerId });
  const gone = await validateOn(desktop, license, 'lost before');
  await validateOn(desktop, license, 'moves');
  await deactivate(admin, gone.activation!);
  moment();
  await transfer(license, to.customerId);
  moment();
  const lost = await validateOn(desktop, license, 'lost after');
  await deactivate(admin, lost.activation!);
  const listed = (await machinesOf(to.customerId)).body;
  expect(listed.data.map(({ machineId }) => machineId)).toEqual(['moves', 'lost after']);
  expect(listed.meta.total).toBe(2);
  const { machines } = customerExport.parse(JSON.parse((await exported(to.customerId)).text));
  expect(machines!.map(({ machineId }) => machineId).toSorted()).toEqual(['lost after', 'moves']);
  moment();
  await transfer(license, from.customerId);
  const back = (await machinesOf(from.customerId)).body.data;
  expect(back.map(({ machineId }) => machineId)).toEqual(['moves', 'lost before']);
});

test('refused validations name no host of a machine that was the other customer’s on the same license', async () => {
  const [from, to] = [await makeCustomer(admin), await makeCustomer(admin)];
  const license = await makeLicense(admin, { customerId: from.customerId, maxActivations: 1 });
  const lost = await validateOn(desktop, license, 'lost', { hostname: 'A-ONC-07' });
  await validateOn(desktop, license, 'moves', { hostname: 'A-RAD-01' });
  await deactivate(admin, lost.activation!);
  moment();
  await transfer(license, to.customerId);
  moment();
  await validateOn(desktop, license, 'lost');
  await validateOn(desktop, license, 'moves', { hostname: 'B-RAD-01' });
  for (const [{ customerId }, machineId, others] of [
    [to, 'lost', 'A-ONC-07'],
    [from, 'moves', 'B-RAD-01'],
  ] as const) {
    const refused = await eventually(async () => {
      const found = await overview(customerId);
      return found.refused?.total === 1 && found.refused;
    });
    expect(refused.latest).toMatchObject([{ machineId, hostname: null }]);
    expect((await exported(customerId)).text).not.toContain(others);
  }
});

test.each(['then', 'later'])(
  'a seat that ended while the clock was ahead is not of the next owner of a license transferred %s',
  async (when) => {
    const [from, to] = [await makeCustomer(admin), await makeCustomer(admin)];
    const license = await makeLicense(admin, { customerId: from.customerId });
    const gone = await validateOn(desktop, license, 'ended ahead');
    const right = server.clock.now();
    server.clock.advance(days(30));
    await deactivate(admin, gone.activation!);
    moment();
    if (when === 'later') server.clock.set(right);
    moment();
    await transfer(license, to.customerId);
    server.clock.set(right);
    moment();
    await housekeep(server.context, checkedTime(server));
    expect((await machinesOf(to.customerId)).body.data).toEqual([]);
    moment();
    await transfer(license, from.customerId);
    expect((await machinesOf(from.customerId)).body.data).toHaveLength(1);
  },
);
