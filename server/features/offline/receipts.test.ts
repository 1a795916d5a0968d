import { describe, expect, test } from 'vitest';
import { utcMinute } from '../../../contract/activations.ts';
import { credentials } from '../../../contract/credentials.ts';
import { licenses } from '../../../contract/licenses.ts';
import { validation } from '../../../contract/validation.ts';
import {
  enrollOn,
  makeLicense,
  makeMachineKey,
  signedEnrollment,
  validateOn,
} from '../../../tests/factories.ts';
import { checkedTime, days, minutes, movableClock, numbers, startTwin } from '../../../tests/harness.ts';
import { issueTo, offlineMachine } from '../../../tests/offline-machine.ts';
import { inLanes } from '../../../tests/in-lanes.ts';
import { at, flipped, statuses, startOfflineRoom } from '../../../tests/offline-room.ts';
import { housekeep } from '../../jobs/housekeeping.ts';
import { machineHashOf } from '../../machine-hash.ts';

const room = await startOfflineRoom();
const { server, twin, byCookie, staff, desktops, seatOf, giveBack, deactivate, eventsOf, wait } = room;

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
    await inLanes(flipped(machine.receipt(license, fileId)), async (receipt) => {
      const answer = await giveBack(license, receipt);
      expect([400, 422], `${receipt}: ${answer.text}`).toContain(answer.status);
    });
    expect((await seatOf(license, machine)).status).toBe('active');
  });

  describe('that was made before the machine validated online', () => {
    const made = () => ({ iat: Math.floor(server.clock.now().getTime() / 1000) });

    test.each(['with its token', 'with an API key', 'as it enrolls'])(
      'does not free the seat: %s',
      async (how) => {
        const license = await makeLicense(staff[0], { maxActivations: 1 });
        const { licenseKey } = license;
        const key = makeMachineKey();
        const machine = offlineMachine('not really gone', key);
        const { headers } = await enrollOn(server, license, machine.machineId, { key });
        const { fileId } = await issueTo(staff[0], license, machine);
        await wait(days(1));
        const receipt = machine.receipt(license, fileId, made());
        await wait(minutes(2));
        const body = { licenseKey, machineId: machine.machineId };
        // at the other process, and entered at once: nothing waits for records that are written later
        if (how === 'with its token') await twin.api({ headers }).ok(validation.validate, { body });
        else if (how === 'with an API key') await desktops[1].ok(validation.validate, { body });
        else
          await twin
            .api()
            .ok(credentials.enroll, { body: signedEnrollment(licenseKey, machine.machineId, key) });
        expect(await giveBack(license, receipt)).toMatchObject({
          status: 409,
          body: {
            error:
              `This machine validated online after it made this receipt, ${utcMinute(server.clock.now().toISOString())}, ` +
              'so it may still run. Deactivate it by force once its program has stopped.',
          },
        });
        expect((await validateOn(desktops[0], license, 'other')).code).toBe('TOO_MANY_ACTIVATIONS');
      },
    );

    test.each([
      ['minutes', minutes(10)],
      ['days', days(3)],
    ])('for a file that a process issued whose clock is %s ahead does not free it', async (_, aheadMs) => {
      const ahead = await startTwin(server, {
        clock: movableClock(new Date(server.clock.now().getTime() + aheadMs)),
      });
      const license = await makeLicense(staff[0], { maxActivations: 1 });
      const machine = offlineMachine('issued ahead');
      const { fileId } = await issueTo(ahead.api(byCookie), license, machine);
      await ahead.close();
      await wait(minutes(1));
      const receipt = machine.receipt(license, fileId, made());
      await wait(minutes(4));
      await validateOn(desktops[0], license, machine.machineId);
      await wait(minutes(1));
      expect((await giveBack(license, receipt)).status).toBe(409);
      expect((await validateOn(desktops[0], license, 'second')).code).toBe('TOO_MANY_ACTIVATIONS');
    });

    test('nor once the times of that clock are set right', async () => {
      const license = await makeLicense(staff[0], { maxActivations: 1 });
      const machine = offlineMachine('set right');
      const { fileId } = await issueTo(staff[0], license, machine);
      await server.db
        .updateTable('license_files')
        .set({ issued_at: new Date(server.clock.now().getTime() + days(3)) })
        .where('file_id', '=', fileId)
        .execute();
      await wait(minutes(1));
      const receipt = machine.receipt(license, fileId, made());
      await housekeep(server.context, checkedTime(server));
      await wait(minutes(4));
      await validateOn(desktops[0], license, machine.machineId);
      await wait(days(4));
      expect((await giveBack(license, receipt)).status).toBe(409);
    });

    test('by a clock that runs ahead or behind does not free it either', async () => {
      const license = await makeLicense(staff[0]);
      const machine = offlineMachine('wrong clock');
      const { fileId } = await issueTo(staff[0], license, machine);
      await wait(days(1));
      await validateOn(desktops[0], license, machine.machineId);
      for (const iat of [made().iat + 3600, 0])
        expect((await giveBack(license, machine.receipt(license, fileId, { iat }))).status).toBe(409);
    });

    test('frees it, of a machine whose clock stands in 2000, if it did not validate since its file', async () => {
      const license = await makeLicense(staff[0]);
      const machine = offlineMachine('no battery');
      await issueTo(staff[0], license, machine);
      await wait(days(1));
      await validateOn(desktops[0], license, machine.machineId);
      await wait(days(1));
      const { fileId } = await issueTo(staff[0], license, machine);
      const receipt = machine.receipt(license, fileId, { iat: 946_684_800 });
      expect((await giveBack(license, receipt)).status).toBe(200);
    });

    test('frees it if the machine made it since, staff only looked, or others validated', async () => {
      const [license, elsewhere] = [await makeLicense(staff[0]), await makeLicense(staff[0])];
      const [machine, neighbor] = [offlineMachine('gone'), offlineMachine('neighbor')];
      await issueTo(staff[0], license, neighbor);
      await issueTo(staff[0], elsewhere, machine);
      const { fileId } = await issueTo(staff[0], license, machine);
      await wait(days(1));
      await validateOn(desktops[0], license, machine.machineId);
      await wait(minutes(2));
      const receipt = machine.receipt(license, fileId, made());
      await wait(minutes(2));
      await validateOn(staff[0], license, machine.machineId);
      await validateOn(desktops[0], license, neighbor.machineId);
      await validateOn(desktops[0], elsewhere, machine.machineId);
      expect((await giveBack(license, receipt)).status).toBe(200);
    });
  });

  test('that was entered after its file had ended does not free the seat that the machine took online', async () => {
    const license = await makeLicense(staff[0], { maxActivations: 1 });
    const machine = offlineMachine('late');
    const { fileId } = await issueTo(staff[0], license, machine, 1);
    await wait(days(16));
    expect((await validateOn(desktops[0], license, machine.machineId)).code).toBe('VALID');
    expect(await giveBack(license, machine.receipt(license, fileId))).toMatchObject({
      status: 409,
      body: { error: 'The license file of this machine holds no seat any more.' },
    });
    expect((await validateOn(desktops[0], license, 'other')).code).toBe('TOO_MANY_ACTIVATIONS');
  });

  test.each(['a receipt', 'force'])('binds the machine no more to its key: after %s', async (how) => {
    const license = await makeLicense(staff[0]);
    const { licenseKey } = license;
    const [machine, neighbor] = [offlineMachine('reinstalled'), offlineMachine('not reinstalled')];
    await issueTo(staff[0], license, neighbor);
    const older = await issueTo(staff[0], license, machine, 300);
    await wait(minutes(1));
    const { fileId } = await issueTo(staff[0], license, machine, 20);
    const enroll = ({ machineId } = machine) =>
      server.api().call(credentials.enroll, {
        body: signedEnrollment(licenseKey, machineId, makeMachineKey()),
      });
    expect((await enroll()).status).toBe(409);
    if (how === 'force') {
      await deactivate(license, machine, true);
      await validateOn(staff[0], license, machine.machineId);
      // the older file still works, so the seat is held as long as it does
      expect((await seatOf(license, machine)).offlineUntil).toBe(older.endsAt);
    } else await giveBack(license, machine.receipt(license, fileId));
    expect((await enroll()).body.data).toMatchObject({ code: 'VALID' });
    expect((await enroll(neighbor)).status).toBe(409);
  });
});
