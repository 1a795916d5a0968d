import { createPublicKey, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { activations } from '../../../contract/activations.ts';
import { customers } from '../../../contract/customers.ts';
import { keys as keyCalls } from '../../../contract/keys.ts';
import { licenses } from '../../../contract/licenses.ts';
import {
  validation as calls,
  validationMessages,
  type ValidationResult,
} from '../../../contract/validation.ts';
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
import {
  auditOf,
  days,
  eventually,
  movableClock,
  seconds,
  startTestServer,
  startTwin,
} from '../../../tests/harness.ts';
import { newFolder } from '../../../tests/place.ts';
import { entriesOf, validationsOf } from '../../../tests/rows.ts';
import { root } from '../../root.ts';

const server = await startTestServer();
const staff = server.api((await server.signInAs('super_admin')).byCookie);
const apiKey = await makeApiKey(staff);
const desktop = server.api(apiKey);

const licenseOf = (id: string) => staff.ok(licenses.get, { params: { id } });
const release = (licenseKey: string, machineId: string) =>
  desktop.ok(calls.releaseSeat, { body: { licenseKey, machineId } });

describe('the first valid call of a machine', () => {
  test('takes a seat, and answers license, modules by name, and the new activation', async () => {
    const license = await makeLicense(staff, { moduleIds: ['mod_lung_nodule', 'mod_diabetes'] });
    const answer = await desktop.call(calls.validate, {
      body: {
        licenseKey: license.licenseKey,
        machineId: 'm-1',
        nonce: 'n-1',
        hostname: 'ct\u202e-1',
        platform: 'linux',
        architecture: 'x64',
        osVersion: '6.1',
        appVersion: '2.0.1',
      },
    });
    expect(answer.status).toBe(200);
    const { signed: _, signature: __, keyId: ___, ...facts } = answer.body.data;
    expect(facts).toEqual({
      valid: true,
      code: 'VALID',
      message: validationMessages.VALID,
      license: {
        licenseKey: license.licenseKey,
        type: 'enterprise',
        validUntil: license.validUntil,
        modules: [
          { moduleId: 'mod_lung_nodule', name: 'Lung Nodule' },
          { moduleId: 'mod_diabetes', name: 'Diabetes' },
        ],
      },
      activation: {
        activationId: expect.any(String),
        machineId: 'm-1',
        status: 'active',
        activationType: 'automatic',
        lastCheckedAt: server.clock.now().toISOString(),
        createdAt: server.clock.now().toISOString(),
      },
      machineId: 'm-1',
      nonce: 'n-1',
      issuedAt: server.clock.now().toISOString(),
      expiresAt: new Date(server.clock.now().getTime() + days(14)).toISOString(),
    });
    expect((await licenseOf(license.licenseId)).currentActivations).toBe(1);
    expect(await machinesOf(staff, license)).toMatchObject([
      {
        machineId: 'm-1',
        status: 'active',
        hostname: 'ct-1',
        platform: 'linux',
        architecture: 'x64',
        osVersion: '6.1',
        appVersion: '2.0.1',
      },
    ]);
  });

  test('is an audit entry, and later calls are not', async () => {
    const license = await makeLicense(staff);
    const { activation } = await validateOn(desktop, license, 'm-2');
    await validateOn(desktop, license, 'm-2');
    const entries = await auditOf(server, activation!.activationId);
    expect(entries).toMatchObject([
      {
        event_type: 'activation.created',
        user_role: 'service_account',
        before: null,
        after: { machineId: 'm-2', status: 'active', licenseId: license.licenseId },
      },
    ]);
  });
});

describe('the codes', () => {
  test('begin and end with the license, to the millisecond, for a new machine and for one with a seat', async () => {
    const own = await startTestServer();
    const ownStaff = own.api(await own.signInAs('super_admin'));
    const ownDesktop = own.api(await makeApiKey(ownStaff, { expiresAt: '2100-01-01T00:00:00Z' }));
    const license = await makeLicense(ownStaff);
    for (const [now, code] of [
      ['2025-12-31T23:59:59.999Z', 'NOT_YET_VALID'],
      ['2026-01-01T00:00:00.000Z', 'VALID'],
      ['2036-01-01T00:00:00.000Z', 'VALID'],
      ['2036-01-01T00:00:00.001Z', 'EXPIRED'],
    ] as const) {
      own.clock.set(now);
      for (const machineId of [`new at ${now}`, 'old'])
        expect(await validateOn(ownDesktop, license, machineId), machineId).toMatchObject({
          valid: code === 'VALID',
          code,
          message: validationMessages[code],
        });
    }
  });

  test('a typing error is MALFORMED_KEY, an unknown key NOT_FOUND; neither tells anything', async () => {
    const { licenseKey } = await makeLicense(staff);
    const wrong = licenseKey.slice(0, -1) + (licenseKey.endsWith('A') ? 'B' : 'A');
    for (const typed of [wrong, licenseKey.slice(1), 'x', '', ' ', licenseKey + licenseKey]) {
      expect(await validateOn(desktop, typed, 'm'), typed).toMatchObject({
        valid: false,
        code: 'MALFORMED_KEY',
        license: null,
        activation: null,
      });
    }
    const { newLicenseKey } = await import('../licenses/license-key.ts');
    expect(await validateOn(desktop, newLicenseKey('trial'), 'm')).toMatchObject({
      valid: false,
      code: 'NOT_FOUND',
      license: null,
      activation: null,
    });
  });

  test('REVOKED, until staff reactivate the license', async () => {
    const license = await makeLicense(staff);
    await revoke(staff, license);
    expect((await validateOn(desktop, license, 'm')).code).toBe('REVOKED');
    await staff.ok(licenses.reactivate, { params: { id: license.licenseId } });
    expect((await validateOn(desktop, license, 'm')).code).toBe('VALID');
  });

  test('CUSTOMER_INACTIVE while the customer is in the trash, before all else', async () => {
    const license = await makeLicense(staff);
    await validateOn(desktop, license, 'm');
    await revoke(staff, license);
    await softDelete(staff, license);
    for (const machine of ['m', 'new'])
      expect((await validateOn(desktop, license, machine)).code).toBe('CUSTOMER_INACTIVE');
    await staff.ok(customers.restore, { params: { id: license.customerId } });
    expect((await validateOn(desktop, license, 'm')).code).toBe('REVOKED');
  });

  test('staff reactivate a machine, which does not count as a call of that machine', async () => {
    const license = await makeLicense(staff, { maxActivations: 1 });
    const { activation } = await validateOn(desktop, license, 'silent');
    await deactivate(staff, activation!);
    const other = await validateOn(desktop, license, 'heard of');
    server.clock.advance(seconds(1));
    expect((await validateOn(staff, license, 'silent')).code).toBe('TOO_MANY_ACTIVATIONS');
    await deactivate(staff, other.activation!);
    const { lastCheckedAt } = activation!;
    expect((await validateOn(staff, license, 'silent')).activation).toMatchObject({
      status: 'active',
      lastCheckedAt,
    });
    await validateOn(desktop, license, 'heard of later');
    await eventually(async () => (await validationsOf(server, 'heard of later')).length === 1);
    expect(await validationsOf(server, 'silent')).toHaveLength(1);
    const [silent] = (await machinesOf(staff, license)).filter(({ machineId }) => machineId === 'silent');
    expect(silent).toMatchObject({ status: 'active', lastCheckedAt });
  });

  test('refuses the fourth machine with TOO_MANY_ACTIVATIONS until one is deactivated', async () => {
    const license = await makeLicense(staff, { maxActivations: 3 });
    for (const machine of ['1', '2', '3'])
      expect((await validateOn(desktop, license, machine)).code).toBe('VALID');
    expect(await validateOn(desktop, license, '4')).toMatchObject({
      code: 'TOO_MANY_ACTIVATIONS',
      activation: null,
    });
    expect((await validateOn(desktop, license, '3')).code, 'those who sit stay').toBe('VALID');
    await deactivate(staff, (await machinesOf(staff, license))[0]!);
    expect((await validateOn(desktop, license, '4')).code).toBe('VALID');
    expect((await licenseOf(license.licenseId)).currentActivations).toBe(3);
  });

  test('MACHINE_DEACTIVATED for a machine that staff took the seat from, whether or not a seat is free', async () => {
    const license = await makeLicense(staff, { maxActivations: 1 });
    const { activation } = await validateOn(desktop, license, 'out');
    await deactivate(staff, activation!);
    expect(await validateOn(desktop, license, 'out')).toMatchObject({
      code: 'MACHINE_DEACTIVATED',
      activation: { status: 'deactivated' },
    });
    await validateOn(desktop, license, 'next');
    expect((await validateOn(desktop, license, 'out')).code).toBe('MACHINE_DEACTIVATED');
  });
});

test.each([
  ['lower case', (key: string) => key.toLowerCase()],
  ['no dashes', (key: string) => key.replaceAll('-', '')],
  ['spaces around and within', (key: string) => `  ${key.replaceAll('-', ' - ')}\t`],
  ['typographic dashes', (key: string) => key.replaceAll('-', '–')],
  [
    'O for 0, I and L for 1',
    (key: string) => key.replaceAll('0', 'O').replace('1', 'I').replaceAll('1', 'l'),
  ],
])('a key typed with %s is forgiven', async (_, typed) => {
  const license = await makeLicense(staff);
  expect(await validateOn(desktop, typed(license.licenseKey), 'm')).toMatchObject({
    code: 'VALID',
    license: { licenseKey: license.licenseKey },
  });
});

describe('the signature', () => {
  const holds = async (result: ValidationResult, text = result.signed) => {
    const keys = await server.api().ok(keyCalls.published);
    const key = keys.find((candidate) => candidate.keyId === result.keyId)!;
    expect(key.algorithm).toBe('Ed25519');
    return verify(
      null,
      Buffer.from(text, 'utf8'),
      createPublicKey(key.publicKeyPem),
      Buffer.from(result.signature, 'base64'),
    );
  };

  test('verifies over the exact bytes of `signed`, which say what the answer says', async () => {
    const customer = await makeCustomer(staff, { name: 'Zoë 東京' });
    const license = await makeLicense(staff, { customerId: customer.customerId });
    const result = await validateOn(desktop, license, 'mäschine-東京', { nonce: 'nønce' });
    expect(await holds(result)).toBe(true);
    const { signed, signature: _, keyId: __, ...facts } = result;
    expect(JSON.parse(signed)).toEqual(facts);
    expect(facts).toMatchObject({ machineId: 'mäschine-東京', nonce: 'nønce' });
  });

  test('fails over anything else', async () => {
    const result = await validateOn(desktop, await makeLicense(staff), 'm');
    expect(await holds(result, result.signed.replace('true', 'True'))).toBe(false);
    expect(await holds(result, `${result.signed} `)).toBe(false);
  });

  test('is accepted by the documented program, also of a machine id as the system gives it', async () => {
    const text = readFileSync(path.join(root, 'docs/desktop-api.md'), 'utf8');
    const sample = /```ts\n([^`]*export async function validate(?:[^`]|`(?!``))*)```/.exec(text)![1]!;
    const file = path.join(await newFolder(), 'validate.ts');
    await writeFile(file, sample);
    type Validate = (...texts: string[]) => Promise<{ code: string }>;
    const documented = (await import(/* @vite-ignore */ file)) as { validate: Validate };
    const { licenseKey } = await makeLicense(staff);
    const [current] = await server.api().ok(keyCalls.published);
    for (const id of ['ws-07', 'ws-07\n'])
      expect(
        await documented.validate(server.url, apiKey.key, current!.publicKeyPem, licenseKey, id),
      ).toMatchObject({
        code: 'VALID',
        machineId: 'ws-07',
      });
  });

  test('stands under refusals as well', async () => {
    const result = await validateOn(desktop, 'x', 'm', { nonce: 'again' });
    expect(await holds(result)).toBe(true);
    expect(JSON.parse(result.signed)).toMatchObject({ valid: false, code: 'MALFORMED_KEY', nonce: 'again' });
  });
});

describe('release', () => {
  test('gives the seat back, and the machine may return', async () => {
    const license = await makeLicense(staff, { maxActivations: 1 });
    const { activation } = await validateOn(desktop, license, 'mobile');
    expect(await release(license.licenseKey, 'mobile')).toMatchObject({ released: true });
    expect(await licenseOf(license.licenseId)).toMatchObject({ currentActivations: 0 });
    expect(await machinesOf(staff, license)).toMatchObject([{ status: 'released' }]);
    expect(await validateOn(desktop, license, 'mobile')).toMatchObject({
      code: 'VALID',
      activation: { activationId: activation!.activationId },
    });
    expect((await auditOf(server, activation!.activationId)).map((entry) => entry.event_type)).toEqual([
      'activation.created',
      'activation.released',
      'activation.reactivated',
    ]);
  });

  test('lets another machine have the seat', async () => {
    const license = await makeLicense(staff, { maxActivations: 1 });
    await validateOn(desktop, license, 'a');
    await release(license.licenseKey, 'a');
    expect((await validateOn(desktop, license, 'b')).code).toBe('VALID');
    expect((await validateOn(desktop, license, 'a')).code).toBe('TOO_MANY_ACTIVATIONS');
  });

  test('is harmless where there is no seat, and does not let a deactivated machine back in', async () => {
    const license = await makeLicense(staff);
    const { activation } = await validateOn(desktop, license, 'm');
    expect((await release(license.licenseKey, 'stranger')).released).toBe(false);
    expect((await release('x', 'm')).released).toBe(false);
    await deactivate(staff, activation!);
    expect((await release(license.licenseKey, 'm')).released).toBe(false);
    expect((await validateOn(desktop, license, 'm')).code).toBe('MACHINE_DEACTIVATED');
    expect(await licenseOf(license.licenseId)).toMatchObject({ currentActivations: 0 });
  });
});

describe('one seat that is passed around', () => {
  test('is given back twice a day, by any number of calls at once and by two processes, and staff may go on', async () => {
    const twin = await startTwin(server);
    const { licenseKey, licenseId } = await makeLicense(staff, { maxActivations: 1 });
    const other = await makeLicense(staff, { maxActivations: 1 });
    const keyOfTwin = twin.api(await makeApiKey(staff));
    const passOn = async (machineId: string) => {
      expect((await validateOn(desktop, licenseKey, machineId)).code).toBe('VALID');
      const answers = await Promise.all(
        [desktop, keyOfTwin, desktop, keyOfTwin].map((api) =>
          api.ok(calls.releaseSeat, { body: { licenseKey, machineId } }),
        ),
      );
      return answers.map(({ code }) => code).toSorted();
    };
    expect(await passOn('first')).toEqual(['NO_SEAT', 'NO_SEAT', 'NO_SEAT', 'RELEASED']);
    expect(await passOn('second')).toEqual(['NO_SEAT', 'NO_SEAT', 'NO_SEAT', 'RELEASED']);
    expect(await passOn('third')).toEqual(Array(4).fill('TOO_MANY_RELEASES'));
    const refused = await release(licenseKey, 'third');
    expect(refused).toMatchObject({
      released: false,
      message: expect.stringContaining('daily limit of 2 released seats'),
    });
    expect((await validateOn(desktop, licenseKey, 'fourth')).code).toBe('TOO_MANY_ACTIVATIONS');
    const [third] = await machinesOf(staff, { licenseKey });
    const entries = await auditOf(server, third!.activationId);
    expect(entries.at(-1)).toMatchObject({ event_type: 'activation.release_refused', success: false });
    // or whoever has the API key could fill the audit log
    expect(entries.filter((entry) => entry.event_type === 'activation.release_refused')).toHaveLength(1);

    for (const [key, today] of [
      [licenseKey, 2],
      [other.licenseKey, 0],
    ] as const) {
      const list = await staff.call(activations.list, { params: { licenseKey: key } });
      const grace = { offlineGraceDays: 14, validationGraceMs: days(14) };
      expect(list.body.meta).toEqual({ selfReleases: { today, atMost: 2 }, ...grace });
    }

    const body = { licenseKey, machineId: 'third' };
    expect(await staff.ok(calls.releaseSeat, { body })).toMatchObject({ released: true, code: 'RELEASED' });
    expect((await licenseOf(licenseId)).currentActivations).toBe(0);
  });

  test('may be given back again on the next UTC day', async () => {
    const own = await startTestServer();
    const ownStaff = own.api((await own.signInAs('super_admin')).byCookie);
    const ownDesktop = own.api(await makeApiKey(ownStaff, { expiresAt: '2100-01-01T00:00:00Z' }));
    const { licenseKey } = await makeLicense(ownStaff, { maxActivations: 1 });
    const passOn = async (machineId: string) => {
      expect((await validateOn(ownDesktop, licenseKey, machineId)).code).toBe('VALID');
      return (await ownDesktop.ok(calls.releaseSeat, { body: { licenseKey, machineId } })).code;
    };
    expect([await passOn('a'), await passOn('b'), await passOn('c')].at(-1)).toBe('TOO_MANY_RELEASES');
    own.clock.advance(days(1));
    expect(await passOn('c')).toBe('RELEASED');
    expect([await passOn('c'), await passOn('c')].at(-1)).toBe('TOO_MANY_RELEASES');
    expect(await entriesOf(own, 'activation.release_refused')).toHaveLength(2);

    // what a process wrote of the machine whose clock was ahead
    own.clock.advance(days(3));
    await ownStaff.ok(calls.releaseSeat, { body: { licenseKey, machineId: 'c' } });
    await validateOn(ownDesktop, licenseKey, 'c');
    own.clock.advance(-days(3));
    expect(await passOn('c')).toBe('TOO_MANY_RELEASES');
    expect(await entriesOf(own, 'activation.release_refused')).toHaveLength(2);
  });

  test('is given back no more often while one of two processes has begun the next day', async () => {
    const clock = movableClock(new Date(server.clock.now().getTime() + days(1)));
    const ahead = await startTwin(server, { clock });
    const { licenseKey } = await makeLicense(staff, { maxActivations: 1 });
    const codes: string[] = [];
    // the process that gave the seat back knows it at once, the other one within a moment
    let knowing = desktop;
    for (const api of [ahead.api(apiKey), desktop, ahead.api(apiKey), desktop]) {
      await validateOn(knowing, licenseKey, 'm');
      codes.push((await api.ok(calls.releaseSeat, { body: { licenseKey, machineId: 'm' } })).code);
      knowing = api;
    }
    expect(codes).toEqual(['RELEASED', 'RELEASED', 'TOO_MANY_RELEASES', 'TOO_MANY_RELEASES']);
  });

  test('a valid answer may be relied on for the grace, at most until the license ends; a refusal not at all', async () => {
    const soon = new Date(server.clock.now().getTime() + days(3)).toISOString();
    const license = await makeLicense(staff, { validUntil: soon, maxActivations: 1 });
    const read = async (machineId: string) =>
      JSON.parse((await validateOn(desktop, license, machineId)).signed) as ValidationResult;
    expect(await read('relying')).toMatchObject({ valid: true, expiresAt: soon });
    const refused = await read('another');
    expect([refused.valid, refused.expiresAt]).toEqual([false, refused.issuedAt]);
  });
});

describe('staff', () => {
  test('reactivate a machine by validating it, and it is marked as theirs', async () => {
    const license = await makeLicense(staff);
    const { activation } = await validateOn(desktop, license, 'm');
    await deactivate(staff, activation!);
    expect(await validateOn(staff, license, 'm')).toMatchObject({
      code: 'VALID',
      activation: { status: 'active', activationType: 'manual' },
    });
    expect((await validateOn(desktop, license, 'm')).code).toBe('VALID');
    const entries = await auditOf(server, activation!.activationId);
    expect(entries.at(-1)).toMatchObject({
      event_type: 'activation.reactivated',
      before: { status: 'deactivated' },
      after: { status: 'active' },
      user_role: 'super_admin',
    });
  });

  test('cannot reactivate past the last seat, nor on a revoked license', async () => {
    const license = await makeLicense(staff, { maxActivations: 1 });
    const { activation } = await validateOn(desktop, license, 'm');
    await deactivate(staff, activation!);
    await validateOn(desktop, license, 'other');
    expect(await validateOn(staff, license, 'm')).toMatchObject({
      valid: false,
      code: 'TOO_MANY_ACTIVATIONS',
      message: validationMessages.TOO_MANY_ACTIVATIONS,
    });
    await revoke(staff, license);
    expect((await validateOn(staff, license, 'm')).code).toBe('REVOKED');
  });

  test('deactivate a machine only under its own id and only once', async () => {
    const license = await makeLicense(staff);
    const { activation } = await validateOn(desktop, license, 'm');
    const call = (machineId: string) =>
      staff.call(activations.deactivate, {
        params: { activationId: activation!.activationId },
        body: { machineId },
      });
    expect((await call('another')).status).toBe(404);
    expect((await call('')).body.error).toBe('machineId: Machine ID is required');
    expect((await call('m')).body.data).toMatchObject({ status: 'deactivated', machineId: 'm' });
    expect((await call('m')).body).toMatchObject({ code: 'WRONG_STATE', error: 'Machine is not active.' });
    expect(await licenseOf(license.licenseId)).toMatchObject({ currentActivations: 0 });
  });
});

test.each([
  [{ machineId: '' }, 'machineId: Machine ID is required'],
  [{ machineId: undefined }, 'machineId'],
  [{ machineId: 'x'.repeat(257) }, 'machineId: Must be at most 256 characters'],
  [{ machineId: 'a\0b' }, 'machineId: Contains characters that are not text'],
  [{ licenseKey: undefined }, 'licenseKey'],
  [{ licenseKey: 7 }, 'licenseKey'],
  [{ nonce: 'x'.repeat(129) }, 'nonce: Must be at most 128 characters'],
  [{ color: 'red' }, 'color: Unknown field'],
])('a request with %j is refused, naming the field, and nothing is recorded', async (fields, sentence) => {
  const { licenseKey } = await makeLicense(staff);
  const answer = await desktop.call(calls.validate, {
    body: { licenseKey, machineId: 'refused', ...fields } as never,
  });
  expect(answer.status).toBe(400);
  expect(answer.body.error).toContain(sentence);
});

test('each license of all these tests counts the seats on it, and no other', async () => {
  const { rows } = await server.pool.query(
    `select license_key, current_activations from licenses l where current_activations <> (
       select count(*) from activations a where a.license_id = l.license_id and a.status = 'active')`,
  );
  expect(rows).toEqual([]);
});
