import { readFile } from 'node:fs/promises';
import { v7 as uuidv7 } from 'uuid';
import { describe, expect, test } from 'vitest';
import { apiKeys } from '../../../contract/api-keys.ts';
import { credentials } from '../../../contract/credentials.ts';
import { licenses, type License } from '../../../contract/licenses.ts';
import { machines } from '../../../contract/machines.ts';
import { updateEvents } from '../../../contract/update-events.ts';
import { validation } from '../../../contract/validation.ts';
import { installApp } from '../../../tests/desktop-client.ts';
import {
  deactivate,
  enrollOn,
  makeLicense,
  makeRelease,
  revoke,
  makeApiKey,
  softDelete,
  unique,
  type Enrolled,
} from '../../../tests/factories.ts';
import { eventually, hours, startTestServer, startTwin, type TestServer } from '../../../tests/harness.ts';
import { machineRow } from '../../../tests/rows.ts';
import { systemChange } from '../../change.ts';

const server = await startTestServer();
const twin = await startTwin(server, { config: { storage: server.context.config.storage } });
const staff = server.api((await server.signInAs('super_admin')).byCookie);

const enrolled = async (fields: { machineId?: string; on?: TestServer } = {}) => {
  const license = await makeLicense(staff);
  const machine = await enrollOn(fields.on ?? server, license, fields.machineId ?? unique('Machine'));
  return { license, machine };
};
const validate = ({ licenseKey }: License, { machineId, headers }: Enrolled, on: TestServer = server) =>
  on.api({ headers }).call(validation.validate, { body: { licenseKey, machineId } });
const electron = '/api/v1/updates/electron/win32/x64/latest.yml';
const squirrel = '/api/v1/updates/squirrel/win32/x64/RELEASES';
const get = (path: string, headers: Record<string, string> = {}, on: TestServer = server) =>
  fetch(on.url + path, { headers });
const event = (more: object = {}) => ({
  eventId: uuidv7(),
  eventType: 'install_complete' as const,
  toVersion: '9.9.9',
  ...more,
});
const report = (headers: Record<string, string>, events: ReturnType<typeof event>[]) =>
  server.api({ headers }).call(updateEvents.report, { body: { events } });
const seen = async (machineId: string) => (await machineRow(server, machineId))!;

describe('a machine with its token', () => {
  test('validates, asks feeds, fetches files, reports events and gives its seat back, without an API key', async () => {
    const { license, machine } = await enrolled();
    const release = await makeRelease(server, { bytes: 'MZ for the machine' });
    expect((await validate(license, machine)).body.data).toMatchObject({ code: 'VALID' });
    expect(await (await get(electron, machine.headers)).text()).toContain(`version: "${release.version}"`);
    const file = `/api/v1/updates/files/${release.id}/${release.version}/Setup.exe`;
    expect(await (await get(file, machine.headers)).text()).toBe('MZ for the machine');
    const reported = await report(machine.headers, [event()]);
    expect(reported.body.data, reported.text).toEqual({ accepted: 1 });
    // the service knows from the token alone which machine it was
    await eventually(async () =>
      expect(await seen(machine.machineId)).toMatchObject({
        total_checks: 1,
        total_downloads: 1,
        last_version: '9.9.9',
      }),
    );
    const { machineId } = machine;
    const body = { licenseKey: license.licenseKey, machineId };
    expect((await server.api(machine).ok(validation.releaseSeat, { body })).released).toBe(true);
    expect((await validate(license, machine)).status).toBe(401);
  });

  test('alone frees its seat: an API key would open it to another key pair', async () => {
    const license = await makeLicense(staff, { maxActivations: 1 });
    const machine = await enrollOn(server, license, 'kept seat');
    const body = { licenseKey: license.licenseKey, machineId: machine.machineId };
    const refused = await server.api(await makeApiKey(staff)).ok(validation.releaseSeat, { body });
    expect(refused).toMatchObject({ released: false, code: 'ENROLLED_SEAT' });
    expect((await validate(license, machine)).body.data).toMatchObject({ code: 'VALID' });
    expect((await staff.ok(validation.releaseSeat, { body })).released).toBe(true);
  });

  test('gives its seat back no more often than a machine without one', async () => {
    const license = await makeLicense(staff, { maxActivations: 1 });
    const body = { licenseKey: license.licenseKey, machineId: 'often' };
    const giveBack = async (machine: Enrolled) =>
      (await server.api(machine).ok(validation.releaseSeat, { body })).code;
    const first = await enrollOn(server, license, 'often');
    const codes = [await giveBack(first)];
    for (let n = 0; n < 2; n++)
      codes.push(await giveBack(await enrollOn(server, license, 'often', { key: first.key })));
    expect(codes).toEqual(['RELEASED', 'RELEASED', 'TOO_MANY_RELEASES']);
  });

  test('names no other machine and no other license, wherever a call can name one', async () => {
    const { license, machine } = await enrolled();
    const other = await enrolled();
    const { licenseKey } = license;
    const { machineId, headers } = machine;
    const api = server.api(machine);
    const foreign = other.machine.machineId;
    const key = { ...headers, 'x-machine-id': foreign };
    const file = '/api/v1/updates/files/01920000-0000-7000-8000-000000000000/1.0.0/Setup.exe';
    const body = { licenseKey, machineId };
    const calls = [
      api.call(validation.validate, { body: { ...body, machineId: foreign } }),
      api.call(validation.validate, { body: { ...body, machineId: machineId.toLowerCase() } }),
      api.call(validation.validate, { body: { ...body, licenseKey: other.license.licenseKey } }),
      api.call(validation.validate, { body: { ...body, licenseKey: 'no key' } }),
      api.call(validation.validate, { body }, key),
      api.call(validation.releaseSeat, { body: { ...body, machineId: foreign } }),
      api.call(validation.releaseSeat, { body: { ...body, licenseKey: other.license.licenseKey } }),
      report(headers, [event({ machineId: foreign })]),
      report(headers, [event(), event({ machineId }), event({ machineId: foreign })]),
      report(key, [event()]),
      ...[electron, squirrel, file].flatMap((path) => [
        get(path, key),
        get(`${path}?machineId=${encodeURIComponent(foreign)}`, headers),
        get(`${path}?token=${machine.token}&machineId=${encodeURIComponent(foreign)}`),
      ]),
      get(`${squirrel}?machineid=${encodeURIComponent(foreign)}`, headers),
      get(`${squirrel}?machineId=${encodeURIComponent(machineId)}&machineid=x`, headers),
    ];
    const statuses = (await Promise.all(calls)).map(({ status }) => status);
    expect(statuses).toEqual(statuses.map(() => 403));
    expect((await seen(foreign)).total_checks).toBe(0);
    expect((await staff.ok(machines.get, { params: { id: foreign } })).updateHistory).toEqual([]);
  });

  test('may say who it is, also where electron-updater adds an id of its own', async () => {
    const { license, machine } = await enrolled();
    const { machineId, headers } = machine;
    const staging = { ...headers, 'x-user-staging-id': uuidv7() };
    const name = encodeURIComponent(machineId);
    const answers = await Promise.all([
      get(electron, staging),
      get(`${electron}?machineId=${name}`, staging),
      get(electron, { ...staging, 'x-machine-id': machineId }),
      report(headers, [event({ machineId })]),
      validate({ ...license, licenseKey: license.licenseKey.toLowerCase().replaceAll('-', '') }, machine),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    await eventually(async () => expect((await seen(machineId)).total_checks).toBe(3));
  });

  test('is told without a token that an event needs its machine', async () => {
    const answer = await staff.call(updateEvents.report, {
      body: { events: [event({ machineId: 'm' }), event()] },
    });
    expect([answer.status, answer.body.error]).toEqual([400, 'events.1.machineId: Machine ID is required']);
  });

  test('is Squirrel.Windows: the token is in the address, and in lower case when it asks again', async () => {
    const { machine } = await enrolled({ machineId: `WS-${uuidv7()}` });
    const release = await makeRelease(server, {
      fileKind: 'nupkg',
      fileName: 'MyApp-full.nupkg',
      bytes: 'PK for the machine',
    });
    const query = `?token=${machine.token}&machineId=${machine.machineId}&localVersion=1.0.0`;
    const line = await (await get(squirrel + query)).text();
    expect(line).toContain(`/${release.id}/`);
    expect(line).toContain(`?token=${machine.token}&machineId=${machine.machineId} `);
    const again = await get((squirrel + query).toLowerCase());
    expect(again.status).toBe(200);
    const address = (await again.text()).split(' ')[1]!.replace('http://localhost:8080', server.url);
    const file = await fetch(address.toLowerCase());
    expect(await file.text()).toBe('PK for the machine');
    // recorded for the machine as it is written, not for one in lower case
    await eventually(async () =>
      expect(await seen(machine.machineId)).toMatchObject({ total_checks: 2, total_downloads: 1 }),
    );
    expect(await machineRow(server, machine.machineId.toLowerCase())).toBeUndefined();
    expect((await get(`/api/v1/licenses?token=${machine.token}`)).status).toBe(401);
  });

  test('is Squirrel.Mac: the token is in the address of the file as well', async () => {
    const { machine } = await enrolled();
    const release = await makeRelease(server, {
      platform: 'darwin',
      fileKind: 'zip',
      fileName: 'MyApp.zip',
      bytes: 'PK for the Mac',
    });
    const feed = await get(`/api/v1/updates/squirrel/darwin/x64/0.0.1?token=${machine.token}`);
    const { url } = (await feed.json()) as { url: string };
    expect(url).toContain(`/${release.id}/${release.version}/`);
    const file = await fetch(url.replace('http://localhost:8080', server.url));
    expect(await file.text()).toBe('PK for the Mac');
    await eventually(async () =>
      expect(await seen(machine.machineId)).toMatchObject({ total_checks: 1, total_downloads: 1 }),
    );
  });

  test.each([
    ['a header', (token: string) => ({ query: '', headers: { 'x-machine-token': token } })],
    ['the address', (token: string) => ({ query: `?token=${token}`, headers: {} })],
  ])('is electron-updater, with the token in %s', async (_, by) => {
    const { machine } = await enrolled();
    const release = await makeRelease(server, { bytes: 'MZ for electron-updater' });
    const { query, headers } = by(machine.token);
    const feed = `${server.url}/api/v1/updates/electron/win32/x64/${query}`;
    const app = await installApp({ version: '1.0.0', feed, headers });
    expect((await app.check())?.version).toBe(release.version);
    expect(await readFile(await app.download(), 'utf8')).toBe('MZ for electron-updater');
  });

  test('makes no call of staff or of a CI, and no public call fails because of it', async () => {
    const { license, machine } = await enrolled();
    const api = server.api(machine);
    const list = await api.call(licenses.list);
    expect([list.status, list.body.error]).toEqual([
      403,
      'No machine token may make this call: it is for staff who are signed in.',
    ]);
    await revoke(staff, license);
    const health = await get('/api/v1/keys', machine.headers);
    expect(health.status).toBe(200);
  });
});

test('with a shared API key that is revoked, a machine enrolls, and reads the keys', async () => {
  const shared = await makeApiKey(staff);
  await staff.ok(apiKeys.revoke, { params: { keyId: shared.id } });
  for (const headers of [{ 'x-api-key': shared.key }, { authorization: `Bearer ${shared.key}` }]) {
    expect((await get('/api/v1/keys', headers)).status).toBe(200);
    const api = () => server.api({ headers });
    await enrollOn({ api }, await makeLicense(staff), unique('Machine'));
    expect((await get(electron, headers)).status).toBe(401);
  }
});

describe('a token that is not right', () => {
  test.each(['', 'lym_', 'lym_aaaaaaaaaaaa_b', `lym_${'a'.repeat(12)}_${'b'.repeat(43)}`, 'lyd_x', '\u00ff'])(
    '%j is refused',
    async (token) => {
      expect((await get(electron, { 'x-machine-token': token })).status).toBe(401);
      expect((await get(`${electron}?token=${encodeURIComponent(token)}`)).status).toBe(401);
    },
  );

  test('is refused with the id of another, and recorded once per address', async () => {
    const { license, machine } = await enrolled();
    const other = await enrolled();
    const [, id] = machine.token.split('_');
    const mixed = `lym_${id}_${other.machine.token.split('_')[2]}`;
    const headers = { 'x-machine-token': mixed };
    for (let i = 0; i < 3; i++) expect((await validate(license, { ...machine, headers })).status).toBe(401);
    const entries = await server.db
      .selectFrom('audit_entries')
      .select(['event_type', 'error_message'])
      .where('error_message', 'like', 'The machine token is not known%')
      .execute();
    expect(entries).toHaveLength(1);
    expect(entries[0]!.event_type).toBe('call.refused');
  });
});

/** Warm caches in both processes, then the change, then what each says. */
async function endsBy(change: (of: { license: License; machine: Enrolled }) => Promise<unknown>) {
  const [one, other] = [await enrolled(), await enrolled()];
  const statuses = () =>
    Promise.all(
      [server, twin].flatMap((on) => [
        validate(one.license, one.machine, on).then(({ status, body }) =>
          status === 200 ? body.data.code : status,
        ),
        get(electron, one.machine.headers, on).then(({ status }) => status),
      ]),
    );
  expect(await statuses()).toEqual(['VALID', 200, 'VALID', 200]);
  await change(one);
  expect((await validate(other.license, other.machine)).status).toBe(200);
  // the process that made the change refuses at once; the other has been told, and hears of it in a moment
  const [validated, fed] = await statuses();
  await eventually(async () => {
    const [here, feedHere, there, feedThere] = await statuses();
    expect([there, feedThere]).toEqual([here, feedHere]);
  });
  return { ...one, validated, fed, statuses };
}

const tryRelease = ({ licenseKey }: License, { machineId, headers }: Enrolled) =>
  server.api({ headers }).call(validation.releaseSeat, { body: { licenseKey, machineId } });

/** No call changes the status of a customer yet. */
const update = ({ customerId }: License, status: 'active' | 'inactive') =>
  systemChange(server.context, server.clock.now(), async ({ tx, announce }) => {
    await tx.updateTable('customers').set({ status }).where('customer_id', '=', customerId).execute();
    await announce('records');
  });

describe('the token ends at once in every process', () => {
  test.each([
    ['staff deactivate the machine', ({ machine }: { machine: Enrolled }) => deactivate(staff, machine)],
    [
      'staff end the enrollment',
      ({ machine: { activationId } }: { machine: Enrolled }) =>
        staff.ok(credentials.end, { params: { activationId } }),
    ],
    [
      'the machine gives its seat back',
      ({ license: { licenseKey }, machine }: { license: License; machine: Enrolled }) =>
        server
          .api(machine)
          .ok(validation.releaseSeat, { body: { licenseKey, machineId: machine.machineId } }),
    ],
    [
      'the machine enrolls again',
      ({ license, machine }: { license: License; machine: Enrolled }) =>
        enrollOn(server, license, machine.machineId, { key: machine.key }),
    ],
    [
      'the license is deleted',
      async ({ license, machine }: { license: License; machine: Enrolled }) => {
        await revoke(staff, license);
        // its updates go on until the license is deleted
        expect((await get(electron, machine.headers)).status).toBe(200);
        await staff.ok(licenses.delete, { params: { id: license.licenseId } });
      },
    ],
  ])('when %s', async (_, change) => {
    expect(await endsBy(change)).toMatchObject({ validated: 401, fed: 401 });
  });

  test('except for the signed reason, when the customer is deleted', async () => {
    const { license, machine, validated, fed } = await endsBy((of) => softDelete(staff, of.license));
    expect([validated, fed]).toEqual(['CUSTOMER_INACTIVE', 401]);
    expect((await tryRelease(license, machine)).status).toBe(401);
  });

  test('when the license is revoked: the signed reason is told, recorded and counted, and updates go on', async () => {
    const { license, machine, validated, fed, statuses } = await endsBy((of) => revoke(staff, of.license));
    expect([validated, fed]).toEqual(['REVOKED', 200]);
    const { headers, body } = await validate(license, machine);
    expect(JSON.parse(body.data.signed)).toMatchObject({
      code: 'REVOKED',
      activation: { status: 'active' },
    });
    expect(Number(headers.get('ratelimit-remaining'))).toBeLessThan(600);
    const params = { id: license.licenseId };
    await eventually(async () =>
      expect(await staff.ok(validation.ofLicense, { params })).toContainEqual({
        code: 'REVOKED',
        count: expect.any(Number) as number,
        machines: 1,
      }),
    );
    // it says no more than that, and a revoked license keeps its seats
    expect((await tryRelease(license, machine)).status).toBe(401);
    expect((await validate(license, { ...machine, machineId: unique('Machine') })).status).toBe(403);
    await staff.ok(licenses.reactivate, { params });
    await eventually(async () => expect(await statuses()).toEqual(['VALID', 200, 'VALID', 200]));
  });

  test('when the customer is switched off: updates go on, and all of it when it is switched on', async () => {
    const { license, validated, fed, statuses } = await endsBy((of) => update(of.license, 'inactive'));
    expect([validated, fed]).toEqual(['CUSTOMER_INACTIVE', 200]);
    await update(license, 'active');
    await eventually(async () => expect(await statuses()).toEqual(['VALID', 200, 'VALID', 200]));
  });

  test('updates too where UPDATES_AFTER_REVOCATION is off', async () => {
    const strict = await startTwin(server, { config: { updatesAfterRevocation: false } });
    const { license, machine } = await enrolled();
    expect((await get(electron, machine.headers, strict)).status).toBe(200);
    await revoke(staff, license);
    await eventually(async () => expect((await get(electron, machine.headers, strict)).status).toBe(401));
  });

  test('and no seat comes back by it: a machine that is deactivated stays so', async () => {
    const { license, machine } = await enrolled();
    await deactivate(staff, machine);
    expect((await validate(license, machine)).status).toBe(401);
    const again = await server.api().ok(credentials.enroll, {
      body: {
        licenseKey: license.licenseKey,
        machineId: machine.machineId,
        publicKey: machine.key.publicKey,
      },
    });
    expect(again).toMatchObject({ code: 'MACHINE_DEACTIVATED', machineToken: null });
  });
});

describe('the limit of a machine', () => {
  test('is its own, is said with each answer, and begins again with the hour', async () => {
    const own = await startTestServer({ config: { machineRequestsPerHour: 3 } });
    const ownStaff = own.api(await own.signInAs('super_admin'));
    const license = await makeLicense(ownStaff);
    const [machine, other] = [await enrollOn(own, license, 'one'), await enrollOn(own, license, 'other')];
    const said = ({ headers }: { headers: Headers }) =>
      ['limit', 'remaining', 'reset'].map((name) => Number(headers.get(`ratelimit-${name}`)));
    for (const left of [2, 1, 0])
      expect(said(await validate(license, machine, own))).toEqual([3, left, 1800]);
    const refused = await validate(license, machine, own);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1800']);
    expect(refused.body.error).toBe('The machine has used its 3 requests of this hour.');
    // enrolling again gives no new hour; others have theirs
    const again = await enrollOn(own, license, 'one', { key: machine.key });
    expect((await validate(license, again, own)).status).toBe(429);
    expect((await validate(license, other, own)).status).toBe(200);
    const metrics = await (await fetch(`${own.url}/metrics`)).text();
    expect(metrics).toContain('\nlanyard_budget_refusals_total{budget="requests"} 2\n');
    own.clock.advance(hours(1));
    expect((await validate(license, again, own)).status).toBe(200);
  });

  test('holds for events in reports as well, all or none', async () => {
    const own = await startTestServer({ config: { machineRequestsPerHour: 510 } });
    const ownStaff = own.api(await own.signInAs('super_admin'));
    const machine = await enrollOn(own, await makeLicense(ownStaff), 'one');
    const send = (count: number) =>
      own
        .api(machine)
        .call(updateEvents.report, { body: { events: Array.from({ length: count }, () => event()) } });
    for (const count of [8, 500]) expect((await send(count)).status).toBe(200);
    const refused = await send(3);
    expect([refused.status, refused.body.error]).toEqual([
      429,
      'The machine may report 510 events an hour, and fewer than the 3 of this report are left. Nothing of it was taken; send it again later.',
    ]);
    expect((await send(2)).status).toBe(200);
  });
});
