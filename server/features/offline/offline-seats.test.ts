import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { utcMinute } from '../../../contract/activations.ts';
import { clock } from '../../../contract/clock.ts';
import { credentials, type EnrollmentInput } from '../../../contract/credentials.ts';
import { licenses } from '../../../contract/licenses.ts';
import { validation } from '../../../contract/validation.ts';
import {
  enrollOn,
  machinesOf,
  makeLicense,
  makeMachineKey,
  revoke,
  signedEnrollment,
  validateOn,
} from '../../../tests/factories.ts';
import { auditOf, checkedTime, days, hours, minutes, numbers } from '../../../tests/harness.ts';
import { issueTo, offlineMachine } from '../../../tests/offline-machine.ts';
import { at, startOfflineRoom } from '../../../tests/offline-room.ts';
import { housekeep } from '../../jobs/housekeeping.ts';
import { endOfflineSeats } from './end-seats.ts';

const room = await startOfflineRoom();
const { server, twin, staff, desktops, seatOf, issue, giveBack, release, deactivate, eventsOf, wait } = room;

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

  test('is not said to be held by the refusal that frees it', async () => {
    const license = await makeLicense(staff[0]);
    const { endsAt } = await issueTo(staff[0], license, offlineMachine('revoked'), 1);
    await revoke(staff[0], license);
    await wait(Date.parse(endsAt) - server.clock.now().getTime());
    const { signed } = await validateOn(desktops[0], license, 'revoked');
    expect(JSON.parse(signed)).toMatchObject({ code: 'REVOKED', activation: { status: 'released' } });
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

  test('is taken again by the key of the ended file, beside the limit of new machines', async () => {
    const license = await makeLicense(staff[0], { maxActivations: 6 });
    const ids = numbers(3).map((i) => `back ${i}`);
    const machineKeys = ids.map(() => makeMachineKey());
    for (const [i, id] of ids.entries())
      await issueTo(staff[0], license, offlineMachine(id, machineKeys[i]), 1);
    await wait(days(16));
    await endOfflineSeats(server.context, checkedTime(server));
    const enroll = async (body: EnrollmentInput) =>
      (await server.api().call(credentials.enroll, { body })).status;
    for (const i of numbers(3)) await enrollOn(server, license, `new ${i}`);
    for (const [i, id] of ids.entries()) {
      const signed = signedEnrollment(license.licenseKey, id, machineKeys[i]!);
      const { signature: _, ...unsigned } = signed;
      expect(await enroll(signedEnrollment(license.licenseKey, id, makeMachineKey()))).toBe(429);
      expect(await enroll(unsigned)).toBe(429);
      expect(await enroll(signed)).toBe(200);
    }
    expect((await machinesOf(staff[0], license)).filter(({ enrolledAt }) => enrolledAt)).toHaveLength(6);
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
    expect((await deactivate(license, machine)).status).toBe(409);
    expect(await release(license, machine)).toMatchObject({ code: 'OFFLINE_SEAT' });
    await expect(enrollOn(server, license, machine.machineId)).rejects.toThrow();
    await deactivate(license, machine, true);
    await validateOn(staff[0], license, machine.machineId);
    server.clock.advance(-days(100));
    expect(await seatOf(license, machine)).toMatchObject({ status: 'active', activationType: 'offline' });
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

  test('stays with its machine after the file if that validates online, whoever waits for it', async () => {
    const license = await makeLicense(staff[0], { maxActivations: 1 });
    const key = makeMachineKey();
    const machine = offlineMachine('online again', key);
    const enrolled = await enrollOn(server, license, machine.machineId, { key });
    const online = server.api(enrolled);
    const { fileId, endsAt } = await issueTo(staff[0], license, machine, 1);
    await wait(days(10));
    expect(await validateOn(online, license, machine.machineId)).toMatchObject({ expiresAt: endsAt });
    await wait(days(4));
    await validateOn(online, license, machine.machineId);
    await wait(days(1) + 1);
    // before any job, and with it
    const [codes] = await Promise.all([
      Promise.all(
        numbers(10).map(async (i) => (await validateOn(desktops[i % 2]!, license, `waits ${i}`)).code),
      ),
      ...[server, twin].map(({ context }) => endOfflineSeats(context, checkedTime(server))),
    ]);
    expect(codes).toEqual(Array(10).fill('TOO_MANY_ACTIVATIONS'));
    expect(await validateOn(online, license, machine.machineId)).toMatchObject({
      code: 'VALID',
      activation: { activationType: 'automatic' },
    });
    expect(await eventsOf(enrolled.activationId)).toEqual([
      'activation.created',
      'activation.enrolled',
      'activation.offline_issued',
      'activation.offline_ended',
    ]);
    // a receipt of that file frees no seat that is held online; the machine itself does
    expect((await giveBack(license, machine.receipt(license, fileId))).status).toBe(409);
    expect((await staff[0].ok(licenses.get, at(license))).currentActivations).toBe(1);
    await online.ok(validation.releaseSeat, {
      body: { licenseKey: license.licenseKey, machineId: machine.machineId },
    });
    expect((await validateOn(desktops[0], license, 'next')).code).toBe('VALID');
  });

  test('is free after the file if no answer to its machine counts until then', async () => {
    const license = await makeLicense(staff[0], { maxActivations: 1 });
    const machine = offlineMachine('went offline');
    const { activation } = await issueTo(staff[0], license, machine, 5);
    await wait(days(4.9));
    await validateOn(desktops[0], license, machine.machineId);
    await wait(days(14.2));
    expect((await validateOn(desktops[1], license, 'next')).code).toBe('VALID');
    expect(await seatOf(license, machine)).toMatchObject({ status: 'released' });
    expect((await eventsOf(activation.activationId)).at(-1)).toBe('activation.offline_ended');
  });

  test('is held a day beyond each answer where it ended in an outage, and is an online one once the clock is confirmed', async () => {
    const license = await makeLicense(staff[0], { maxActivations: 1 });
    const machine = offlineMachine('outage');
    await issueTo(staff[0], license, machine, 1);
    await wait(days(14.5));
    server.clock.advance(days(2.5));
    const { issuedAt, ...answer } = await validateOn(desktops[0], license, machine.machineId);
    const expiresAt = new Date(Date.parse(issuedAt) + days(1)).toISOString();
    expect(answer).toMatchObject({ code: 'VALID', expiresAt });
    expect((await seatOf(license, machine)).offlineUntil).toBe(expiresAt);
    // nobody else gets the seat of a machine that is online again
    await staff[0].ok(clock.confirm, { body: { now: server.clock.now().toISOString() } });
    for (const ms of [hours(20), hours(4.1)]) {
      await wait(ms);
      expect((await validateOn(desktops[1], license, 'other')).code).toBe('TOO_MANY_ACTIVATIONS');
    }
    expect(await seatOf(license, machine)).toMatchObject({ activationType: 'automatic', offlineUntil: null });
  });

  test.each([undefined, true])(
    'is held no longer because a process whose clock was ahead answered; taken by force: %s',
    async (force) => {
      const license = await makeLicense(staff[0]);
      const machine = offlineMachine('answered ahead');
      const { endsAt } = await issueTo(staff[0], license, machine, 30);
      await wait(1);
      server.clock.advance(days(100));
      expect((await validateOn(desktops[0], license, machine.machineId)).code).toBe('VALID');
      if (force) expect(await deactivate(license, machine, force)).toMatchObject({ status: 200 });
      server.clock.advance(-days(100));
      await housekeep(server.context, checkedTime(server));
      expect((await seatOf(license, machine)).offlineUntil).toBe(endsAt);
    },
  );

  test('is freed although that of another license cannot be', async () => {
    const [stuck, other] = [await makeLicense(staff[0]), await makeLicense(staff[0])];
    const machine = offlineMachine('ended');
    for (const license of [stuck, other]) await issueTo(staff[0], license, machine, 1);
    await wait(days(15));
    await server.pool.query(`
      create function refuse() returns trigger language plpgsql as $$ begin raise 'refused'; end $$;
      create trigger refuse before update on activations for each row
        when (old.license_id = '${stuck.licenseId}') execute function refuse()`);
    await expect(endOfflineSeats(server.context, checkedTime(server))).rejects.toThrow('refused');
    expect((await seatOf(other, machine)).status).not.toBe('active');
    await server.pool.query('drop trigger refuse on activations');
    expect(await endOfflineSeats(server.context, checkedTime(server))).toBe(1);
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
      kind: fc.constantFrom(
        'issue',
        'issue',
        'validate',
        'validate',
        'release',
        'give up',
        'receipt',
        'job',
        'wait',
      ),
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
          const receipts = machines.map(() => '');
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
            if (kind === 'give up' && files[m]) {
              const iat = Math.floor(server.clock.now().getTime() / 1000);
              receipts[m] = machine.receipt(license, files[m], { iat });
              [files[m], runsUntil[m]] = ['', 0];
              // it validates again at a later time: at the same, its clock could not tell which came first
              await wait(minutes(2));
            }
            if (kind === 'receipt' && receipts[m]) await giveBack(license, receipts[m], staff[process]);
            const now = server.clock.now().getTime();
            expect(runsUntil.filter((end) => end > now).length).toBeLessThanOrEqual(maxActivations);
          }
        },
      ),
      { numRuns: 30, seed: 11, endOnFailure: true },
    );
  });
});
