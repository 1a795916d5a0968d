import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { activations, utcMinute } from '../../../contract/activations.ts';
import { credentials } from '../../../contract/credentials.ts';
import { licenses, type License } from '../../../contract/licenses.ts';
import { offline } from '../../../contract/offline.ts';
import { validation } from '../../../contract/validation.ts';
import {
  enrollOn,
  machinesOf,
  makeApiKey,
  makeLicense,
  makeMachineKey,
  revoke,
  signedEnrollment,
  validateOn,
  type MachineKey,
} from '../../../tests/factories.ts';
import {
  auditOf,
  checkedTime,
  days,
  hours,
  movableClock,
  startTestServer,
  startTwin,
  type Api,
} from '../../../tests/harness.ts';
import { claimsOf, issueTo, offlineMachine, type OfflineMachine } from '../../../tests/offline-machine.ts';
import { systemChange } from '../../change.ts';
import { checkClock } from '../../checked-time.ts';
import { machineHashOf } from '../update-events/index.ts';
import { endOfflineSeats } from './end-seats.ts';

const server = await startTestServer({ config: { sessionIdleMs: days(9999), sessionMaxMs: days(9999) } });
const twin = await startTwin(server);
// by cookie: an access token would end while the tests let months pass
const { byCookie } = await server.signInAs('super_admin');
const key = await makeApiKey(server.api(byCookie));
/** Staff and a desktop, each at the first process and at the second. */
const staff: [Api, Api] = [server.api(byCookie), twin.api(byCookie)];
const desktops: [Api, Api] = [server.api(key), twin.api(key)];
afterAll(async () => {
  await twin.close();
  await server.close();
});

const numbers = (n: number) => Array.from({ length: n }, (_, i) => i);
const at = ({ licenseId }: Pick<License, 'licenseId'>) => ({ params: { id: licenseId } });
const statuses = (answers: { status: number }[]) => answers.map(({ status }) => status).toSorted();

const issue = (license: License, machine: OfflineMachine, who = staff[0]) =>
  who.call(offline.issue, { ...at(license), body: { request: machine.request(license) } });
const giveBack = (license: License, receipt: string, who = staff[0]) =>
  who.call(offline.giveBack, { ...at(license), body: { receipt } });
const release = (license: License, { machineId }: OfflineMachine, who = desktops[0]) =>
  who.ok(validation.releaseSeat, { body: { licenseKey: license.licenseKey, machineId } });
const seatOf = async (license: License, { machineId }: OfflineMachine) =>
  (await machinesOf(staff[0], license)).find((machine) => machine.machineId === machineId)!;
const deactivate = async (license: License, machine: OfflineMachine, force?: boolean) => {
  const { activationId } = await seatOf(license, machine);
  const body = { machineId: machine.machineId, ...(force === undefined ? {} : { force }) };
  return staff[0].call(activations.deactivate, { params: { activationId }, body });
};
const eventsOf = async (activationId: string) =>
  (await auditOf(server, activationId)).map((entry) => entry.event_type);

/** Lets time pass as the service sees it: in steps that no job takes for a jump of the clock. */
async function wait(ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= hours(20)) {
    server.clock.advance(Math.min(left, hours(20)));
    await systemChange(server.context, server.clock.now(), ({ tx, now }) => checkClock(tx, now));
  }
}

/** For every character of a text: the text with one bit of it changed, another one each time. */
const flipped = (text: string) =>
  numbers(text.length).map((i) => {
    const character = String.fromCharCode(text.charCodeAt(i) ^ (1 << (i % 7)));
    return text.slice(0, i) + character + text.slice(i + 1);
  });

/** Runs many, some at once. */
async function each<T>(all: T[], work: (one: T) => Promise<void>): Promise<void> {
  const queue = [...all];
  await Promise.all(
    numbers(12).map(async () => {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) await work(next);
    }),
  );
}

describe('a license file', () => {
  test('names license, machine, key, modules and its times, and its seat counts like any other', async () => {
    const license = await makeLicense(staff[0]);
    const machine = offlineMachine('reading room 3');
    const facts = {
      hostname: 'rr3',
      platform: 'linux',
      architecture: 'x64',
      osVersion: '6.1',
      appVersion: '4.2.0',
    };
    const { licenseFile, fileName, fileId, endsAt, activation } = await staff[0].ok(offline.issue, {
      ...at(license),
      body: { request: machine.request(license, facts), days: 30 },
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
      { ...activation, enrolledAt: null, clonedAt: null },
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

  test('is not issued where a validation would be refused', async () => {
    const machine = offlineMachine('late');
    const full = await makeLicense(staff[0], { maxActivations: 1 });
    await validateOn(desktops[0], full, 'other');
    const revoked = await makeLicense(staff[0]);
    await revoke(staff[0], revoked);
    const over = await makeLicense(staff[0], { validUntil: '2026-11-01T00:00:00Z' });
    const cases: [License, string][] = [
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
  test('with one byte changed is refused, whichever', async () => {
    const license = await makeLicense(staff[0]);
    const request = offlineMachine('bits').request(license);
    await each(flipped(request), async (changed) => {
      const answer = await staff[0].call(offline.issue, { ...at(license), body: { request: changed } });
      expect([400, 422], `${changed}: ${answer.text}`).toContain(answer.status);
    });
    expect(await machinesOf(staff[0], license)).toEqual([]);
  });

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
      ['hello', 'request: Is incomplete, or was changed after the machine signed it'],
    ];
    for (const [request, error] of errors)
      expect(await staff[0].call(offline.issue, { ...at(license), body: { request } })).toMatchObject({
        status: 422,
        body: { code: 'RULE_VIOLATED', error },
      });
  });
});

describe('a receipt', () => {
  test('frees the seat once, in any number of calls at once, by two processes', async () => {
    const license = await makeLicense(staff[0], { maxActivations: 2 });
    const [machine, stays] = [offlineMachine('leaves'), offlineMachine('stays')];
    await issueTo(staff[0], license, stays);
    const { fileId, activation } = await issueTo(staff[0], license, machine);
    const receipt = machine.receipt(license, fileId);
    const answers = await Promise.all(numbers(20).map((i) => giveBack(license, receipt, staff[i % 2])));
    expect(statuses(answers)).toEqual([200, ...numbers(19).map(() => 409)]);
    const [won] = answers.filter(({ status }) => status === 200);
    expect(won!.body.data).toMatchObject({ status: 'released', offlineUntil: null });
    const [lost] = answers.filter(({ status }) => status === 409);
    expect(lost!.body.error).toBe('This receipt was entered already, 2026-11-20 09:30 UTC.');
    expect((await staff[0].ok(licenses.get, at(license))).currentActivations).toBe(1);
    expect(await eventsOf(activation.activationId)).toEqual([
      'activation.created',
      'activation.offline_issued',
      'activation.offline_returned',
    ]);
    expect((await validateOn(desktops[0], license, 'next')).code).toBe('VALID');
  });

  test('used before does not free the seat that the machine took since', async () => {
    const license = await makeLicense(staff[0]);
    const machine = offlineMachine('returns');
    const { fileId } = await issueTo(staff[0], license, machine);
    const receipt = machine.receipt(license, fileId);
    expect((await giveBack(license, receipt)).status).toBe(200);
    const second = await issueTo(staff[0], license, machine);
    expect(await giveBack(license, receipt)).toMatchObject({
      status: 422,
      body: { error: 'receipt: Is for an older license file. The machine must give back its newest one' },
    });
    expect(await seatOf(license, machine)).toMatchObject({ status: 'active', offlineUntil: second.endsAt });
    expect((await giveBack(license, machine.receipt(license, second.fileId))).status).toBe(200);
  });

  test('for the newest file counts, also if the process that issued it has a slower clock', async () => {
    const slow = await startTwin(server, {
      clock: movableClock(new Date(server.clock.now().getTime() - 2000)),
    });
    const license = await makeLicense(staff[0]);
    const machine = offlineMachine('clocks');
    const first = await issueTo(staff[0], license, machine);
    const second = await issueTo(slow.api(byCookie), license, machine);
    await slow.close();
    expect((await giveBack(license, machine.receipt(license, first.fileId))).status).toBe(422);
    expect((await giveBack(license, machine.receipt(license, second.fileId))).status).toBe(200);
  });

  test('of another machine, license or file is refused, whoever signed it', async () => {
    const [license, foreign] = [await makeLicense(staff[0]), await makeLicense(staff[0])];
    const [machine, other] = [offlineMachine('mine'), offlineMachine('theirs')];
    const { fileId } = await issueTo(staff[0], license, machine);
    const theirs = await issueTo(staff[0], license, other);
    const elsewhere = await issueTo(staff[0], foreign, machine);
    const altered = 'receipt: Is incomplete, or was changed after the machine signed it';
    const unknown = 'receipt: Is for no license file of this license';
    const errors: [string, string][] = [
      [other.receipt(license, fileId), altered],
      [other.receipt(license, fileId, { machine: machineHashOf(machine.machineId) }), altered],
      [machine.receipt(license, theirs.fileId), altered],
      [
        machine.receipt(license, fileId, { machine: machineHashOf('theirs') }),
        'receipt: Is of another machine',
      ],
      [machine.receipt(license, elsewhere.fileId), unknown],
      [machine.receipt(foreign, fileId), 'receipt: Is for another license'],
      [machine.receipt(license, '0198f0a2-5b1c-7c3e-9a51-2f6d0b8e4c12'), unknown],
      [machine.request(license), 'receipt: This is a request for a license file, not a return receipt'],
    ];
    for (const [receipt, error] of errors)
      expect(await giveBack(license, receipt)).toMatchObject({ status: 422, body: { error } });
    for (const one of [machine, other]) expect((await seatOf(license, one)).status).toBe('active');
  });

  test('with one byte changed is refused, whichever', async () => {
    const license = await makeLicense(staff[0]);
    const machine = offlineMachine('receipt bits');
    const { fileId } = await issueTo(staff[0], license, machine);
    await each(flipped(machine.receipt(license, fileId)), async (receipt) => {
      const answer = await giveBack(license, receipt);
      expect([400, 422], `${receipt}: ${answer.text}`).toContain(answer.status);
    });
    expect((await seatOf(license, machine)).status).toBe('active');
  });
});

describe('the seat of an offline machine', () => {
  test('50 calls at once by two processes on the last one: one gets a file', async () => {
    const license = await makeLicense(staff[0], { maxActivations: 3 });
    await issueTo(staff[0], license, offlineMachine('early 1'));
    await validateOn(desktops[0], license, 'early 2');
    const answers = await Promise.all(
      numbers(50).map(async (i) => {
        if (i % 3 === 0) return (await validateOn(desktops[i % 2]!, license, `online ${i}`)).valid;
        return (await issue(license, offlineMachine(`late ${i}`), staff[i % 2])).status === 200;
      }),
    );
    expect(answers.filter(Boolean)).toHaveLength(1);
    const seats = (await machinesOf(staff[0], license)).filter((machine) => machine.status === 'active');
    expect(seats).toHaveLength(3);
    expect((await staff[0].ok(licenses.get, at(license))).currentActivations).toBe(3);
  });

  test('is not freed by the machine itself without a receipt', async () => {
    const license = await makeLicense(staff[0], { maxActivations: 1 });
    const machine = offlineMachine('keeps');
    await issueTo(staff[0], license, machine);
    for (const who of [desktops[0], staff[0]])
      expect(await release(license, machine, who)).toMatchObject({ released: false, code: 'OFFLINE_SEAT' });
    expect((await validateOn(desktops[0], license, 'other')).code).toBe('TOO_MANY_ACTIVATIONS');
  });

  test('is freed by staff only by force, and the audit log says what that means', async () => {
    const license = await makeLicense(staff[0], { maxActivations: 1 });
    const machine = offlineMachine('forced');
    const { activation, endsAt } = await issueTo(staff[0], license, machine, 30);
    for (const force of [undefined, false])
      expect(await deactivate(license, machine, force)).toMatchObject({
        status: 409,
        body: {
          code: 'WRONG_STATE',
          error: expect.stringMatching(
            /^This machine may run offline until 20\d\d-\d\d-\d\d \d\d:\d\d UTC\./,
          ),
        },
      });
    const forced = await deactivate(license, machine, true);
    expect(forced.body.data).toMatchObject({ status: 'deactivated', offlineUntil: endsAt });
    const [entry] = (await auditOf(server, activation.activationId)).slice(-1);
    expect(entry).toMatchObject({
      event_type: 'activation.deactivated',
      changes_summary: expect.stringContaining(
        `deactivated by force: its license file is valid until ${utcMinute(endsAt)}`,
      ),
    });
    expect((await validateOn(desktops[0], license, 'other')).code).toBe('VALID');
    // and when staff bring it back, its file still counts
    await deactivate(license, offlineMachine('other'));
    await validateOn(staff[0], license, machine.machineId);
    expect(await seatOf(license, machine)).toMatchObject({ activationType: 'offline', offlineUntil: endsAt });
    expect((await deactivate(license, machine)).status).toBe(409);
  });

  test('lasts as long as the first file when a shorter one follows a deactivation by force', async () => {
    const license = await makeLicense(staff[0]);
    const machine = offlineMachine('forced and back');
    const { endsAt } = await issueTo(staff[0], license, machine, 90);
    await deactivate(license, machine, true);
    const { activation } = await issueTo(staff[0], license, machine, 1);
    expect(activation.offlineUntil).toBe(endsAt);
  });

  test('force changes nothing for a machine with a network', async () => {
    const license = await makeLicense(staff[0]);
    const { activation } = await validateOn(desktops[0], license, 'online');
    expect((await deactivate(license, offlineMachine('online'), true)).status).toBe(200);
    const [entry] = (await auditOf(server, activation!.activationId)).slice(-1);
    expect(entry!.changes_summary).toMatch(/: deactivated$/);
  });

  test('is free when the file and its grace have ended, for the call that needs it, before any job', async () => {
    const license = await makeLicense(staff[0], { maxActivations: 1 });
    const machine = offlineMachine('ends');
    const { activation, endsAt } = await issueTo(staff[0], license, machine, 1);
    await wait(Date.parse(endsAt) - server.clock.now().getTime() - 1);
    expect((await validateOn(desktops[0], license, 'next')).code).toBe('TOO_MANY_ACTIVATIONS');
    expect((await issue(license, offlineMachine('next'))).status).toBe(409);
    await wait(1);
    const codes = await Promise.all(
      numbers(10).map(async (i) => (await validateOn(desktops[i % 2]!, license, `next ${i}`)).code),
    );
    expect(codes.filter((code) => code === 'VALID')).toHaveLength(1);
    expect(await seatOf(license, machine)).toMatchObject({ status: 'released' });
    expect((await eventsOf(activation.activationId)).at(-1)).toBe('activation.offline_ended');
    expect((await staff[0].ok(licenses.get, at(license))).currentActivations).toBe(1);
  });

  test('is freed once by the job, in two processes at once', async () => {
    const license = await makeLicense(staff[0], { maxActivations: 2 });
    const machine = offlineMachine('job');
    const { activation } = await issueTo(staff[0], license, machine, 1);
    await validateOn(desktops[0], license, 'online');
    await wait(days(15));
    const freed = await Promise.all(
      [server, twin].map(({ context }) => endOfflineSeats(context, checkedTime(server))),
    );
    expect(freed.toSorted().at(-1)).toBeGreaterThanOrEqual(1);
    expect(await eventsOf(activation.activationId)).toEqual([
      'activation.created',
      'activation.offline_issued',
      'activation.offline_ended',
    ]);
    expect((await staff[0].ok(licenses.get, at(license))).currentActivations).toBe(1);
    expect(
      await giveBack(license, machine.receipt(license, (await issueTo(staff[0], license, machine)).fileId)),
    ).toMatchObject({ status: 200 });
  });

  test('is not given away because a clock jumped', async () => {
    const license = await makeLicense(staff[0], { maxActivations: 1 });
    const machine = offlineMachine('jump');
    await issueTo(staff[0], license, machine, 30);
    await wait(1);
    server.clock.advance(days(100));
    expect((await validateOn(desktops[0], license, 'next')).code).toBe('TOO_MANY_ACTIVATIONS');
    expect((await issue(license, offlineMachine('next'))).status).toBe(409);
    expect(await endOfflineSeats(server.context, checkedTime(server))).toBe(0);
    server.clock.advance(-days(100));
    expect((await seatOf(license, machine)).status).toBe('active');
  });

  test('a machine that validates as well relies on no answer beyond the end of its seat', async () => {
    const license = await makeLicense(staff[0], { maxActivations: 1 });
    const machine = offlineMachine('both');
    const { endsAt } = await issueTo(staff[0], license, machine, 1);
    await wait(days(10));
    const answer = await validateOn(desktops[0], license, machine.machineId);
    expect(answer).toMatchObject({ code: 'VALID', expiresAt: endsAt });
    await wait(days(5));
    const after = await validateOn(desktops[0], license, machine.machineId);
    expect(after).toMatchObject({ code: 'VALID', activation: { activationType: 'automatic' } });
    expect(after.expiresAt).toBe(new Date(server.clock.now().getTime() + days(14)).toISOString());
  });

  test('lasts at least as long as the last answer that the machine got before', async () => {
    const validUntil = new Date(server.clock.now().getTime() + days(10.5)).toISOString();
    const license = await makeLicense(staff[0], { validUntil });
    const machine = offlineMachine('before');
    const { expiresAt } = await validateOn(desktops[0], license, machine.machineId);
    const { activation } = await issueTo(staff[0], license, machine, 1);
    expect(expiresAt).toBe(validUntil);
    expect(activation.offlineUntil).toBe(validUntil);
  });

  test('no more machines may run than there are seats, whatever happens in which order (property)', async () => {
    const operation = fc.record({
      kind: fc.constantFrom('issue', 'issue', 'validate', 'validate', 'release', 'receipt', 'job', 'wait'),
      machine: fc.nat(3),
      process: fc.constantFrom(0, 1),
      hours: fc.constantFrom(1, 20, 24 * 7, 24 * 15),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(operation, { minLength: 8, maxLength: 25 }),
        fc.integer({ min: 1, max: 2 }),
        async (operations, maxActivations) => {
          const license = await makeLicense(staff[0], { maxActivations });
          const machines = numbers(4).map((i) => offlineMachine(`m-${i}`));
          /** Until when each may run: what an honest program keeps. */
          const runsUntil = machines.map(() => 0);
          const files = machines.map(() => '');
          for (const { kind, machine: m, process, hours: n } of operations) {
            const machine = machines[m]!;
            if (kind === 'wait') await wait(hours(n));
            if (kind === 'job') await endOfflineSeats(server.context, checkedTime(server));
            if (kind === 'issue') {
              const answer = await issue(license, machine, staff[process]);
              if (answer.status !== 200) continue;
              files[m] = answer.body.data.fileId;
              runsUntil[m] = Math.max(runsUntil[m]!, Date.parse(answer.body.data.endsAt));
            }
            if (kind === 'validate') {
              const { valid, expiresAt } = await validateOn(desktops[process], license, machine.machineId);
              // a refusal ends earlier answers, but not the license file of a machine that never hears of it
              if (valid) runsUntil[m] = Math.max(runsUntil[m]!, Date.parse(expiresAt));
            }
            if (kind === 'release' && (await release(license, machine)).released) runsUntil[m] = 0;
            if (kind === 'receipt' && files[m]) {
              const answer = await giveBack(license, machine.receipt(license, files[m]), staff[process]);
              if (answer.status === 200) runsUntil[m] = 0;
            }
            const now = server.clock.now().getTime();
            expect(runsUntil.filter((end) => end > now).length).toBeLessThanOrEqual(maxActivations);
          }
        },
      ),
      { numRuns: 30, seed: 11, endOnFailure: true },
    );
  });
});
