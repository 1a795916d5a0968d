import { expect, test } from 'vitest';
import { analytics as calls } from '../../../contract/analytics.ts';
import { customerPage } from '../../../contract/customer-page.ts';
import { licenses } from '../../../contract/licenses.ts';
import { today } from '../../../contract/today.ts';
import {
  deactivate,
  enrollOn,
  machinesOf,
  makeApiKey,
  makeCustomer,
  makeLicense,
  revoke,
  unique,
  validateOn,
} from '../../../tests/factories.ts';
import {
  days,
  eventually,
  movableClock,
  numbers,
  startTestServer,
  startTwin,
} from '../../../tests/harness.ts';
import { countOf } from '../../db/sql.ts';

const clock = movableClock('2026-11-20T10:00:00.000Z');
const server = await startTestServer({ clock });
const twin = await startTwin(server);
const desktopKey = await makeApiKey(server.api(await server.signInAs('super_admin')));
const desktop = server.api(desktopKey);
const desktopOfTwin = twin.api(desktopKey);

/** An enrollment is recorded as a validation. */
const written = (validations: number) =>
  eventually(async () => expect(await countOf(server.db.selectFrom('validations'))).toBe(validations));

const dayOf = (date: Date) => date.toISOString().slice(0, 10);

/** A customer with two licenses, some days after all that was before. */
async function twoLicenses() {
  clock.advance(days(5));
  const staff = server.api(await server.signInAs('super_admin'));
  const { customerId } = await makeCustomer(staff, {});
  const license = { customerId, maxActivations: 50 };
  const made = [await makeLicense(staff, license), await makeLicense(staff, license)] as const;
  const before = await countOf(server.db.selectFrom('validations'));
  return { staff, customerId, made, day: dayOf(clock.now()), before };
}

type Owned = Awaited<ReturnType<typeof twoLicenses>>;

/** Machines, licenses and customers of the day. */
async function countsOf({ staff, day }: Pick<Owned, 'staff' | 'day'>) {
  const trends = await staff.ok(calls.trends, { query: { startDate: day, endDate: day } });
  return [trends.activations, trends.licenses, trends.customers].map(([one]) => one!.count);
}

const useOn = ({ staff, day }: Owned) =>
  staff.ok(calls.customers, { query: { startDate: day, endDate: day } });

const seenToday = async ({ staff }: Pick<Owned, 'staff'>) =>
  (await staff.ok(today.get)).figures.find(({ figure }) => figure === 'machines')!.today;

test('a machine with a seat on two licenses is one machine in every figure, with what it told last', async () => {
  const owned = await twoLicenses();
  const { customerId, made, before, staff } = owned;
  const machine = unique('workstation');
  await validateOn(desktop, made[0], machine, { appVersion: '6.0.0' });
  await written(before + 1);
  await enrollOn(server, made[0], machine);
  clock.advance(1000);
  await validateOn(desktop, made[1], machine, { appVersion: '6.1.0' });
  clock.advance(1000);
  await validateOn(desktop, await makeLicense(staff, { customerId }), machine);
  await written(before + 4);
  expect(await countsOf(owned)).toEqual([1, 3, 1]);
  const { customers, versions } = await useOn(owned);
  expect(customers).toMatchObject([{ customerId, activeUsers: 1, activeLicenses: 3 }]);
  expect(versions).toMatchObject([{ customerId, appVersion: '6.1.0', machines: 1, provenMachines: 1 }]);
  const page = await staff.ok(customerPage.overview, { params: { id: customerId } });
  expect([page.machines, await seenToday(owned)]).toEqual([1, 1]);
});

test('machines with two seats are counted once by two processes at the same moment', async () => {
  const { made, before } = await twoLicenses();
  const seats = numbers(5).flatMap((n) => made.map((license) => [license, `shared ${n}`] as const));
  for (const [license, machine] of seats) await validateOn(desktop, license, machine);
  clock.advance(days(1));
  const staff = server.api(await server.signInAs('super_admin'));
  // each of the two seats in another process
  await Promise.all(
    seats.map(([license, machine], n) => validateOn(n % 2 ? desktop : desktopOfTwin, license, machine)),
  );
  await written(before + 20);
  expect(await countsOf({ staff, day: dayOf(clock.now()) })).toEqual([5, 2, 1]);
  expect(await seenToday({ staff })).toBe(5);
});

test('two machines of two customers that proved themselves with one id are two', async () => {
  const [one, other] = [await twoLicenses(), await twoLicenses()];
  const enrolled = [
    await enrollOn(server, one.made[0], 'imaged'),
    await enrollOn(server, other.made[0], 'imaged'),
  ];
  for (const [n, machine] of enrolled.entries())
    await validateOn(server.api(machine), [one, other][n]!.made[0], 'imaged');
  await written(other.before + 4);
  expect(await countsOf(other)).toEqual([2, 2, 2]);
});

test('a day counts a machine whose record arrives after one of the next day', async () => {
  const owned = await twoLicenses();
  const { made, before, day } = owned;
  const noon = clock.now();
  clock.advance(days(1));
  await validateOn(desktop, made[0], 'late', {});
  await written(before + 1);
  clock.set(noon.toISOString());
  // as the journal of a process that was away
  for (const sent of [2, 3]) {
    await validateOn(desktop, made[0], 'late', {});
    await written(before + sent);
  }
  expect(await countsOf(owned)).toEqual([1, 1, 1]);
  expect(await countsOf({ ...owned, day: dayOf(new Date(noon.getTime() + days(1))) })).toEqual([1, 1, 1]);
  expect(day).toBe(dayOf(noon));
});

test('the figures of a customer count no machine that lost its seat under the former owner, and licenses by their state', async () => {
  const former = await twoLicenses();
  const { staff, made } = former;
  const { customerId } = await makeCustomer(staff, {});
  const use = async () => {
    // each reading of another period, since one is cached
    clock.advance(days(1));
    const query = { startDate: former.day, endDate: dayOf(clock.now()) };
    const signedIn = server.api(await server.signInAs('super_admin'));
    const { customers } = await signedIn.ok(calls.customers, { query });
    const { versions } = await signedIn.ok(calls.customers, { query });
    return [customers, versions].map((list) => list.filter((one) => one.customerId === customerId));
  };
  for (const machine of ['gone', 'kept']) await validateOn(desktop, made[0], machine, {});
  await validateOn(desktop, made[1], 'elsewhere', {});
  await written(former.before + 3);
  const gone = (await machinesOf(staff, made[0])).find(({ machineId }) => machineId === 'gone');
  await deactivate(staff, gone!);
  clock.advance(1000);
  await staff.ok(licenses.transfer, { params: { id: made[0].licenseId }, body: { customerId } });
  expect(await use()).toMatchObject([[{ activeUsers: 1, activeLicenses: 1 }], [{ machines: 1 }]]);
  const later = server.api(await server.signInAs('super_admin'));
  await makeLicense(later, { customerId });
  await revoke(later, made[0]);
  const [[counted]] = (await use()) as [[unknown]];
  expect(counted).toMatchObject({ activeUsers: 1, activeLicenses: 1 });
});
