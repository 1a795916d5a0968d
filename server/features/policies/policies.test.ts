import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { audit } from '../../../contract/audit.ts';
import { customers } from '../../../contract/customers.ts';
import type { License } from '../../../contract/licenses.ts';
import { machines } from '../../../contract/machines.ts';
import { releases } from '../../../contract/releases.ts';
import { updateEvents } from '../../../contract/update-events.ts';
import { noPolicy, policies as calls, weekdays, type UpdatePolicy } from '../../../contract/policies.ts';
import {
  deactivate,
  enrollOn,
  makeApiKey,
  makeCustomer,
  makeLicense,
  makeRelease,
  revoke,
  softDelete,
  unique,
  validateOn,
} from '../../../tests/factories.ts';
import {
  changePerson,
  days,
  eventually,
  startTestServer,
  startTwin,
  type TestServer,
  auditOf,
} from '../../../tests/harness.ts';
import { machineRow } from '../../../tests/rows.ts';
import { systemChange } from '../../change.ts';
import { machineHashOf } from '../../machine-hash.ts';

// the clock stands at 09:30 UTC, 10:30 in Berlin
const server = await startTestServer();
const staff = server.api(await server.signInAs('super_admin'));
const key = await makeApiKey(staff, { scopes: ['updates', 'validate'] });
afterAll(() => server.close());

beforeEach(async () => {
  await systemChange(server.context, server.clock.now(), async ({ tx, announce }) => {
    await tx.deleteFrom('releases').execute();
    await tx.deleteFrom('update_policies').execute();
    await tx.deleteFrom('customer_tags').execute();
    await announce('releases');
    await announce('policies');
  });
});

const atNight = [{ zone: 'Europe/Berlin', weekdays: [...weekdays], from: '22:00', to: '05:00' }];

const put = (customerId: string, policy: Partial<UpdatePolicy> = {}, tags: string[] = []) =>
  staff.ok(calls.putOfCustomer, { params: { id: customerId }, body: { ...noPolicy, ...policy, tags } });
const putTag = (tag: string, policy: Partial<UpdatePolicy>) =>
  staff.ok(calls.putOfTag, { params: { tag }, body: { ...noPolicy, ...policy } });
const get = (customerId: string) => staff.ok(calls.getOfCustomer, { params: { id: customerId } });

const feed = '/api/v1/updates/electron/win32/x64/latest.yml';
/** `1.2.0 OFFERED`: what the feed of electron-updater gives a machine on 1.0.0. */
async function fed(
  machine: { headers: Record<string, string> } | string,
  { of = server, version = '1.0.0' }: { of?: Pick<TestServer, 'url'>; version?: string } = {},
) {
  const headers = typeof machine === 'string' ? { ...key.headers, 'x-machine-id': machine } : machine.headers;
  const answer = await fetch(of.url + feed, { headers: { ...headers, 'x-app-version': version } });
  const text = await answer.text();
  const offered = text.includes('url:') ? /version: "(.+)"/.exec(text)?.[1] : 'nothing';
  return `${answer.status === 200 ? offered : answer.status} ${answer.headers.get('x-update-reason')}`;
}

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

/** A machine with a seat on a license; known by its id. */
async function machineOn(license: License): Promise<string> {
  const machineId = unique('machine');
  await validateOn(server.api(key), license, machineId);
  return machineId;
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

test('deleting a release counts the customers whose pin nothing else would match', async () => {
  const release = await makeRelease(server, { version: '4.2.1' });
  const draft = await makeRelease(server, { version: '4.2.9', isDraft: true });
  const pins = ['4.', '4.2.', '4.2.1', '4.2.9', '5.', null];
  const made = await Promise.all(pins.map(() => makeCustomer(staff)));
  for (const [index, { customerId }] of made.entries()) await put(customerId, { pin: pins[index]! });
  const pinned = async ({ id }: { id: string }) =>
    (await staff.ok(releases.impact, { params: { releaseId: id } })).pinned;
  expect([await pinned(release), await pinned(draft)]).toEqual([3, 0]);
  await makeRelease(server, { version: '4.2.2', platform: 'darwin' });
  expect(await pinned(release)).toBe(3);
  const older = await makeRelease(server, { version: '4.1.0' });
  await makeRelease(server, { version: '4.2.0', channel: 'beta' });
  await staff.ok(releases.softDelete, { params: { releaseId: release.id }, body: { reason: 'x' } });
  expect([await pinned(release), await pinned(older)]).toEqual([1, 0]);
});

describe('the policy of a customer', () => {
  test('decides about its machines, by token and by seat, and about no others', async () => {
    for (const version of ['1.2.0', '1.3.0']) await makeRelease(server, { version });
    const license = await makeLicense(staff);
    const named = await machineOn(license);
    const proven = await enrollOn(server, license, unique('machine'));
    const other = await machineOn(await makeLicense(staff));
    expect([await fed(named), await fed(proven), await fed(other)]).toEqual(Array(3).fill('1.3.0 OFFERED'));
    await put(license.customerId, { pin: '1.2.' });
    expect([await fed(named), await fed(proven), await fed(other)]).toEqual([
      '1.2.0 PINNED',
      '1.2.0 PINNED',
      '1.3.0 OFFERED',
    ]);
    await put(license.customerId, { windows: atNight });
    expect([await fed(named), await fed(proven), await fed(other)]).toEqual([
      'nothing OUTSIDE_WINDOW',
      'nothing OUTSIDE_WINDOW',
      '1.3.0 OFFERED',
    ]);
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
  });

  test('decides about a machine whose id is in its header as UTF-8, as by Electron, or as Latin-1', async () => {
    for (const version of ['1.2.0', '1.3.0']) await makeRelease(server, { version });
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
    const event = {
      eventId: uuidv7(),
      machineId,
      eventType: 'install_complete',
      toVersion: '0.9.0',
    } as const;
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
    const policy = { ...noPolicy, pin: '1.2.', tags: [] };
    const impact = { params: { id: customer.customerId }, body: policy };
    expect((await staff.ok(calls.impactOnCustomer, impact)).pinMatches).toBe(true);
  });

  test('is explained on the page of the machine', async () => {
    for (const version of ['1.2.0', '1.3.0']) await makeRelease(server, { version });
    const customer = await makeCustomer(staff);
    const machine = await machineOn(await makeLicense(staff, { customerId: customer.customerId }));
    await put(customer.customerId, { pin: '1.2.', windows: atNight });
    expect(await fed(machine)).toBe('nothing PINNED');
    expect(await explained(machine)).toEqual([
      ['1.3.0', 'PINNED', `The policy of ${customer.name} pins it to 1.2.; this release is outside.`],
      [
        '1.2.0',
        'OUTSIDE_WINDOW',
        `The policy of ${customer.name} allows updates every day 22:00 to 05:00 (Europe/Berlin); at 2026-11-20 09:30 UTC that is closed.`,
      ],
    ]);
  });

  test('is explained without a name to who may read neither customers nor policies', async () => {
    for (const version of ['1.2.0', '1.3.0']) await makeRelease(server, { version });
    const license = await makeLicense(staff);
    const machine = await machineOn(license);
    await put(license.customerId, { pin: '1.2.' });
    await fed(machine);
    const manager = server.api(await server.signInAs('license_manager'));
    await changePerson(server, (tx) =>
      tx
        .deleteFrom('role_permissions')
        .where('role_id', '=', 'license_manager')
        .where('resource', '=', 'customers')
        .execute(),
    );
    expect((await explained(machine, manager))[0]).toEqual([
      '1.3.0',
      'PINNED',
      'The policy of its customer pins it to 1.2.; this release is outside.',
    ]);
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
    for (const version of ['1.2.0', '1.3.0']) await makeRelease(server, { version });
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
    for (const version of ['1.2.0', '1.3.0']) await makeRelease(server, { version });
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
    for (const version of ['1.2.0', '1.3.0']) await makeRelease(server, { version });
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
    await twin.close();
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
  await strict.close();
});

describe('before saving, the impact', () => {
  test('counts the machines that would be offered something else', async () => {
    for (const version of ['1.2.0', '1.3.0']) await makeRelease(server, { version });
    const license = await makeLicense(staff);
    const mine = [await machineOn(license), await machineOn(license)];
    const other = await machineOn(await makeLicense(staff));
    for (const machine of [...mine, other]) await fed(machine);
    await fed(mine[0]!, { version: '1.3.0' });
    await eventually(async () => {
      const { rows } = await server.context.pool.query<{ last_version: string }>(
        `select last_version from machines where machine_hash = any($1) order by last_version`,
        [mine.map((id) => Buffer.from(machineHashOf(id), 'hex'))],
      );
      expect(rows.map((row) => row.last_version)).toEqual(['1.0.0', '1.3.0']);
    });
    const impact = (policy: Partial<UpdatePolicy>, tags: string[] = []) =>
      staff.ok(calls.impactOnCustomer, {
        params: { id: license.customerId },
        body: { ...noPolicy, ...policy, tags },
      });
    const all = { machines: 2, isComplete: true, pinMatches: null };
    expect(await impact({})).toEqual({ ...all, changed: 0, held: 0 });
    expect(await impact({ pin: '1.2.' })).toEqual({ ...all, pinMatches: true, changed: 1, held: 0 });
    expect(await impact({ windows: atNight })).toEqual({ ...all, changed: 1, held: 1 });
    expect(await impact({ pin: '9.' })).toEqual({ ...all, pinMatches: false, changed: 0, held: 0 });
    const slow = { body: { ...noPolicy, tag: 'slow', deferDays: 5 } };
    expect(await staff.ok(calls.impactOnTag, slow)).toMatchObject({ machines: 0, changed: 0 });
    await put(license.customerId, {}, ['slow']);
    expect(await staff.ok(calls.impactOnTag, slow)).toMatchObject({ machines: 2, changed: 1, held: 1 });
    expect(await staff.ok(calls.listTags)).toMatchObject([{ tag: 'slow', customers: 1, deferDays: null }]);
    expect(await fed(mine[1]!)).toBe('1.3.0 OFFERED');
  });

  test('counts a machine with a record of its own for its customer, not for that of its machine id', async () => {
    for (const version of ['1.2.0', '1.3.0']) await makeRelease(server, { version });
    const [first, second] = [await makeLicense(staff), await makeLicense(staff)];
    const machineId = unique('image');
    for (const license of [first, second]) await fed(await enrollOn(server, license, machineId));
    for (const { customerId } of [first, second])
      await eventually(async () =>
        expect(
          await staff.ok(calls.impactOnCustomer, {
            params: { id: customerId },
            body: { ...noPolicy, pin: '1.2.', tags: [] },
          }),
        ).toMatchObject({ machines: 1, changed: 1 }),
      );
  });
});

describe('the list of tags', () => {
  test('counts customers and machines, is searched and paged, and is open to who rolls out', async () => {
    const [first, second, left] = [
      await makeLicense(staff),
      await makeLicense(staff),
      await makeLicense(staff),
    ];
    for (const license of [first, second, left]) await validateOn(staff, license, unique('machine'));
    await validateOn(staff, first, unique('machine'));
    await put(first.customerId, {}, ['clinics', 'slow']);
    await put(second.customerId, {}, ['clinics']);
    await put(left.customerId, {}, ['clinics', 'gone']);
    await softDelete(staff, left);
    await putTag('slow', { deferDays: 7 });
    await putTag('nobody yet'.replaceAll(' ', '-'), { pin: '4.' });
    const manager = server.api(await server.signInAs('binary_manager'));
    const list = async (query = {}) => (await manager.call(calls.listTags, { query })).body;
    expect(await list()).toMatchObject({
      data: [
        { tag: 'clinics', customers: 2, machines: 3, deferDays: null },
        { tag: 'nobody-yet', customers: 0, machines: 0, pin: '4.' },
        { tag: 'slow', customers: 1, machines: 2, deferDays: 7 },
      ],
      meta: { total: 3 },
    });
    const page = await list({ search: 'L', limit: '1', offset: '1' });
    expect([page.data.map(({ tag }) => tag), page.meta]).toEqual([
      ['slow'],
      { total: 2, limit: 1, offset: 1 },
    ]);
  });
});

describe('setting a policy', () => {
  test('is recorded with what changed; setting it again is not', async () => {
    const { customerId, name } = await makeCustomer(staff);
    await put(customerId, { pin: '1.2.', deferDays: 7 }, ['slow', 'Clinics', 'slow']);
    await put(customerId, { pin: '1.2.', deferDays: 7 }, ['clinics', 'slow']);
    expect(await get(customerId)).toMatchObject({ tags: ['clinics', 'slow'], pin: '1.2.', deferDays: 7 });
    await putTag('slow', { windows: [{ ...atNight[0]!, weekdays: ['sat', 'sun'] }] });
    const { entries } = await staff.ok(audit.list, { query: { limit: '2' } });
    expect(entries.map((entry) => [entry.event_type, entry.resource_id, entry.changes_summary])).toEqual([
      [
        'tag.policy_changed',
        'slow',
        'Tag slow: update policy windows: – → (to 05:00; from 22:00; zone Europe/Berlin; weekdays sat, sun)',
      ],
      [
        'customer.policy_changed',
        customerId,
        `${name}: update policy tags: none → clinics, slow; pin: – → 1.2.; deferDays: – → 7`,
      ],
    ]);
  });

  test('is in the history of its customer, however the id was written', async () => {
    const { customerId, name } = await makeCustomer(staff);
    const answer = await put(customerId.toUpperCase(), { deferDays: 1 });
    expect(answer.customerId).toBe(customerId);
    const entries = await auditOf(server, customerId);
    expect(entries.map(({ changes_summary }) => changes_summary)).toContainEqual(
      expect.stringContaining(`${name}: `),
    );
    expect(entries.map(({ event_type }) => event_type)).toContain('customer.policy_changed');
  });

  test('names a lost update, also of a tag that had no policy', async () => {
    const { customerId } = await makeCustomer(staff);
    const seen = (await get(customerId)).updatedAt;
    await put(customerId, { deferDays: 1 });
    const stale = await staff.call(calls.putOfCustomer, {
      params: { id: customerId },
      body: { ...noPolicy, deferDays: 2, tags: [], updatedAt: seen },
    });
    expect([stale.status, stale.body.code, stale.body.details[0]]).toEqual([
      409,
      'EDIT_CONFLICT',
      { path: 'deferDays', message: 'Was changed by someone else', current: 1, yours: 2 },
    ]);
    const both = await Promise.all(
      [1, 2].map((deferDays) =>
        staff.call(calls.putOfTag, {
          params: { tag: 'contested' },
          body: { ...noPolicy, deferDays, updatedAt: new Date(0).toISOString() },
        }),
      ),
    );
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 409]);
  });

  test.each([
    ['pin', '4'],
    ['pin', '04.'],
    ['pin', '4.2.1.'],
    ['deferDays', -1],
    ['deferDays', 1.5],
    ['windows', [{ ...atNight[0], zone: 'Mars/Olympus' }]],
    ['windows', [{ ...atNight[0], zone: '+01:00' }]],
    ['windows', [{ ...atNight[0], weekdays: [] }]],
    ['windows', [{ ...atNight[0], to: '24:00' }]],
    ['updatesUntil', '2026-02-30'],
    ['tags', ['two words']],
  ])('refuses %s %j', async (field, value) => {
    const { customerId } = await makeCustomer(staff);
    const answer = await staff.call(calls.putOfCustomer, {
      params: { id: customerId },
      body: { ...noPolicy, tags: [], [field]: value },
    });
    expect([answer.status, answer.body.details[0]?.path.split('.')[0]]).toEqual([400, field]);
  });

  test('of a soft-deleted customer is refused; what is deleted for good leaves nothing behind', async () => {
    const customer = await makeCustomer(staff);
    await put(customer.customerId, { deferDays: 3 }, ['gone']);
    await softDelete(staff, customer);
    const body = { ...noPolicy, tags: [] };
    const refused = await staff.call(calls.putOfCustomer, { params: { id: customer.customerId }, body });
    expect([refused.status, refused.body.code]).toEqual([409, 'WRONG_STATE']);
    await staff.ok(customers.hardDelete, { params: { id: customer.customerId } });
    const missing = await staff.call(calls.putOfCustomer, { params: { id: customer.customerId }, body });
    expect(missing.status).toBe(404);
    expect(await staff.ok(calls.listTags)).toEqual([]);
  });

  test('needs the permission to roll out; whoever may read customers may read it', async () => {
    const { customerId } = await makeCustomer(staff);
    const support = server.api(await server.signInAs('support_agent'));
    expect(await support.ok(calls.getOfCustomer, { params: { id: customerId } })).toMatchObject(noPolicy);
    const refused = await support.call(calls.putOfCustomer, {
      params: { id: customerId },
      body: { ...noPolicy, tags: [] },
    });
    expect([refused.status, refused.body.code]).toEqual([403, 'FORBIDDEN']);
  });
});

test('a deferral ends by the clock alone', async () => {
  await makeRelease(server, { version: '1.2.0' });
  const license = await makeLicense(staff);
  const machine = await machineOn(license);
  await put(license.customerId, { deferDays: 2 });
  server.clock.advance(days(2) - 1);
  expect(await fed(machine)).toBe('nothing DEFERRED');
  server.clock.advance(1);
  expect(await fed(machine)).toBe('1.2.0 OFFERED');
});
