import pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { clock } from '../../../contract/clock.ts';
import { customerPage } from '../../../contract/customer-page.ts';
import type { License } from '../../../contract/licenses.ts';
import { machines } from '../../../contract/machines.ts';
import { noPolicy, policies } from '../../../contract/policies.ts';
import { releases } from '../../../contract/releases.ts';
import { updateEvents } from '../../../contract/update-events.ts';
import {
  deactivate,
  enrollOn,
  makeCustomer,
  makeLicense,
  makeRelease,
  revoke,
  softDelete,
  unique,
  validateOn,
} from '../../../tests/factories.ts';
import { changePerson, days, eventually, startTwin } from '../../../tests/harness.ts';
import { atNight, startPolicyRoom } from '../../../tests/policy-room.ts';
import { machineRow } from '../../../tests/rows.ts';
import { systemChange } from '../../change.ts';
import { checkClock } from '../../checked-time.ts';
import { withClient } from '../../db/with-client.ts';
import { machineHashOf } from '../../machine-hash.ts';

const { server, staff, key, put, putTag, impact, publish, fed, machineOn, clear } = await startPolicyRoom();
beforeEach(clear);

/** What the feed of Squirrel.Windows gives such a machine, and what when it asks again in lower case after a failure. */
async function squirrelFed(machineId: string): Promise<string[]> {
  const query = new URLSearchParams({ id: 'App', machineId, localVersion: '1.0.0' }).toString();
  const address = `/api/v1/updates/squirrel/win32/x64/RELEASES?${query}`;
  const asked = [address, address.toLowerCase()].map((path) =>
    fetch(server.url + path, { headers: key.headers }),
  );
  const lines = await Promise.all(asked.map(async (answer) => (await answer).text()));
  return lines.map((line) => /(\d+\.\d+\.\d+)-full/.exec(line)?.[1] ?? line);
}

/** The machine tells the feed that it runs 1.2.0, which is recorded. */
async function runs(machineId: string, as: Parameters<typeof fed>[0] = machineId): Promise<void> {
  await fed(as, { version: '1.2.0' });
  await eventually(async () => (await machineRow(server, machineId))?.last_version === '1.2.0');
}

async function explained(machineId: string, by = staff) {
  const id = machineHashOf(machineId);
  // a validation makes the machine known, and its update check says what it is
  const offers = await eventually(async () => {
    const all = await by.ok(machines.explain, { params: { id } });
    return !all.some(({ reason }) => reason === 'OTHER_PLATFORM') && all;
  });
  return offers.map(({ version, reason, detail }) => [version, reason, detail]);
}

describe('the policy of a customer', () => {
  test('decides about its machines, by token and by seat, and about no others', async () => {
    await publish('1.2.0', '1.3.0');
    const license = await makeLicense(staff);
    const named = await machineOn(license);
    const proven = await enrollOn(server, license, unique('machine'));
    const other = await machineOn(await makeLicense(staff));
    const decided = async () => [await fed(named), await fed(proven), await fed(other)];
    expect(await decided()).toEqual(Array(3).fill('1.3.0 OFFERED'));
    await put(license.customerId, { pin: '1.2.' });
    expect(await decided()).toEqual(['1.2.0 PINNED', '1.2.0 PINNED', '1.3.0 OFFERED']);
    await put(license.customerId, { windows: atNight });
    const outside = 'nothing OUTSIDE_WINDOW';
    expect(await decided()).toEqual([outside, outside, '1.3.0 OFFERED']);
    expect(await fed(unique('unknown machine'))).toBe('1.3.0 OFFERED');
    await put(license.customerId);
    expect(await fed(named)).toBe('1.3.0 OFFERED');
  });

  test('decides about a machine of Squirrel.Windows also when that asks again in lower case', async () => {
    for (const version of ['1.2.0', '1.3.0']) await makeRelease(server, { version, fileKind: 'nupkg' });
    const license = await makeLicense(staff);
    const machineId = unique('WARD 7');
    await validateOn(server.api(key), license, machineId);
    expect(await squirrelFed(machineId)).toEqual(['1.3.0', '1.3.0']);
    await put(license.customerId, { pin: '1.2.' });
    expect(await squirrelFed(machineId)).toEqual(['1.2.0', '1.2.0']);
    // no search finds an id of two characters
    await validateOn(server.api(key), license, 'W7');
    expect(await squirrelFed('W7')).toEqual(['1.2.0', '1.2.0']);
  });

  test('finds who asks in lower case by an index, whatever they ask for', async () => {
    const asked = vi.spyOn(pg.Client.prototype, 'query');
    await squirrelFed('DESKTOP-');
    const calls = asked.mock.calls as unknown as [unknown, unknown[]][];
    const [text, values] = calls.find(([sent]) => String(sent).includes('lower('))!;
    asked.mockRestore();
    const plan = await withClient(server.database.url, async (client) => {
      await client.query('set enable_seqscan = off');
      return client.query(`explain ${String(text)}`, values);
    });
    expect(JSON.stringify(plan.rows)).toContain('Index Cond: (lower(machine_id) = ');
  });

  test('decides about a machine whose id is in its header as UTF-8, as by Electron, or as Latin-1', async () => {
    await publish('1.2.0', '1.3.0');
    const license = await makeLicense(staff);
    const machineId = unique('Röntgen');
    await validateOn(server.api(key), license, machineId);
    const proven = await enrollOn(server, license, unique('Röntgen'));
    await put(license.customerId, { pin: '1.2.' });
    const asUtf8 = (id: string) => Buffer.from(id).toString('latin1');
    expect(await fed(machineId)).toBe('1.2.0 PINNED');
    expect(await fed(asUtf8(machineId))).toBe('1.2.0 PINNED');
    const headers = { ...proven.headers, 'x-machine-id': asUtf8(proven.machineId) };
    expect(await fed({ headers })).toBe('1.2.0 PINNED');
  });

  test('pins Squirrel.Windows also to a release that it cannot fetch, as its file is on another server', async () => {
    const elsewhere = { externalUrl: 'https://example.com/App-1.2.0-full.nupkg', sha1: null };
    await makeRelease(server, { version: '1.2.0', fileKind: 'nupkg', ...elsewhere });
    await makeRelease(server, { version: '1.3.0', fileKind: 'nupkg' });
    const license = await makeLicense(staff);
    const machineId = await machineOn(license);
    expect(await squirrelFed(machineId)).toEqual(['1.3.0', '1.3.0']);
    await put(license.customerId, { pin: '1.2.' });
    expect(await squirrelFed(machineId)).toEqual(['1.0.0', '1.0.0']);
  });

  test('is not passed by what staff who may not roll out say about a machine', async () => {
    await makeRelease(server, { version: '0.9.0' });
    await makeRelease(server, { version: '1.2.0' });
    await makeRelease(server, { version: '1.3.0', minimumSupportedVersion: '1.0.0' });
    const license = await makeLicense(staff);
    const machineId = await machineOn(license);
    await put(license.customerId, { pin: '1.2.' });
    await runs(machineId);
    const { headers } = await server.signInAs('viewer');
    await fed({ headers: { ...headers, 'x-machine-id': machineId } }, { version: '0.9.0' });
    const eventType = 'install_complete' as const;
    const event = { eventId: uuidv7(), machineId, eventType, toVersion: '0.9.0' };
    const told = await server.api({ headers }).call(updateEvents.report, { body: { events: [event] } });
    expect(told.status).toBe(403);
    // what is recorded after it
    await runs(unique('machine'));
    expect(await fed(machineId, { version: '' })).toBe('nothing PINNED');
  });

  test('is not passed by what an API key claims of a machine that took a release with its token', async () => {
    await makeRelease(server, { version: '0.9.0' });
    const pinned = await makeRelease(server, { version: '1.2.0' });
    await makeRelease(server, { version: '1.3.0', minimumSupportedVersion: '1.0.0' });
    const license = await makeLicense(staff);
    const machine = await enrollOn(server, license, unique('machine'));
    await put(license.customerId, { pin: '1.2.' });
    expect(await fed(machine)).toBe('1.2.0 PINNED');
    await fetch(server.url + new URL(pinned.fileUrl).pathname, machine);
    await runs(machine.machineId, machine);
    await fed(machine.machineId, { version: '0.9.0' });
    // what is recorded after it
    await runs(unique('machine'));
    expect(await fed(machine, { version: '' })).toBe('nothing PINNED');
  });

  test.each([
    ['becomes a draft again', { isDraft: true }],
    ['is moved to another channel', { channel: 'beta' as const }],
  ])('keeps pinned machines where they are when the release of the pin %s', async (_, body) => {
    const pinned = await makeRelease(server, { version: '1.2.0' });
    await makeRelease(server, { version: '1.3.0' });
    const license = await makeLicense(staff);
    const machine = await machineOn(license);
    await put(license.customerId, { pin: '1.2.' });
    server.clock.advance(1);
    await staff.ok(releases.update, { params: { releaseId: pinned.id }, body });
    expect(await fed(machine)).toBe('nothing PINNED');
    expect((await staff.ok(releases.impact, { params: { releaseId: pinned.id } })).pinned).toBe(1);
  });

  test('keeps pinned machines where they are when the release of the pin is put in the bin', async () => {
    const pinned = await makeRelease(server, { version: '1.2.0' });
    await makeRelease(server, { version: '1.3.0' });
    const customer = await makeCustomer(staff);
    const machine = await machineOn(await makeLicense(staff, { customerId: customer.customerId }));
    await put(customer.customerId, { pin: '1.2.' });
    expect(await fed(machine)).toBe('1.2.0 PINNED');
    await staff.ok(releases.softDelete, { params: { releaseId: pinned.id }, body: { reason: 'x' } });
    expect(await fed(machine)).toBe('nothing PINNED');
    expect(await fed(machine, { version: '1.2.0' })).toBe('nothing PINNED');
    expect(await explained(machine)).toEqual([
      ['1.3.0', 'PINNED', `The policy of ${customer.name} pins it to 1.2.; this release is outside.`],
      ['1.2.0', 'DELETED', 'It is in the recycle bin: no feed offers it.'],
    ]);
    expect((await impact(customer.customerId, { pin: '1.2.' })).pinMatches).toBe(true);
  });

  test('is explained on the page of the machine, with its name to who may read customers', async () => {
    await publish('1.2.0', '1.3.0');
    const customer = await makeCustomer(staff);
    const machine = await machineOn(await makeLicense(staff, { customerId: customer.customerId }));
    await put(customer.customerId, { pin: '1.2.', windows: atNight });
    expect(await fed(machine)).toBe('nothing PINNED');
    const saysOf = (who: string) => [
      ['1.3.0', 'PINNED', `The policy of ${who} pins it to 1.2.; this release is outside.`],
      [
        '1.2.0',
        'OUTSIDE_WINDOW',
        `The policy of ${who} allows updates every day 22:00 to 05:00 (Europe/Berlin); at 2026-11-20 09:30 UTC that is closed.`,
      ],
    ];
    expect(await explained(machine)).toEqual(saysOf(customer.name));
    const manager = server.api(await server.signInAs('license_manager'));
    await changePerson(server, (tx) =>
      tx
        .deleteFrom('role_permissions')
        .where('role_id', '=', 'license_manager')
        .where('resource', '=', 'customers')
        .execute(),
    );
    expect(await explained(machine, manager)).toEqual(saysOf('its customer'));
  });

  test('is explained as the token of a machine has it, whoever else names the machine', async () => {
    await publish('1.2.0', '1.3.0');
    const [first, second] = [await makeLicense(staff), await makeLicense(staff)];
    await put(first.customerId, { pin: '1.2.' });
    const machineId = unique('machine');
    await validateOn(server.api(key), first, machineId);
    const proven = await enrollOn(server, second, machineId);
    expect([await fed(machineId), await fed(proven)]).toEqual(['1.2.0 PINNED', '1.3.0 OFFERED']);
    const [newest] = await explained(machineId);
    expect(newest?.slice(0, 2)).toEqual(['1.3.0', 'OFFERED']);
    expect(await impact(first.customerId, { pin: '1.1.' })).toMatchObject({ machines: 0, changed: 0 });
    expect(await impact(second.customerId, { pin: '1.2.' })).toMatchObject({ machines: 1, changed: 1 });
    // a token of a revoked license still gets updates, and none where the service gives none after that
    await revoke(staff, second);
    expect([await fed(machineId), await fed(proven)]).toEqual(['1.2.0 PINNED', '1.3.0 OFFERED']);
    expect((await explained(machineId))[0]?.slice(0, 2)).toEqual(['1.3.0', 'OFFERED']);
    expect(await impact(first.customerId, { pin: '1.1.' })).toMatchObject({ machines: 0, changed: 0 });
    const strict = await startTwin(server, { config: { updatesAfterRevocation: false } });
    const strictStaff = strict.api(await server.signInAs('viewer'));
    expect((await explained(machineId, strictStaff))[0]?.slice(0, 2)).toEqual(['1.3.0', 'LICENSE_INACTIVE']);
  });

  test('is completed by those of its tags, in alphabetical order', async () => {
    await makeRelease(server, { version: '1.2.0' });
    const license = await makeLicense(staff);
    const machine = await machineOn(license);
    await putTag('b-slow', { deferDays: 30, pin: '1.' });
    await putTag('a-careful', { pin: '1.1.' });
    expect(await fed(machine)).toBe('1.2.0 OFFERED');
    await put(license.customerId, {}, ['b-slow']);
    expect(await fed(machine)).toBe('nothing DEFERRED');
    await put(license.customerId, { deferDays: 0 }, ['b-slow']);
    expect(await fed(machine)).toBe('1.2.0 OFFERED');
    await makeRelease(server, { version: '1.1.0' });
    await put(license.customerId, { deferDays: 0 }, ['b-slow', 'a-careful']);
    expect(await fed(machine)).toBe('1.1.0 PINNED');
    await put(license.customerId, { deferDays: 0, pin: '1.2.' }, ['b-slow', 'a-careful']);
    expect(await fed(machine)).toBe('1.2.0 OFFERED');
  });

  test('is lifted by no other customer whose machine has the same name, named or enrolled', async () => {
    await publish('1.2.0', '1.3.0');
    const [first, second] = [await makeLicense(staff), await makeLicense(staff)];
    await put(first.customerId, { pin: '1.2.' });
    const machineId = unique('machine');
    const { activation } = await validateOn(server.api(key), first, machineId);
    expect(await fed(machineId)).toBe('1.2.0 PINNED');
    server.clock.advance(60_000);
    await validateOn(server.api(key), second, machineId);
    expect(await fed(machineId)).toBe('1.2.0 PINNED');
    expect(await fed(await enrollOn(server, second, machineId))).toBe('1.3.0 OFFERED');
    expect(await fed(machineId)).toBe('1.2.0 PINNED');
    // nor by many
    for (let n = 0; n < 21; n++) await validateOn(server.api(key), await makeLicense(staff), machineId);
    expect(await fed(machineId)).toBe('1.2.0 PINNED');
    await deactivate(staff, activation!);
    expect(await fed(machineId)).toBe('1.3.0 OFFERED');
  });

  test('of a license that the machine validated last decides, unless a token proves another', async () => {
    await makeRelease(server, { version: '1.2.0' });
    const [first, second] = [await makeLicense(staff), await makeLicense(staff)];
    await put(first.customerId, { windows: atNight });
    await put(second.customerId, { windows: [] });
    const machineId = unique('machine');
    const validate = async (license: License) => {
      server.clock.advance(60_000);
      await validateOn(server.api(key), license, machineId);
    };
    await validate(first);
    await validate(second);
    await eventually(async () => expect(await fed(machineId)).toBe('1.2.0 OFFERED'));
    await validate(first);
    await eventually(async () => expect(await fed(machineId)).toBe('nothing OUTSIDE_WINDOW'));
    const proven = [
      await enrollOn(server, first, machineId),
      await enrollOn(server, second, machineId),
    ] as const;
    expect(await fed(proven[0])).toBe('nothing OUTSIDE_WINDOW');
    expect(await fed(proven[1])).toBe('1.2.0 OFFERED');
  });

  test('decides about a machine with a record of its own, whose id another customer has enrolled', async () => {
    await publish('1.2.0', '1.3.0');
    const [first, second] = [await makeLicense(staff), await makeLicense(staff)];
    const machineId = unique('image');
    const usual = await enrollOn(server, first, machineId);
    const own = await enrollOn(server, second, machineId);
    await put(second.customerId, { pin: '1.2.' });
    expect([await fed(usual), await fed(own)]).toEqual(['1.3.0 OFFERED', '1.2.0 PINNED']);
    // the record under the machine id is that of the first customer alone
    expect(await fed(machineId)).toBe('1.3.0 OFFERED');
  });

  test('is not named to an API key that asks for a proven machine', async () => {
    await publish('1.2.0', '1.3.0');
    const license = await makeLicense(staff);
    const { machineId, headers } = await enrollOn(server, license, unique('machine'));
    await put(license.customerId, { pin: '1.2.' });
    expect(await fed({ headers })).toBe('1.2.0 PINNED');
    expect(await fed(machineId)).toBe('1.2.0 POLICY');
    await put(license.customerId, { windows: atNight });
    expect(await fed(machineId)).toBe('nothing POLICY');
    await put(license.customerId);
    expect(await fed(machineId)).toBe('1.3.0 OFFERED');
  });

  test('reaches other processes', async () => {
    await makeRelease(server, { version: '1.2.0' });
    const twin = await startTwin(server);
    const license = await makeLicense(staff);
    const machine = await machineOn(license);
    expect(await fed(machine, { of: twin })).toBe('1.2.0 OFFERED');
    await put(license.customerId, { windows: atNight });
    await eventually(async () => expect(await fed(machine, { of: twin })).toBe('nothing OUTSIDE_WINDOW'));
  });

  test('a download that was offered goes on after its window has closed', async () => {
    const release = await makeRelease(server, { version: '1.2.0', bytes: 'a program' });
    const license = await makeLicense(staff);
    const machine = await enrollOn(server, license, unique('machine'));
    await put(license.customerId, { windows: atNight });
    expect(await fed(machine)).toBe('nothing OUTSIDE_WINDOW');
    const headers = { ...machine.headers, range: 'bytes=2-' };
    const answer = await fetch(server.url + new URL(release.fileUrl).pathname, { headers });
    expect([answer.status, await answer.text()]).toEqual([206, 'program']);
  });
});

test('without updates after revocation a revoked license gets none, and the page says so', async () => {
  await makeRelease(server, { version: '1.2.0' });
  const strict = await startTwin(server, { config: { updatesAfterRevocation: false } });
  const license = await makeLicense(staff);
  const machine = await machineOn(license);
  expect(await fed(machine, { of: strict })).toBe('1.2.0 OFFERED');
  await revoke(staff, license);
  await eventually(async () => expect(await fed(machine, { of: strict })).toBe('nothing LICENSE_INACTIVE'));
  expect(await fed(machine)).toBe('1.2.0 OFFERED');
  const strictStaff = strict.api(await server.signInAs('viewer'));
  await eventually(async () => {
    const [offer] = await strictStaff.ok(machines.explain, { params: { id: machineHashOf(machine) } });
    expect(offer).toMatchObject({ offered: false, reason: 'LICENSE_INACTIVE' });
  });
});

test('a token whose customer is deleted gets no updates, and the page says so', async () => {
  await makeRelease(server, { version: '1.2.0' });
  const license = await makeLicense(staff);
  const machine = await enrollOn(server, license, unique('machine'));
  expect(await fed(machine)).toBe('1.2.0 OFFERED');
  const reason = async () => (await explained(machine.machineId))[0]?.[1];
  expect(await reason()).toBe('OFFERED');
  await softDelete(staff, license);
  expect(await fed(machine)).toMatch(/^401/);
  expect(await reason()).toBe('LICENSE_INACTIVE');
});

test('a deferral ends by the clock, not by one that is days ahead of the database until a person confirms it', async () => {
  await makeRelease(server, { version: '1.2.0' });
  const deferring = async (deferDays: number) => {
    const license = await makeLicense(staff);
    await put(license.customerId, { deferDays });
    return Object.assign(license, { machine: await machineOn(license) });
  };
  const [{ machine }, { customerId, machine: patient }] = [await deferring(2), await deferring(30)];
  server.clock.advance(days(2) - 1);
  expect(await fed(machine)).toBe('nothing DEFERRED');
  server.clock.advance(1);
  expect(await fed(machine)).toBe('1.2.0 OFFERED');
  await systemChange(server.context, server.clock.now(), async ({ tx, now, announce }) => {
    await checkClock(tx, now);
    await announce('policies');
  });
  server.clock.advance(days(30));
  expect(await fed(patient)).toBe('nothing DEFERRED');
  const admin = server.api(await server.signInAs('super_admin'));
  // the screens of staff say what the feed does
  const offered = async () => {
    const page = await admin.ok(customerPage.overview, { params: { id: customerId } });
    return page.releases?.flatMap((of) => of.offered.map(({ version }) => version));
  };
  expect(await offered()).toEqual([]);
  const sooner = { params: { id: customerId }, body: { ...noPolicy, tags: [] } };
  // the machine is written after the answer
  await eventually(async () => (await admin.ok(policies.impactOnCustomer, sooner)).changed === 1);
  await admin.ok(clock.confirm, { body: { now: server.clock.now().toISOString() } });
  expect(await offered()).toEqual(['1.2.0']);
  expect(await fed(patient)).toBe('1.2.0 OFFERED');
});
