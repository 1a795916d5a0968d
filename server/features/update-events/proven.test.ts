import { v7 as uuidv7 } from 'uuid';
import { describe, expect, test } from 'vitest';
import { licenses } from '../../../contract/licenses.ts';
import { machines as machineCalls } from '../../../contract/machines.ts';
import { releases as releaseCalls, type Release } from '../../../contract/releases.ts';
import { updateEvents, type ReportedEvent } from '../../../contract/update-events.ts';
import {
  askFeed,
  deactivate,
  enrollOn,
  machinesOf,
  makeApiKey,
  makeCustomer,
  makeLicense,
  makeRelease,
  unique,
} from '../../../tests/factories.ts';
import {
  auditOf,
  eventually,
  numbers,
  startTestServer,
  startTwin,
  type Identity,
} from '../../../tests/harness.ts';
import { openHolder } from '../../../tests/waiting-calls.ts';
import type { Budgets } from '../../budgets.ts';
import { systemCaller, type EnrolledMachine } from '../../caller.ts';
import type { WriteBehind } from '../../db/write-behind.ts';
import { pauseFailing } from './failure-guard.ts';
import { machineHashOf } from '../../machine-hash.ts';
import { createUpdateRecorder } from './update-recorder.ts';

/* What a machine proves with its token against what an API key claims of it. */

const server = await startTestServer();
const staff = server.api((await server.signInAs('super_admin')).byCookie);
const key = await makeApiKey(staff, { scopes: ['updates'] });
const license = await makeLicense(staff, { maxActivations: 100 });

type Outcome = ReportedEvent['eventType'];
type Machine = { machineId: string; as: Identity };

const claimed = (machineId = unique('Claimed')): Machine => ({
  machineId,
  as: { headers: { ...key.headers, 'x-machine-id': machineId } },
});
async function proven(machineId = unique('Proven')): Promise<Machine> {
  const { headers } = await enrollOn(server, license, machineId);
  return { machineId, as: { headers } };
}

const stateOf = (release: Release, { machineId }: Machine) =>
  server.db
    .selectFrom('downloads')
    .selectAll()
    .where('release_id', '=', release.id)
    .where('machine_hash', '=', Buffer.from(machineHashOf(machineId), 'hex'))
    .executeTakeFirst();

/** The machine asks the feed and fetches what it is offered. */
async function take(release: Release, { as }: Machine): Promise<void> {
  const headers = { ...as.headers, 'x-app-version': '0.0.1' };
  expect((await askFeed(server.api({ headers }))).text).toContain(`version: "${release.version}"`);
  const file = await fetch(server.url + new URL(release.fileUrl).pathname, { headers });
  await file.arrayBuffer();
}

/** Reports an outcome, and waits until the events of the machine are written. */
async function report(release: Release, { machineId, as }: Machine, eventType: Outcome): Promise<void> {
  const { id: releaseId, version: toVersion } = release;
  const eventId = uuidv7();
  const event = { eventId, machineId, eventType, releaseId, toVersion, fromVersion: toVersion };
  await server.api(as).ok(updateEvents.report, { body: { events: [event] } });
  await eventually(async () => {
    const { updateHistory } = await staff.ok(machineCalls.get, { params: { id: machineId } });
    return updateHistory.some(({ id }) => id === eventId);
  });
}

async function takeWhole(release: Release, machine: Machine): Promise<void> {
  await take(release, machine);
  await eventually(async () => ((await stateOf(release, machine))?.completed_at ?? null) !== null);
}

async function takeAndReport(release: Release, machine: Machine, outcome: Outcome): Promise<void> {
  await takeWhole(release, machine);
  await report(release, machine, outcome);
}

/** All take it before the first fails, since the guard may pause it at the second. */
async function threeClaimedFail(release: Release): Promise<void> {
  const machines = numbers(3).map(() => claimed());
  for (const machine of machines) await takeWhole(release, machine);
  for (const machine of machines) await report(release, machine, 'install_error');
}

const isPaused = async ({ id }: Release) => {
  await pauseFailing(server.context, [id]);
  return (await staff.ok(releaseCalls.get, { params: { releaseId: id } })).pausedAt !== null;
};
const guarded = () => makeRelease(server, { acceptableFailures: 1 });

describe('a machine id that is enrolled for another customer', () => {
  /** What the service records of the machine with its token. */
  const recordOf = async ({ as }: Machine, eventType: Outcome, release: Release) => {
    const { id: releaseId, version: toVersion } = release;
    const events = [{ eventId: uuidv7(), eventType, releaseId, toVersion, osVersion: 'told' }];
    await server.api(as).ok(updateEvents.report, { body: { events } });
  };
  const page = (id: string) => staff.ok(machineCalls.get, { params: { id } });

  test('speaks for no machine of that customer, and has a record of its own', async () => {
    const release = await guarded();
    const first = await proven();
    await takeAndReport(release, first, 'install_complete');
    const before = await page(first.machineId);
    const other = await makeLicense(staff);
    const { headers, activationId } = await enrollOn(server, other, first.machineId);
    const second: Machine = { machineId: first.machineId, as: { headers } };
    const listed = (await machinesOf(staff, other))[0]!;
    expect(listed.ownRecord).toMatch(/^[0-9A-Z]{12}$/);
    await take(release, second);
    await recordOf(second, 'install_error', release);
    await eventually(async () => (await page(listed.ownRecord!)).totals.events === 2);
    expect((await page(listed.ownRecord!)).machine).toMatchObject({
      displayId: listed.ownRecord,
      osVersion: 'told',
      totalDownloads: 1,
      provenAt: server.clock.now().toISOString(),
    });
    const after = await page(first.machineId);
    const { machine, updateHistory, downloadHistory } = before;
    expect(after).toMatchObject({ machine, updateHistory, downloadHistory });
    expect(after.totals).toEqual({ ...before.totals, activations: 2 });
    expect(await stateOf(release, first)).toMatchObject({ proven: true, install_failed: false });
    // staff see both on the page of the first, and on that of the second only that
    expect(after.activations.map((one) => one.ownRecord)).toEqual([null, listed.ownRecord]);
    expect((await page(listed.ownRecord!)).activations).toMatchObject([{ activationId }]);
    expect((await auditOf(server, activationId)).at(-1)!.changes_summary).toMatch(
      /: enrolled; its machine id is that of a machine of another customer, so it has a record of its own$/,
    );
  });

  test('counts for the guard as a proven machine of its own', async () => {
    const release = await guarded();
    const machine = await proven();
    await takeAndReport(release, machine, 'install_complete');
    for (let i = 0; i < 2; i++) {
      const { headers } = await enrollOn(server, await makeLicense(staff), machine.machineId);
      await take(release, { machineId: machine.machineId, as: { headers } });
    }
    const ofRelease = () =>
      server.db.selectFrom('downloads').selectAll().where('release_id', '=', release.id).execute();
    await eventually(async () =>
      expect((await ofRelease()).map((one) => one.proven)).toEqual([true, true, true]),
    );
  });

  test('is given to one of two customers that enroll it at once, on two processes', async () => {
    const machineId = unique('Contested');
    const twin = await startTwin(server);
    const made = await Promise.all(numbers(8).map(() => makeLicense(staff)));
    await Promise.all(made.map((one, i) => enrollOn(i % 2 ? twin : server, one, machineId)));
    const records = (await page(machineId)).activations.map((one) => one.ownRecord);
    expect(records.filter((one) => one === null)).toHaveLength(1);
    expect(new Set(records).size).toBe(8);
  });

  test('gets another record where a transfer took the first one to another customer', async () => {
    const machineId = unique('Transferred');
    await proven(machineId);
    const given = await makeLicense(staff);
    await enrollOn(server, given, machineId);
    const { customerId } = await makeCustomer(staff);
    await staff.ok(licenses.transfer, { params: { id: given.licenseId }, body: { customerId } });
    await enrollOn(server, await makeLicense(staff, { customerId: given.customerId }), machineId);
    const records = (await page(machineId)).activations.map((one) => one.ownRecord);
    expect(new Set(records).size).toBe(3);
  });

  test('is told apart by who owns the license when the machine gets its token', async () => {
    const machineId = unique('Owner');
    const given = await makeLicense(staff);
    await enrollOn(server, await makeLicense(staff, { customerId: given.customerId }), machineId);
    const { customerId } = await makeCustomer(staff);
    const holder = await openHolder(server);
    await holder.whileWaiting(
      ['select from licenses where license_id = $1 for update', given.licenseId],
      () => enrollOn(server, given, machineId),
      () =>
        holder.query(
          'update licenses set customer_id = $1 where license_id = $2',
          customerId,
          given.licenseId,
        ),
    );
    expect((await machinesOf(staff, given))[0]!.ownRecord).not.toBeNull();
  });

  test('is that of the machine on another license of the same customer, and after the other seat ended', async () => {
    const machineId = unique('Moves');
    const trial = await makeLicense(staff);
    const first = await enrollOn(server, trial, machineId);
    await enrollOn(server, await makeLicense(staff, { customerId: trial.customerId }), machineId);
    for (const { activationId } of (await page(machineId)).activations)
      await deactivate(staff, { activationId, machineId });
    await enrollOn(server, await makeLicense(staff), machineId);
    const { activations } = await page(first.machineId);
    expect(activations.map((one) => one.ownRecord)).toEqual([null, null, null]);
  });
});

describe('the failure guard', () => {
  test('counts only proven machines once there is one, so that claims cannot pause a rollout', async () => {
    const release = await guarded();
    const first = await proven();
    await takeAndReport(release, first, 'install_complete');
    for (let i = 0; i < 4; i++) await takeAndReport(release, claimed(), 'install_error');
    expect(await isPaused(release)).toBe(false);
    await takeAndReport(release, await proven(), 'install_error');
    expect(await isPaused(release)).toBe(false);
    await takeAndReport(release, await proven(), 'install_error');
    expect(await isPaused(release)).toBe(true);
  });

  test('counts claimed machines where none is proven', async () => {
    const release = await guarded();
    await threeClaimedFail(release);
    expect(await isPaused(release)).toBe(true);
  });

  test('counts claimed machines where the only proven one was offered nothing', async () => {
    const release = await guarded();
    const machine = await proven();
    await report(release, machine, 'install_complete');
    await eventually(async () => (await stateOf(release, machine))?.proven === true);
    await threeClaimedFail(release);
    expect(await isPaused(release)).toBe(true);
  });
});

describe('an outcome', () => {
  test.each(['install_error', 'rollback', 'install_complete'] as const)(
    '%s that an API key claims does not change that of a proven machine',
    async (outcome) => {
      const release = await guarded();
      const machine = await proven();
      await takeAndReport(
        release,
        machine,
        outcome === 'install_complete' ? 'install_error' : 'install_complete',
      );
      const before = await stateOf(release, machine);
      expect(before).toMatchObject({ proven: true });
      server.clock.advance(1000);
      await report(release, claimed(machine.machineId), outcome);
      expect(await stateOf(release, machine)).toEqual(before);
    },
  );

  test('that was claimed before is not that of the machine when it proves itself', async () => {
    const release = await guarded();
    const machine = await proven();
    await takeAndReport(release, claimed(machine.machineId), 'install_error');
    expect(await stateOf(release, machine)).toMatchObject({ proven: false, install_failed: true });
    await take(release, machine);
    await eventually(async () => (await stateOf(release, machine))!.proven);
    expect(await stateOf(release, machine)).toMatchObject({ install_failed: null, installed_at: null });
    await report(release, machine, 'install_complete');
    expect(await stateOf(release, machine)).toMatchObject({ proven: true, install_failed: false });
  });
});

describe('a report of a build with several kinds of file', () => {
  const fetchFile = async ({ fileUrl }: Release, { as }: Machine) => {
    const file = await fetch(server.url + new URL(fileUrl).pathname, as);
    await file.arrayBuffer();
  };
  test.each([
    ['is of the kind that it names, whatever an API key fetched', false],
    ['is of the kind that the machine fetched, whatever an API key fetched', true],
  ])('%s', async (_, fetchesDeb) => {
    const line = { version: fetchesDeb ? '0.3.0' : '0.2.0', platform: 'linux' } as const;
    const named = await makeRelease(server, { ...line, fileKind: 'appimage', fileName: 'App.AppImage' });
    const deb = await makeRelease(server, { ...line, fileKind: 'deb', fileName: 'app.deb' });
    const machine = await proven();
    const hasFetched = (release: Release) =>
      eventually(async () => ((await stateOf(release, machine))?.fetched_at ?? null) !== null);
    if (fetchesDeb) {
      await fetchFile(deb, machine);
      await hasFetched(deb);
    }
    const other = fetchesDeb ? named : deb;
    await fetchFile(other, claimed(machine.machineId));
    await hasFetched(other);
    await report(named, machine, 'install_error');
    const failed = [named, deb].map(async (one) => (await stateOf(one, machine))?.install_failed ?? null);
    expect(await Promise.all(failed)).toEqual(fetchesDeb ? [null, true] : [true, null]);
  });
});

test('the figures of a release say how many of its machines are proven', async () => {
  const release = await makeRelease(server);
  for (const machine of [await proven(), await proven(), claimed()])
    await takeAndReport(release, machine, 'install_complete');
  const { releaseStats } = await staff.ok(releaseCalls.analytics);
  expect(releaseStats.find(({ id }) => id === release.id)).toMatchObject({
    totalDownloads: 3,
    uniqueDownloads: 3,
    provenDownloads: 2,
  });
});

test('what is kept of an event, also in a file, holds no license key of the machine', () => {
  const kept: unknown[] = [];
  const queue = () => ({ add: (row: unknown) => void kept.push(row), flush: async () => undefined });
  const recorder = createUpdateRecorder(server.context, {} as Budgets, { queue } as unknown as WriteBehind);
  const machineHash = machineHashOf('ct-1');
  const actor = {
    kind: 'machine',
    activationId: 'a',
    licenseId: 'l',
    licenseKey: license.licenseKey,
    customerId: license.customerId,
    isLicensed: true,
    machineId: 'ct-1',
    machineHash,
    scopes: [],
  } satisfies EnrolledMachine;
  recorder.observe({ ...systemCaller(server.clock.now()), actor }, { type: 'check', machineHash });
  expect(kept).toMatchObject([{ happening: { machineHash, proven: true } }]);
  expect(JSON.stringify(kept)).not.toContain(license.licenseKey);
});
