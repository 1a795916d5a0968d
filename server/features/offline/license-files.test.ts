import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { credentials } from '../../../contract/credentials.ts';
import { licenseRefusal } from '../../../contract/license-state.ts';
import { licenses, type License } from '../../../contract/licenses.ts';
import { offline } from '../../../contract/offline.ts';
import {
  enrollOn,
  machinesOf,
  makeLicense,
  makeMachineKey,
  revoke,
  signedEnrollment,
  softDelete,
  validateOn,
  type MachineKey,
} from '../../../tests/factories.ts';
import { auditOf, days, minutes } from '../../../tests/harness.ts';
import { claimsOf, issueTo, offlineMachine } from '../../../tests/offline-machine.ts';
import { at, startOfflineRoom } from '../../../tests/offline-room.ts';
import { machineHashOf } from '../../machine-hash.ts';

const room = await startOfflineRoom();
const { server, staff, desktops, seatOf, issue, giveBack, deactivate, eventsOf } = room;

describe('a license file', () => {
  test('names license, machine, key, modules and its times, and its seat counts like any other', async () => {
    const license = await makeLicense(staff[0]);
    const machine = offlineMachine('reading room 3');
    // as Swift writes it
    const jti = randomUUID().toUpperCase();
    const facts = {
      hostname: 'rr3',
      platform: 'linux',
      architecture: 'x64',
      osVersion: '6.1',
      appVersion: '4.2.0',
    };
    const { licenseFile, fileName, fileId, endsAt, activation } = await staff[0].ok(offline.issue, {
      ...at(license),
      body: { request: machine.request(license, { ...facts, jti }), days: 30 },
    });
    const iat = Math.floor(server.clock.now().getTime() / 1000);
    const { keyId } = await validateOn(staff[0], 'none', 'm');
    expect(JSON.parse(Buffer.from(licenseFile.split('.')[0]!, 'base64url').toString())).toEqual({
      alg: 'EdDSA',
      typ: 'lanyard-license+jwt',
      kid: keyId,
    });
    expect(claimsOf(licenseFile)).toEqual({
      iss: 'http://localhost:8080',
      sub: license.licenseKey,
      jti: fileId,
      iat,
      nbf: iat,
      exp: iat + 30 * 86_400,
      machine: machineHashOf(machine.machineId),
      key: machine.key,
      type: 'enterprise',
      modules: license.moduleIds,
      grace: 14,
      request: jti,
    });
    expect(endsAt).toBe(new Date((iat + 44 * 86_400) * 1000).toISOString());
    expect(fileName).toBe(`${license.licenseKey.slice(0, 5)}-rr3-${endsAt.slice(0, 10)}.lic`);
    expect(activation).toMatchObject({
      machineId: machine.machineId,
      status: 'active',
      activationType: 'offline',
      offlineUntil: endsAt,
      ...facts,
    });
    expect(await machinesOf(staff[0], license)).toEqual([
      { ...activation, enrolledAt: null, clonedAt: null, ownRecord: null },
    ]);
    expect((await staff[0].ok(licenses.get, at(license))).currentActivations).toBe(1);
    const entries = await auditOf(server, activation.activationId);
    expect(entries.map((entry) => entry.event_type)).toEqual([
      'activation.created',
      'activation.offline_issued',
    ]);
    expect(entries[1]!.changes_summary).toContain(
      `license file ${fileId} issued, valid until 2027-01-03 09:30 UTC`,
    );
  });

  test('never lets the machine run after the license, grace included (property)', async () => {
    const machine = offlineMachine('edge');
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 366 }),
        fc.integer({ min: 1, max: 400 * 86_400_000 }),
        async (wanted, ms) => {
          const validUntil = new Date(server.clock.now().getTime() + 1000 + ms);
          const license = await makeLicense(staff[0], { validUntil: validUntil.toISOString() });
          const { licenseFile, endsAt, activation } = await issueTo(staff[0], license, machine, wanted);
          const { nbf, exp, grace } = claimsOf(licenseFile) as { nbf: number; exp: number; grace: number };
          expect(exp).toBeGreaterThan(nbf);
          expect(exp).toBeLessThanOrEqual(nbf + wanted * 86_400);
          expect((exp + grace * 86_400) * 1000).toBeLessThanOrEqual(validUntil.getTime());
          expect(new Date(endsAt).getTime()).toBe((exp + grace * 86_400) * 1000);
          expect(Date.parse(activation.offlineUntil!)).toBeGreaterThanOrEqual(Date.parse(endsAt));
          expect(Date.parse(activation.offlineUntil!)).toBeLessThanOrEqual(validUntil.getTime());
        },
      ),
      { numRuns: 40, seed: 11 },
    );
  });

  test('the same request again, in any spacing, gives a new file for the same seat', async () => {
    const license = await makeLicense(staff[0], { maxActivations: 1 });
    const machine = offlineMachine('again');
    const request = machine.request(license);
    const pasted = ` ${request.replaceAll(/.{60}/g, '$&\r\n  ')}\n`;
    const first = await staff[0].ok(offline.issue, { ...at(license), body: { request, days: 20 } });
    const second = await staff[1].ok(offline.issue, { ...at(license), body: { request: pasted, days: 2 } });
    expect(second.fileId).not.toBe(first.fileId);
    expect(second.activation.activationId).toBe(first.activation.activationId);
    expect(second.activation.offlineUntil, 'the first file lasts longer').toBe(first.endsAt);
    expect((await staff[0].ok(licenses.get, at(license))).currentActivations).toBe(1);
  });

  test('has a second of its own, so that the machine can tell it from the one before', async () => {
    const license = await makeLicense(staff[0]);
    const machine = offlineMachine('twice in a second');
    const now = Math.floor(server.clock.now().getTime() / 1000);
    const files = [];
    for (const api of [staff[0], staff[1], staff[0]]) files.push(await issueTo(api, license, machine, 10));
    const claims = files.map(({ licenseFile }) => claimsOf(licenseFile) as { iat: number; exp: number });
    expect(claims.map(({ iat }) => iat)).toEqual([now, now + 1, now + 2]);
    expect(claims.map(({ iat, exp }) => exp - iat)).toEqual(Array(3).fill(10 * 86_400));
    expect((await giveBack(license, machine.receipt(license, files[2]!.fileId))).status).toBe(200);
  });

  test('is valid now, also after one that a clock issued which was far ahead', async () => {
    const license = await makeLicense(staff[0]);
    const machine = offlineMachine('issued far ahead');
    const first = await issueTo(staff[0], license, machine);
    await server.db
      .updateTable('license_files')
      .set({ issued_at: new Date(server.clock.now().getTime() + days(300)) })
      .where('file_id', '=', first.fileId)
      .execute();
    const second = await issueTo(staff[0], license, machine);
    const { nbf } = claimsOf(second.licenseFile) as { nbf: number };
    expect(nbf * 1000).toBeLessThanOrEqual(server.clock.now().getTime() + minutes(1));
    expect((await giveBack(license, machine.receipt(license, second.fileId))).status).toBe(200);
  });

  test('is not issued where a validation would be refused', async () => {
    const machine = offlineMachine('late');
    const full = await makeLicense(staff[0], { maxActivations: 1 });
    await validateOn(desktops[0], full, 'other');
    const revoked = await makeLicense(staff[0]);
    await revoke(staff[0], revoked);
    const over = await makeLicense(staff[0], { validUntil: '2026-11-01T00:00:00Z' });
    const early = await makeLicense(staff[0], { validFrom: '2027-01-01T00:00:00Z' });
    const ownerless = await makeLicense(staff[0]);
    await softDelete(staff[0], { customerId: ownerless.customerId });
    const cases: [License, string][] = [
      [early, 'The license is not valid yet.'],
      [ownerless, 'The customer of this license is not active.'],
      [full, 'All activations of this license are in use. Deactivate a machine first.'],
      [revoked, 'The license has been revoked.'],
      [over, 'The license has expired.'],
    ];
    for (const [license, error] of cases) {
      expect(await issue(license, machine)).toMatchObject({
        status: 409,
        body: { code: 'WRONG_STATE', error },
      });
      expect(await seatOf(license, machine)).toBeUndefined();
      // the console disables the button by the rule of the contract
      const shown = await staff[0].ok(licenses.get, at(license));
      const refusal = licenseRefusal.activateOffline(shown, server.clock.now());
      expect(refusal === null, `${error} ${refusal}`).toBe(license === full);
    }
    const unknown = { params: { id: '0198f0a2-5b1c-7c3e-9a51-2f6d0b8e4c12' } };
    expect(
      await staff[0].call(offline.issue, { ...unknown, body: { request: machine.request(full) } }),
    ).toMatchObject({ status: 404 });
  });

  test('brings back a machine that staff deactivated', async () => {
    const license = await makeLicense(staff[0]);
    const machine = offlineMachine('back');
    await validateOn(desktops[0], license, machine.machineId);
    expect((await deactivate(license, machine)).status).toBe(200);
    const { activation } = await issueTo(staff[0], license, machine);
    expect(activation).toMatchObject({ status: 'active', activationType: 'offline' });
    expect(await eventsOf(activation.activationId)).toEqual([
      'activation.created',
      'activation.deactivated',
      'activation.reactivated',
      'activation.offline_issued',
    ]);
  });

  test('is for one key: another computer with the same machine id gets none while the first may run', async () => {
    const license = await makeLicense(staff[0]);
    const [machine, other] = [offlineMachine('twins'), offlineMachine('twins')];
    await issueTo(staff[0], license, machine);
    const refused = await issue(license, other);
    expect(refused).toMatchObject({ status: 409, body: { code: 'WRONG_STATE' } });
    expect(refused.body.error).toMatch(/^This machine has a license file for another key until 2027-/);
    await deactivate(license, machine, true);
    expect((await issue(license, other)).status).toBe(200);
  });
});

describe('the key of a machine that proved itself', () => {
  test('is that of its requests', async () => {
    const license = await makeLicense(staff[0]);
    const { key: proven } = await enrollOn(server, license, 'proven');
    const refused = await issue(license, offlineMachine('proven'));
    expect(refused).toMatchObject({ status: 409, body: { code: 'WRONG_STATE' } });
    expect(refused.body.error).toBe('This machine is enrolled with another key. End its enrollment first.');
    expect((await issue(license, offlineMachine('proven', proven))).status).toBe(200);
  });

  test('cannot be another than that of its license file, or a stranger would enroll in its place', async () => {
    const license = await makeLicense(staff[0]);
    const ours = makeMachineKey();
    const { fileId } = await issueTo(staff[0], license, offlineMachine('proven later', ours));
    const enroll = (own: MachineKey) =>
      server
        .api()
        .call(credentials.enroll, { body: signedEnrollment(license.licenseKey, 'proven later', own) });
    expect(await enroll(makeMachineKey())).toMatchObject({
      status: 409,
      body: { error: 'This machine is enrolled with another key. Ask the vendor to release it.' },
    });
    expect((await enroll(ours)).body.data.machineToken).toMatch(/^lym_/);
    // the receipt ends the token too
    await giveBack(license, offlineMachine('proven later', ours).receipt(license, fileId));
    expect((await seatOf(license, offlineMachine('proven later'))).enrolledAt).toBeNull();
    expect((await enroll(makeMachineKey())).status).toBe(200);
  });
});

describe('a request', () => {
  test('that is cut, doubled, spelled otherwise or without a signature is refused (property)', async () => {
    const license = await makeLicense(staff[0]);
    const machine = offlineMachine('cut');
    const request = machine.request(license);
    const [head, body, tail] = request.split('.') as [string, string, string];
    const none = Buffer.from('{"alg":"none","typ":"lanyard-request+jwt"}').toString('base64url');
    const changed = fc.oneof(
      fc.nat(request.length - 1).map((n) => request.slice(0, n)),
      fc.nat(request.length - 1).map((n) => request.slice(n + 1)),
      fc
        .tuple(fc.nat(request.length), fc.stringMatching(/^[\w.=~-]{1,5}$/))
        .map(([n, more]) => request.slice(0, n) + more + request.slice(n)),
      fc.constantFrom(
        `${none}.${body}.`,
        `${none}.${body}.${tail}`,
        `${head}.${body}`,
        `${head}.${body}.${tail}.${tail}`,
        `${head}.${body}.${tail}==`,
        request.toUpperCase(),
        request.split('.').toReversed().join('.'),
        machine.jws('lanyard-request+jwt', claimsOf(request), { crit: ['exp'], exp: 1 }),
        machine.jws('lanyard-request+jwt', claimsOf(request), { alg: 'HS256' }),
        machine.jws('JWT', claimsOf(request)),
        machine.request(license, { key: 'A'.repeat(43) }),
        machine.request(license, { key: offlineMachine('other').key }),
        machine.request(license, { key: `${machine.key}=` }),
        machine.request(license, { machineId: '' }),
        machine.request(license, { iat: 'now' }),
        machine.request(license, { jti: 'one' }),
      ),
    );
    await fc.assert(
      fc.asyncProperty(changed, async (text) => {
        const answer = await staff[0].call(offline.issue, { ...at(license), body: { request: text } });
        expect([400, 422], `${text}: ${answer.text}`).toContain(answer.status);
      }),
      { numRuns: 300, seed: 11 },
    );
    expect(await machinesOf(staff[0], license)).toEqual([]);
  });

  test('that is another text, or of another license, is named', async () => {
    const [license, other] = [await makeLicense(staff[0]), await makeLicense(staff[0])];
    const machine = offlineMachine('named');
    const { licenseFile, fileId } = await issueTo(staff[0], license, machine);
    const errors: [string, string][] = [
      [licenseFile, 'request: This is a license file, not a request for a license file'],
      [
        machine.receipt(license, fileId),
        'request: This is a return receipt, not a request for a license file',
      ],
      [machine.jws('JWT', {}), 'request: This is something else, not a request for a license file'],
      [machine.request(other), 'request: Is for another license'],
      [
        'hello',
        'request: Is not a request for a license file, or not all of it: copy the whole text again, or choose its file',
      ],
    ];
    for (const [request, error] of errors)
      expect(await staff[0].call(offline.issue, { ...at(license), body: { request } })).toMatchObject({
        status: 422,
        body: { code: 'RULE_VIOLATED', error },
      });
  });
});
