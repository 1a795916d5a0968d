import { describe, expect, test } from 'vitest';
import { audit } from '../../../contract/audit.ts';
import { customerExport, customerPage as calls } from '../../../contract/customer-page.ts';
import { customers } from '../../../contract/customers.ts';
import { licenses, type License } from '../../../contract/licenses.ts';
import { noPolicy, policies } from '../../../contract/policies.ts';
import { releases as releaseCalls } from '../../../contract/releases.ts';
import { rollouts } from '../../../contract/rollouts.ts';
import {
  askFeed,
  deactivate,
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
import {
  addressOf,
  days,
  eventually,
  minutes,
  seconds,
  startTestServer,
  type Api,
} from '../../../tests/harness.ts';
import { validationsOf } from '../../../tests/rows.ts';
import { updates } from '../../../contract/updates.ts';
import type { Permission } from '../../../contract/permissions.ts';

const server = await startTestServer();
const session = await server.signInAs('super_admin');
const admin = server.api(session);
const key = await makeApiKey(admin, { scopes: ['updates', 'validate'] });
const desktop = server.api(key);

const nobody = '01920000-0000-7000-8000-000000000000';
const at = (customerId: string) => ({ params: { id: customerId } });
const overview = (customerId: string, as: Api = admin) => as.ok(calls.overview, at(customerId));
const machinesOf = (customerId: string, query: { search?: string; limit?: string; offset?: string } = {}) =>
  admin.call(calls.machines, { ...at(customerId), query });
const timeline = (customerId: string, query: { limit: string; after?: string }) =>
  admin.ok(calls.timeline, { ...at(customerId), query });
const whats = async (customerId: string) =>
  (await timeline(customerId, { limit: '200' })).entries.map(({ what }) => what);
const exported = async (customerId: string, as: Api = admin) => {
  const answer = await as.call(calls.export, at(customerId));
  expect(answer.status, answer.text).toBe(200);
  return answer;
};
const transfer = (license: License, customerId: string) =>
  admin.ok(licenses.transfer, { params: { id: license.licenseId }, body: { customerId } });
const moment = () => server.clock.advance(seconds(5));

const reads = (resource: Permission['resource']): Permission => ({ resource, action: 'read' });

describe('the overview', () => {
  test('has the seats of the licenses in their term, and the machines that hold one', async () => {
    const { customerId, name } = await makeCustomer(admin, { contactName: 'Ada', email: 'ada@x.example' });
    const [one, two] = [
      await makeLicense(admin, { customerId, maxActivations: 4 }),
      await makeLicense(admin, { customerId, maxActivations: 6 }),
    ];
    const revoked = await makeLicense(admin, { customerId, maxActivations: 50 });
    await makeLicense(admin, {
      customerId,
      maxActivations: 70,
      validUntil: '2026-11-01T00:00:00Z',
    });
    // not valid yet
    await makeLicense(admin, { customerId, maxActivations: 90, validFrom: '2027-01-01T00:00:00Z' });
    for (const [license, machine] of [
      [one, 'a'],
      [two, 'a'],
      [two, 'b'],
      [revoked, 'c'],
    ] as const)
      await validateOn(desktop, license, `${machine} ${customerId}`);
    await revoke(admin, revoked);
    expect(await overview(customerId)).toMatchObject({
      customer: { customerId, name, contactName: 'Ada', email: 'ada@x.example', deletedAt: null },
      tags: [],
      policy: [],
      seats: { licenses: 2, used: 3, max: 10, nextEnd: '2036-01-01T00:00:00.000Z' },
      machines: 3,
      refused: { total: 0, groups: 0, latest: [] },
    });
  });

  test('groups the validations that were refused in 30 days by reason and machine', async () => {
    const { customerId } = await makeCustomer(admin);
    const license = await makeLicense(admin, { customerId, maxActivations: 1 });
    const other = await makeLicense(admin);
    await revoke(admin, other);
    await validateOn(desktop, license, 'first', { hostname: 'ONC-WS-08' });
    await validateOn(desktop, license, 'too-many');
    server.clock.advance(minutes(5));
    await validateOn(desktop, license, 'too-many');
    await validateOn(desktop, other, 'elsewhere');
    server.clock.advance(minutes(5));
    await revoke(admin, license);
    await validateOn(desktop, license, 'first');
    const { refused } = await eventually(async () => {
      const found = await overview(customerId);
      return found.refused?.total === 3 && found;
    });
    expect(refused).toMatchObject({ total: 3, groups: 2 });
    expect(refused!.latest).toMatchObject([
      {
        code: 'REVOKED',
        machineId: 'first',
        hostname: 'ONC-WS-08',
        licenseKey: license.licenseKey,
        times: 1,
      },
      { code: 'TOO_MANY_ACTIVATIONS', machineId: 'too-many', hostname: null, times: 2 },
    ]);
    const [, many] = refused!.latest;
    expect(Date.parse(many!.last) - Date.parse(many!.first)).toBe(minutes(5));
    server.clock.advance(days(31));
    const later = server.api(await server.signInAs('super_admin'));
    expect((await overview(customerId, later)).refused).toEqual({ total: 0, groups: 0, latest: [] });
    server.clock.advance(-days(31));
  });

  test('leaves out what a clock that was ahead refused as expired', async () => {
    const license = await makeLicense(admin, { validUntil: '2027-06-01T00:00:00Z' });
    const right = server.clock.now();
    server.clock.set('2027-06-02T00:00:00Z');
    await validateOn(desktop, license, 'expired ahead');
    await eventually(async () => expect(await validationsOf(server, 'expired ahead')).toHaveLength(1));
    server.clock.set(right);
    expect((await overview(license.customerId)).refused).toMatchObject({ total: 0, latest: [] });
  });

  test('links what was refused to the machine of this customer, not to one with the same id elsewhere', async () => {
    const [elsewhere, here] = [await makeLicense(admin), await makeLicense(admin)];
    for (const license of [elsewhere, here]) await enrollOn(server, license, 'twin');
    await revoke(admin, here);
    await validateOn(desktop, here, 'twin');
    const { refused } = await eventually(async () => {
      const found = await overview(here.customerId);
      return found.refused?.total === 1 && found;
    });
    const [own] = (await machinesOf(here.customerId)).body.data;
    const [other] = (await machinesOf(elsewhere.customerId)).body.data;
    expect(own!.displayId).not.toBe(other!.displayId);
    expect(refused!.latest[0]!.displayId).toBe(own!.displayId);
  });

  test('says what its policy decides, and which releases that leaves', async () => {
    const { customerId, name } = await makeCustomer(admin);
    await makeRelease(server, { version: '4.2.1' });
    await makeRelease(server, { version: '4.3.0', rolloutPercentage: 20 });
    const newest = await makeRelease(server, { version: '5.0.0' });
    const windows = async () =>
      (await overview(customerId)).releases!.find(({ platform }) => platform === 'win32')!;
    expect(await windows()).toMatchObject({
      channel: 'stable',
      offered: [{ id: newest.id, version: '5.0.0', rolloutPercentage: 100 }],
      heldBack: [],
    });
    await admin.ok(policies.putOfTag, { params: { tag: 'slow' }, body: { ...noPolicy, deferDays: 0 } });
    await admin.ok(policies.putOfCustomer, {
      ...at(customerId),
      body: { ...noPolicy, pin: '4.', tags: ['slow'] },
    });
    const found = await overview(customerId);
    expect(found.tags).toEqual(['slow']);
    expect(found.policy).toEqual([
      `The policy of ${name} pins its machines to 4.`,
      'The policy of the tag slow does not defer releases.',
    ]);
    expect(await windows()).toMatchObject({
      offered: [
        { version: '4.3.0', rolloutPercentage: 20 },
        { version: '4.2.1', rolloutPercentage: 100 },
      ],
      heldBack: [{ version: '5.0.0', why: `The policy of ${name} pins it to 4.; this release is outside.` }],
    });
  });

  test('names of several rollouts only the newest, as outside of it machines get what is fully out', async () => {
    const { customerId } = await makeCustomer(admin);
    const line = { platform: 'linux', architecture: 'arm64', fileKind: 'appimage' } as const;
    await makeRelease(server, { ...line, version: '4.9.0' });
    await makeRelease(server, { ...line, version: '5.0.0', rolloutPercentage: 50 });
    const newest = { ...line, version: '5.1.0', rolloutPercentage: 20, fileName: 'App.AppImage' };
    const { id } = await makeRelease(server, { ...newest, minimumAppVersion: '4.0.0' });
    const offered = async () =>
      (await overview(customerId))
        .releases!.find((one) => one.platform === 'linux')!
        .offered.map(({ version }) => version);
    // machines below its minimum are outside of no rollout of it
    expect(await offered()).toEqual(['5.1.0', '5.0.0', '4.9.0']);
    await admin.ok(releaseCalls.update, { params: { releaseId: id }, body: { minimumAppVersion: '' } });
    expect(await offered()).toEqual(['5.1.0', '4.9.0']);
    const params = { ...line, file: 'latest-linux-arm64.yml' };
    const feeds = await Promise.all(
      Array.from({ length: 40 }, (_, n) =>
        desktop.call(updates.electron, { params }, { 'x-machine-id': `${n}` }),
      ),
    );
    expect(feeds.filter(({ text }) => text.includes('5.0.0'))).toEqual([]);
    expect(feeds.some(({ text }) => text.includes('5.1.0'))).toBe(true);
  });

  test('names what machines below the minimum version of a full release get', async () => {
    const { customerId } = await makeCustomer(admin);
    const line = { platform: 'linux', fileKind: 'appimage', fileName: 'App.AppImage' } as const;
    await makeRelease(server, { ...line, version: '3.9.0' });
    await makeRelease(server, { ...line, version: '4.0.5' });
    const { id } = await makeRelease(server, { ...line, version: '5.0.0', minimumAppVersion: '4.0.0' });
    const onLinux = async () =>
      (await overview(customerId)).releases!.find(
        (one) => one.platform === 'linux' && one.architecture === 'x64',
      )!;
    const versions = async () => (await onLinux()).offered.map(({ version }) => version);
    expect((await onLinux()).offered).toMatchObject([
      { version: '5.0.0', minimumAppVersion: '4.0.0' },
      { version: '4.0.5', minimumAppVersion: null },
    ]);
    const params = { platform: 'linux', architecture: 'x64', file: 'latest-linux.yml' } as const;
    const feed = await desktop.call(updates.electron, { params }, { 'x-app-version': '3.0.0' });
    expect(feed.text).toContain('version: "4.0.5"');
    const pin = (value: string | null) =>
      admin.ok(policies.putOfCustomer, { ...at(customerId), body: { ...noPolicy, pin: value, tags: [] } });
    // the pin matches a release, also for machines that may not take it
    await pin('5.');
    expect(await onLinux()).toMatchObject({
      offered: [{ version: '5.0.0' }],
      heldBack: [{ version: '4.0.5' }],
    });
    await pin(null);
    await admin.ok(releaseCalls.update, { params: { releaseId: id }, body: { minimumAppVersion: '' } });
    expect(await versions()).toEqual(['5.0.0']);
  });

  test('says which machines get a release that its policy holds back', async () => {
    const { customerId } = await makeCustomer(admin);
    const line = { platform: 'darwin', fileKind: 'zip' } as const;
    await makeRelease(server, { ...line, version: '3.0.0' });
    const held = await makeRelease(server, {
      ...line,
      version: '5.0.0',
      minimumSupportedVersion: '4.0.0',
    });
    const why = async (policy: object) => {
      await admin.ok(policies.putOfCustomer, {
        ...at(customerId),
        body: { ...noPolicy, ...policy, tags: [] },
      });
      const found = (await overview(customerId)).releases!.find(({ platform }) => platform === 'darwin')!;
      return found.heldBack[0]!.why;
    };
    const nevertheless = 'Machines below 4.0.0 get it nevertheless.';
    expect(await why({ deferDays: 30 })).toContain(nevertheless);
    expect(await why({ pin: '3.', pinForSecurity: false })).toContain(nevertheless);
    expect(await why({ pin: '3.', pinForSecurity: true })).not.toContain(nevertheless);
    const params = { releaseId: held.id };
    const whyAt = async (percentage: number) => {
      await admin.ok(releaseCalls.rollout, { params, body: { percentage } });
      return why({ deferDays: 30 });
    };
    expect(await whyAt(0)).not.toContain('get it');
    expect(await whyAt(5)).toContain('Machines below 4.0.0 in its rollout get it nevertheless.');
    await admin.ok(releaseCalls.update, { params, body: { minimumAppVersion: '4.5.0' } });
    expect(await whyAt(100)).not.toContain('get it');
  });

  test('says that machines with a token get no updates while the customer is deleted', async () => {
    const license = await makeLicense(admin);
    const machine = await enrollOn(server, license, 'enrolled');
    const feed = () => askFeed(server.api(), machine.headers);
    expect([(await feed()).status, (await overview(license.customerId)).policy]).toEqual([200, []]);
    await softDelete(admin, license);
    expect((await feed()).status).toBe(401);
    expect((await overview(license.customerId)).policy).toEqual([
      'While the customer is deleted, machines with a token get no updates; what is offered is offered to the others.',
    ]);
  });

  test('is there for a soft-deleted customer, and for no unknown one', async () => {
    const customer = await makeCustomer(admin);
    await softDelete(admin, customer);
    expect((await overview(customer.customerId)).customer.deletedAt).not.toBeNull();
    for (const route of [calls.overview, calls.machines, calls.timeline, calls.export]) {
      const answer = await admin.call(route, at(nobody));
      expect([answer.status, answer.body.code]).toEqual([404, 'NOT_FOUND']);
    }
  });
});

test('the machines of a customer, on which license, and when they were last heard of', async () => {
  const { customerId } = await makeCustomer(admin);
  const license = await makeLicense(admin, { customerId });
  const other = await makeLicense(admin, { customerId });
  const release = await makeRelease(server, { version: '4.0.0' });
  const facts = { platform: 'win32', architecture: 'x64', appVersion: '4.0.0' };
  await validateOn(desktop, license, `old ${customerId}`, { ...facts, hostname: 'ONC-WS-07' });
  moment();
  await validateOn(desktop, license, `gone ${customerId}`, { hostname: '<b>ONC</b>-WS-09' });
  await validateOn(desktop, other, `new ${customerId}`, { ...facts, hostname: 'ONC-WS-08' });
  await validateOn(desktop, await makeLicense(admin), 'foreign', { hostname: 'ONC-WS-08' });
  const { data } = (await machinesOf(customerId)).body;
  await deactivate(
    admin,
    data.find(({ hostname }) => hostname?.includes('<b>'))!,
  );
  const listed = (await machinesOf(customerId)).body;
  expect(listed.meta).toEqual({ total: 3, limit: 50, offset: 0 });
  expect(listed.data).toMatchObject([
    {
      hostname: 'ONC-WS-08',
      licenseKey: other.licenseKey,
      status: 'active',
      version: '4.0.0',
      releaseId: release.id,
      lastSeen: server.clock.now().toISOString(),
    },
    { hostname: 'ONC-WS-07', licenseKey: license.licenseKey, status: 'active' },
    { hostname: '<b>ONC</b>-WS-09', status: 'deactivated', version: null, releaseId: null },
  ]);
  const found = async (search: string) =>
    (await machinesOf(customerId, { search })).body.data.map(({ hostname }) => hostname);
  expect(await found('ws-08')).toEqual(['ONC-WS-08']);
  expect(await found(`old ${customerId}`)).toEqual(['ONC-WS-07']);
  expect(await found('%')).toEqual([]);
  expect((await machinesOf(customerId, { limit: '1', offset: '1' })).body).toMatchObject({
    data: [{ hostname: 'ONC-WS-07' }],
    meta: { total: 3 },
  });
});

describe('the timeline', () => {
  test('of a former customer ends with the transfer, also of a license that a clock ahead has edited', async () => {
    const [former, owner] = [await makeCustomer(admin), await makeCustomer(admin)];
    const license = await makeLicense(admin, { customerId: former.customerId });
    await server.db
      .updateTable('licenses')
      .set({ updated_at: new Date(server.clock.now().getTime() + days(3)) })
      .where('license_id', '=', license.licenseId)
      .execute();
    moment();
    await admin.ok(licenses.transfer, {
      params: { id: license.licenseId },
      body: { customerId: owner.customerId },
    });
    moment();
    await validateOn(desktop, license, 'of-the-owner');
    const activated = `Machine of-the-owner on ${license.licenseKey}: activated`;
    expect(await whats(former.customerId)).not.toContain(activated);
    expect(await whats(owner.customerId)).toContain(activated);
  });

  test('has what was done to the customer, its licenses, machines and policy, in pages', async () => {
    const customer = await makeCustomer(admin);
    const { customerId, name } = customer;
    moment();
    const license = await makeLicense(admin, { customerId });
    await makeLicense(admin);
    moment();
    const { activation } = await validateOn(desktop, license, 'clinic-pc');
    moment();
    await deactivate(admin, activation!);
    moment();
    await admin.ok(policies.putOfCustomer, {
      ...at(customerId),
      body: { ...noPolicy, tags: ['night', 'beta'] },
    });
    moment();
    await admin.ok(policies.putOfTag, { params: { tag: 'night' }, body: { ...noPolicy, deferDays: 3 } });
    // a tag may have the name of another record
    await admin.ok(rollouts.setDefault, {
      params: { channel: 'beta' },
      body: { plan: [{ percentage: 100, hours: null }] },
    });
    moment();
    await softDelete(admin, customer);
    const all = [
      `${name}: moved to the recycle bin`,
      'Tag night: update policy deferDays: – → 3',
      `${name}: update policy tags: none → beta, night`,
      `Machine clinic-pc on ${license.licenseKey}: deactivated`,
      `Machine clinic-pc on ${license.licenseKey}: activated`,
      `${license.licenseKey}: issued to ${name} (enterprise)`,
      `${name}: created`,
    ];
    expect(await whats(customerId)).toEqual(all);
    const first = await timeline(customerId, { limit: '4' });
    expect(first.entries.map(({ what }) => what)).toEqual(all.slice(0, 4));
    expect(first.entries[0]).toMatchObject({ by: session.email, event: 'customer.soft_deleted' });
    const second = await timeline(customerId, { limit: '4', after: first.next! });
    expect(second.entries.map(({ what }) => what)).toEqual(all.slice(4));
    expect(second.next).toBeNull();
    const wrong = await admin.call(calls.timeline, { ...at(customerId), query: { after: 'x' } });
    expect([wrong.status, wrong.body.code]).toEqual([400, 'INVALID_INPUT']);
  });

  test('tells each customer of a license only about the time in which it was theirs', async () => {
    const [from, to] = [await makeCustomer(admin), await makeCustomer(admin)];
    const license = await makeLicense(admin, { customerId: from.customerId });
    moment();
    await validateOn(desktop, license, 'before');
    moment();
    await transfer(license, to.customerId);
    moment();
    await validateOn(desktop, license, 'after');
    moment();
    const moved = `${license.licenseKey}: transferred from ${from.name} to ${to.name}`;
    const activated = (machine: string) => `Machine ${machine} on ${license.licenseKey}: activated`;
    expect(await whats(from.customerId)).toEqual([
      moved,
      activated('before'),
      `${license.licenseKey}: issued to ${from.name} (enterprise)`,
      `${from.name}: created`,
    ]);
    expect(await whats(to.customerId)).toEqual([activated('after'), moved, `${to.name}: created`]);
    // back, and then deleted
    await transfer(license, from.customerId);
    moment();
    await revoke(admin, license);
    moment();
    await admin.ok(licenses.delete, { params: { id: license.licenseId } });
    expect((await whats(from.customerId)).slice(0, 3)).toEqual([
      `${license.licenseKey}: permanently deleted`,
      `${license.licenseKey}: revoked`,
      `${license.licenseKey}: transferred from ${to.name} to ${from.name}`,
    ]);
    expect(await whats(to.customerId)).not.toContain(`${license.licenseKey}: revoked`);
  });

  test('counts a transfer by an edit of the license as well', async () => {
    const [from, to] = [await makeCustomer(admin), await makeCustomer(admin)];
    const license = await makeLicense(admin, { customerId: from.customerId });
    moment();
    await admin.ok(licenses.update, {
      params: { id: license.licenseId },
      body: { customerId: to.customerId },
    });
    moment();
    await revoke(admin, license);
    expect(await whats(to.customerId)).toHaveLength(3);
    expect(await whats(from.customerId)).toHaveLength(3);
    expect(await whats(from.customerId)).not.toContain(`${license.licenseKey}: revoked`);
  });
});

describe('what a user may not read', () => {
  const withCustomers = (...more: Permission[]) => signInWith(server, admin, [reads('customers'), ...more]);

  test('is not in the overview', async () => {
    const { customerId } = await makeCustomer(admin);
    const parts = async (...more: Permission[]) => {
      const as = await withCustomers(...more);
      const { seats, machines, refused, releases } = await overview(customerId, as);
      return [seats, machines, refused, releases].map((part) => part !== null);
    };
    expect(await parts()).toEqual([false, false, false, false]);
    expect(await parts(reads('licenses'))).toEqual([true, true, true, false]);
    expect(await parts(reads('releases'))).toEqual([false, false, false, true]);
  });

  test('is not in the export, which says so', async () => {
    const { customerId } = await makeCustomer(admin);
    const license = await makeLicense(admin, { customerId });
    await validateOn(desktop, license, 'a machine', { hostname: 'SECRET-HOST' });
    const file = async (...more: Permission[]) =>
      (await exported(customerId, await withCustomers(...more))).text;
    const least = customerExport.parse(JSON.parse(await file()));
    expect(Object.keys(least)).toEqual([
      'format',
      'formatVersion',
      'exportedAt',
      'exportedBy',
      'omitted',
      'customer',
      'tags',
      'updatePolicy',
      'policy',
    ]);
    expect(least.omitted).toContainEqual({ part: 'timeline', needs: 'audit:export' });
    const parts = [...Object.keys(least), ...least.omitted.map(({ part }) => part)];
    expect(parts.toSorted()).toEqual(Object.keys(customerExport.shape).toSorted());
    expect(await file()).not.toMatch(new RegExp(`${license.licenseKey}|SECRET-HOST`));
    // reading entries is not exporting them
    const support = await file(reads('licenses'), reads('releases'), reads('audit'));
    expect(support).toContain(license.licenseKey);
    expect(support).not.toContain('"timeline": [');
    expect(await file({ resource: 'audit', action: 'export' })).toContain('"timeline": [');
  });
});

test('the export is one file with everything, without secrets, and audited', async () => {
  const name = `<b>${'x'.repeat(190)}`;
  const customer = await makeCustomer(admin, { name });
  const { customerId } = customer;
  for (let i = 0; i < 3; i++) await makeLicense(admin, { customerId });
  const license = await makeLicense(admin, { customerId });
  const enrolled = await enrollOn(server, license, 'proven', { hostname: 'ONC-WS-08' });
  await validateOn(desktop, license, 'named');
  await server.pool.query(
    `insert into validations (occurred_at, code, duration_us, customer_id, license_id, machine_id)
     select $3, 'TOO_MANY_ACTIVATIONS', 1, $1, $2, 'refused ' || i from generate_series(1, 80) i, generate_series(1, 2)`,
    [customerId, license.licenseId, server.clock.now()],
  );
  const answer = await exported(customerId);
  expect(answer.headers.get('content-disposition')).toBe(
    `attachment; filename="customer-${customerId}-${server.clock.now().toISOString().slice(0, 10)}.json"`,
  );
  const file = customerExport.parse(JSON.parse(answer.text));
  expect(file).toMatchObject({
    omitted: [],
    exportedBy: session.email,
    customer: { name },
    seats: { licenses: 4, used: 2 },
    refusedTotals: { validations: 160, groups: 80 },
  });
  expect(new Set(file.refusedValidations!.map(({ machineId }) => machineId)).size).toBe(80);
  expect(file.licenses).toHaveLength(4);
  expect(file.machines!.map(({ hostname }) => hostname).toSorted()).toEqual(['ONC-WS-08', null]);
  expect(file.timeline!.map(({ event }) => event)).toEqual(
    expect.arrayContaining([
      'customer.created',
      'license.created',
      'activation.enrolled',
      'customer.exported',
    ]),
  );
  const { secret_hash, public_key } = await server.db
    .selectFrom('machine_credentials')
    .select(['secret_hash', 'public_key'])
    .where('activation_id', '=', enrolled.activationId)
    .executeTakeFirstOrThrow();
  for (const secret of [
    enrolled.token.slice(4),
    ...['hex', 'base64', 'base64url'].flatMap((encoding) =>
      [secret_hash, public_key].map((bytes) => bytes.toString(encoding as 'hex')),
    ),
  ])
    expect(answer.text).not.toContain(secret);
  const { entries } = await admin.ok(audit.list, { query: { resourceId: customerId, limit: '1' } });
  expect(entries[0]).toMatchObject({ event_type: 'customer.exported', user_email: session.email });
});

test('an export of many machines and entries is sent in pieces', async () => {
  const { customerId } = await makeCustomer(admin);
  const license = await makeLicense(admin, { customerId, maxActivations: 3000 });
  await server.pool.query(
    `insert into activations (activation_id, license_id, machine_id, status, activation_type, created_at, updated_at)
     select gen_random_uuid(), $1, 'bulk ' || i, 'released', 'automatic', now(), now() from generate_series(1, 1200) i`,
    [license.licenseId],
  );
  await server.pool.query(
    `insert into audit_entries (audit_id, timestamp, event_type, resource_type, resource_id, changes_summary, success)
     select gen_random_uuid(), $2::timestamptz - i * interval '1 second', 'activation.released', 'activation',
            a.activation_id::text, 'no. ' || i, true
       from (select activation_id, row_number() over () as i from activations where license_id = $1) a,
            generate_series(1, 2) k`,
    [license.licenseId, server.clock.now()],
  );
  const file = customerExport.parse(JSON.parse((await exported(customerId)).text));
  expect(new Set(file.machines!.map(({ activationId }) => activationId)).size).toBe(1200);
  expect(file.timeline!.filter(({ event }) => event === 'activation.released')).toHaveLength(2400);
  const times = file.timeline!.map(({ at: when }) => when);
  expect(times).toEqual(times.toSorted().toReversed());
});

test('a reader who leaves in the middle of an export does no harm', async () => {
  const { customerId } = await makeCustomer(admin);
  const aborted = new AbortController();
  const response = await fetch(server.url + addressOf(calls.export, at(customerId)), {
    headers: session.headers,
    signal: aborted.signal,
  });
  aborted.abort();
  await expect(response.text()).rejects.toThrow();
  await exported(customerId);
  expect((await admin.ok(customers.get, at(customerId))).customerId).toBe(customerId);
});
