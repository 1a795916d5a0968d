import { v7 as uuidv7 } from 'uuid';
import { afterAll, describe, expect, test } from 'vitest';
import { machines as machineCalls } from '../../../contract/machines.ts';
import { releases as releaseCalls, type Release } from '../../../contract/releases.ts';
import { updateEvents, type ReportedEvent } from '../../../contract/update-events.ts';
import { enrollOn, makeApiKey, makeLicense, makeRelease, unique } from '../../../tests/factories.ts';
import { eventually, startTestServer, type Identity } from '../../../tests/harness.ts';
import type { Budgets } from '../../budgets.ts';
import { systemCaller, type EnrolledMachine } from '../../caller.ts';
import type { WriteBehind } from '../../db/write-behind.ts';
import { pauseFailing } from './failure-guard.ts';
import { machineHashOf } from './machine-id.ts';
import { createUpdateRecorder } from './update-recorder.ts';

/* What a machine proves with its token against what an API key claims of it. */

const server = await startTestServer();
const staff = server.api((await server.signInAs('super_admin')).byCookie);
const key = await makeApiKey(staff, { scopes: ['updates'] });
const license = await makeLicense(staff, { maxActivations: 100 });
afterAll(() => server.close());

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
  const feed = await fetch(`${server.url}/api/v1/updates/electron/win32/x64/latest.yml`, { headers });
  expect(await feed.text()).toContain(`version: "${release.version}"`);
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

async function takeAndReport(release: Release, machine: Machine, outcome: Outcome): Promise<void> {
  await take(release, machine);
  await eventually(async () => ((await stateOf(release, machine))?.completed_at ?? null) !== null);
  await report(release, machine, outcome);
}

const isPaused = async ({ id }: Release) => {
  await pauseFailing(server.context, [id]);
  return (await staff.ok(releaseCalls.get, { params: { releaseId: id } })).pausedAt !== null;
};
const guarded = () => makeRelease(server, { acceptableFailures: 1 });

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
    for (let i = 0; i < 3; i++) await takeAndReport(release, claimed(), 'install_error');
    expect(await isPaused(release)).toBe(true);
  });

  test('counts claimed machines where the only proven one was offered nothing', async () => {
    const release = await guarded();
    const machine = await proven();
    await report(release, machine, 'install_complete');
    await eventually(async () => (await stateOf(release, machine))?.proven === true);
    for (let i = 0; i < 3; i++) await takeAndReport(release, claimed(), 'install_error');
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
  const actor = {
    kind: 'machine',
    activationId: 'a',
    licenseId: 'l',
    licenseKey: license.licenseKey,
    machineId: 'ct-1',
    scopes: [],
  } satisfies EnrolledMachine;
  const machineHash = machineHashOf('ct-1');
  recorder.observe({ ...systemCaller(server.clock.now()), actor }, { type: 'check', machineHash });
  expect(kept).toMatchObject([{ happening: { machineHash, proven: true } }]);
  expect(JSON.stringify(kept)).not.toContain(license.licenseKey);
});
