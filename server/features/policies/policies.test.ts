import { beforeEach, describe, expect, test } from 'vitest';
import { audit } from '../../../contract/audit.ts';
import { customers } from '../../../contract/customers.ts';
import { noPolicy, policies as calls } from '../../../contract/policies.ts';
import { releases } from '../../../contract/releases.ts';
import {
  enrollOn,
  makeCustomer,
  makeLicense,
  makeRelease,
  softDelete,
  unique,
  validateOn,
} from '../../../tests/factories.ts';
import { auditOf, eventually } from '../../../tests/harness.ts';
import { atNight, startPolicyRoom } from '../../../tests/policy-room.ts';
import { machineRow } from '../../../tests/rows.ts';

const { server, staff, key, put, putTag, impact, publish, fed, machineOn, clear } = await startPolicyRoom();
beforeEach(clear);

const get = (customerId: string) => staff.ok(calls.getOfCustomer, { params: { id: customerId } });

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

describe('before saving, the impact', () => {
  test('counts the machines that would be offered something else', async () => {
    await publish('1.2.0', '1.3.0');
    const license = await makeLicense(staff);
    const mine = [await machineOn(license), await machineOn(license)];
    const other = await machineOn(await makeLicense(staff));
    for (const machine of [...mine, other]) await fed(machine);
    await fed(mine[0]!, { version: '1.3.0' });
    await eventually(async () => (await machineRow(server, mine[0]!))?.last_version === '1.3.0');
    const { customerId } = license;
    const all = { machines: 2, isComplete: true, pinMatches: null, changed: 0, held: 0, unpinned: 0 };
    expect(await impact(customerId, {})).toEqual(all);
    expect(await impact(customerId, { pin: '1.2.' })).toEqual({ ...all, pinMatches: true, changed: 1 });
    expect(await impact(customerId, { windows: atNight })).toEqual({ ...all, changed: 1, held: 1 });
    expect(await impact(customerId, { pin: '9.' })).toEqual({ ...all, pinMatches: false, unpinned: 2 });
    // one of them runs 1.0.0, which is no release any more
    expect(await impact(customerId, { pin: '1.0.' })).toMatchObject({ changed: 1, held: 1, unpinned: 1 });
    await makeRelease(server, { version: '1.1.5', platform: 'darwin', fileKind: 'zip' });
    const elsewhere = { pinMatches: true, changed: 0, unpinned: 2 };
    expect(await impact(customerId, { pin: '1.1.' })).toMatchObject(elsewhere);
    const slow = { body: { ...noPolicy, tag: 'slow', deferDays: 5 } };
    expect(await staff.ok(calls.impactOnTag, slow)).toMatchObject({ machines: 0, changed: 0 });
    await put(license.customerId, {}, ['slow']);
    expect(await staff.ok(calls.impactOnTag, slow)).toMatchObject({ machines: 2, changed: 1, held: 1 });
    expect(await staff.ok(calls.listTags)).toMatchObject([{ tag: 'slow', customers: 1, deferDays: null }]);
    expect(await fed(mine[1]!)).toBe('1.3.0 OFFERED');
  });

  test('counts a machine with a record of its own for its customer, not for that of its machine id', async () => {
    await publish('1.2.0', '1.3.0');
    const [first, second] = [await makeLicense(staff), await makeLicense(staff)];
    const machineId = unique('image');
    for (const license of [first, second]) await fed(await enrollOn(server, license, machineId));
    for (const { customerId } of [first, second])
      await eventually(async () =>
        expect(await impact(customerId, { pin: '1.2.' })).toMatchObject({ machines: 1, changed: 1 }),
      );
  });
});

describe('of a machine with seats of two customers, the impact', () => {
  test('is that on the customer whose policy it follows', async () => {
    await publish('1.2.0', '1.3.0');
    const [first, latest] = [await makeLicense(staff), await makeLicense(staff)];
    const machine = await machineOn(first);
    await validateOn(server.api(key), latest, machine);
    await fed(machine);
    await eventually(async () => (await machineRow(server, machine))?.last_version === '1.0.0');
    const one = { machines: 1, changed: 1 };
    const pin = { pin: '1.2.' };
    expect(await impact(latest.customerId, pin)).toMatchObject(one);
    expect(await impact(first.customerId, pin)).toMatchObject(one);
    await put(first.customerId, pin);
    expect(await fed(machine)).toBe('1.2.0 PINNED');
    expect(await impact(first.customerId, {})).toMatchObject(one);
    expect(await impact(latest.customerId, {})).toMatchObject({ machines: 0 });
    expect(await impact(latest.customerId, { pin: '1.3.' })).toMatchObject(one);
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
    ['updatesUntil', '0000-01-01'],
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
});
