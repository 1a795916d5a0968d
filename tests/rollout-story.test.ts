import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { machines as machineCalls } from '../contract/machines.ts';
import { noPolicy, policies, weekdays, type UpdatePolicy } from '../contract/policies.ts';
import { releases, type Release } from '../contract/releases.ts';
import type { RolloutPlan } from '../contract/rollout-plan.ts';
import { rollouts } from '../contract/rollouts.ts';
import { updateEvents } from '../contract/update-events.ts';
import { updates } from '../contract/updates.ts';
import { countOf } from '../server/db/sql.ts';
import { stepRollouts } from '../server/features/rollouts/index.ts';
import { displayIdOf } from '../server/features/update-events/index.ts';
import { machineHashOf } from '../server/machine-hash.ts';
import { inLanes } from './in-lanes.ts';
import { approveAs, asked, attempt, doing, requireApproval } from './approving.ts';
import { enrollOn, makeApiKey, makeCustomer, makeLicense, makeRelease } from './factories.ts';
import {
  addressOf,
  auditOf,
  checkedTime,
  days,
  eventually,
  hours,
  startTestServer,
  type Api,
  type Identity,
} from './harness.ts';
import { planOf } from './plan-of.ts';

/* One incident from its release to its fix, with 2,000 machines. The tests are its chapters, in order. */

// Friday, 09:30 UTC
const server = await startTestServer({
  config: { newMachinesPerKeyHour: 10_000 },
});
const admin = server.api((await server.signInAs('super_admin')).byCookie);
const people = [await server.signInAs('binary_manager'), await server.signInAs('binary_manager')] as const;
const [one, other] = people.map(({ byCookie }) => server.api(byCookie)) as [Api, Api];
const key = await makeApiKey(admin, { scopes: ['updates'] });

// --- the machines ---------------------------------------------------------------------------------------------

type Machine = Identity & { id: string; version: string };
type Offer = { version: string | undefined; url: string; releaseId: string; reason: string | null };

const hospitalSize = 10;
const machines = Array.from({ length: 2000 }, (_, n): Machine => {
  const id = `machine ${n}`;
  return { id, version: '4.1.0', headers: { ...key.headers, 'x-machine-id': id } };
});
const pinned = machines.slice(0, hospitalSize);
const atNight = machines.slice(hospitalSize, 2 * hospitalSize);
const others = machines.slice(2 * hospitalSize);

const params = { platform: 'win32', architecture: 'x64', file: 'latest.yml' } as const;
const feed = server.url + addressOf(updates.electron, { params });

async function check({ headers, version }: Machine): Promise<Offer> {
  const answer = await fetch(feed, { headers: { ...headers, 'x-app-version': version } });
  const text = await answer.text();
  expect(answer.status, text).toBe(200);
  const field = (name: string) => new RegExp(`^ *-? ?${name}: "?([^"\n]*)"?$`, 'm').exec(text)?.[1] ?? '';
  const url = field('url');
  return {
    version: url ? field('version') : undefined,
    url,
    releaseId: field('releaseId'),
    reason: answer.headers.get('x-update-reason'),
  };
}

/** The machines among these that are offered this version. */
async function offered(version: string, some = machines): Promise<Machine[]> {
  const offers = await inLanes(some, check, 32);
  return some.filter((_, n) => offers[n]!.version === version);
}

/** False once the rollout is paused. */
async function fetchFile({ headers }: Machine, url: string): Promise<boolean> {
  const answer = await fetch(server.url + new URL(url, feed).pathname, { headers });
  return answer.status === 200 && (await answer.text()) === 'MZ';
}

/** Checks, fetches the file, and reports the outcome of its installation; false if it is offered nothing. */
async function install(machine: Machine, failed = false): Promise<boolean> {
  const { version, releaseId, url } = await check(machine);
  if (version === undefined || !(await fetchFile(machine, url))) return false;
  const event = {
    eventId: randomUUID(),
    machineId: machine.id,
    eventType: failed ? ('install_error' as const) : ('install_complete' as const),
    fromVersion: machine.version,
    toVersion: version,
    releaseId,
  };
  await server.api(machine).ok(updateEvents.report, { body: { events: [event] } });
  if (!failed) machine.version = version;
  return true;
}

/** How many outcomes of a release are written. */
const outcomes = ({ id }: Release) =>
  countOf(
    server.db.selectFrom('downloads').where('release_id', '=', id).where('installed_at', 'is not', null),
  );

// --- the staff ------------------------------------------------------------------------------------------------

const at = ({ id }: Release) => ({ params: { releaseId: id } });
const get = (release: Release) => one.ok(releases.get, at(release));
const step = async () => {
  await eventually(async () => !(await server.context.reportsWait()));
  return stepRollouts(server.context, checkedTime(server));
};

/** A draft whose rollout begins with the same machines in every run. */
async function draft(version: string): Promise<Release> {
  const release = await makeRelease(server, { version, isDraft: true });
  await server.db
    .updateTable('releases')
    .set({ rollout_salt: version })
    .where('release_id', '=', release.id)
    .execute();
  return release;
}

const publish = (release: Release, rolloutPlan: RolloutPlan) =>
  doing(releases.update, { ...at(release), body: { isDraft: false, rolloutPlan } });

/** A hospital whose machines have tokens, and follow a policy. */
async function hospital(name: string, some: readonly Machine[], policy: Partial<UpdatePolicy>) {
  const { customerId } = await makeCustomer(admin, { name });
  const license = await makeLicense(admin, { customerId, maxActivations: 2 * some.length });
  for (const machine of some) machine.headers = (await enrollOn(server, license, machine.id)).headers;
  await admin.ok(policies.putOfCustomer, {
    params: { id: customerId },
    body: { ...noPolicy, ...policy, tags: [] },
  });
}

const explained = async (machine: Machine, version: string) => {
  const offers = await admin.ok(machineCalls.explain, { params: { id: machineHashOf(machine.id) } });
  return offers.find((offer) => offer.version === version)!;
};

beforeAll(async () => {
  const windows = [{ zone: 'Europe/Berlin', weekdays: [...weekdays], from: '22:00', to: '05:00' }];
  await hospital('St. Pin', pinned, { pin: '4.1.' });
  await hospital('Night Clinic', atNight, { windows });
});

describe('a rollout', () => {
  let broken: Release;
  const tried: { machine: Machine; failed: boolean }[] = [];

  /** Of every 20 installs, 3 fail. */
  const tryOut = async (machine: Machine) => {
    const failed = [6, 12, 19].includes(tried.length % 20);
    if (await install(machine, failed)) tried.push({ machine, failed });
  };
  const isTried = (machine: Machine) => tried.some((outcome) => outcome.machine === machine);

  test('follows a release that failed on no machine', async () => {
    const before = await makeRelease(server, { version: '4.1.0' });
    const late = others.slice(0, 150);
    for (const machine of late) machine.version = '4.0.0';
    await inLanes(late, (machine) => install(machine), 32);
    await eventually(async () => (await outcomes(before)) === late.length);
  });

  test('is published by plan, and reaches 1 % of the machines', async () => {
    broken = await draft('4.2.0');
    const published = await attempt(one, publish(broken, planOf([1, 24], [10, 24], [100])));
    expect(published.status, published.text).toBe(200);
    const first = await offered('4.2.0');
    expect(first.length).toBeGreaterThan(8);
    expect(first.length).toBeLessThan(32);
    for (const machine of first) await tryOut(machine);
    await eventually(async () => (await outcomes(broken)) === tried.length);
    expect(await get(broken)).toMatchObject({ pausedAt: null, rolloutPercentage: 1 });
  });

  test('is paused within 100 installs when a build fails on 15 % of the machines', async () => {
    server.clock.advance(hours(23));
    expect(await step()).toBe(0);
    server.clock.advance(hours(1));
    expect(await step()).toBe(1);
    const second = await offered('4.2.0');
    expect(second.length + tried.length).toBeGreaterThan(150);
    expect(second.length + tried.length).toBeLessThan(250);
    const waiting = second.filter((machine) => !isTried(machine));
    while ((await get(broken)).pausedAt === null && waiting.length > 0) {
      for (const machine of waiting.splice(0, 5)) await tryOut(machine);
      await eventually(async () => (await outcomes(broken)) === tried.length);
    }
    const { pausedBy, pauseReason, rolloutPercentage } = await get(broken);
    expect([pausedBy, rolloutPercentage]).toEqual([null, 10]);
    const installs = Number(/^\d+ of (\d+) /.exec(pauseReason!)![1]);
    expect(installs).toBeLessThanOrEqual(100);
    const failed = tried.slice(0, installs).filter((outcome) => outcome.failed).length;
    expect(pauseReason).toBe(
      `${failed} of ${installs} installs of 4.2.0 for Windows (x64) failed (${((failed / installs) * 100).toFixed(1)} %). ` +
        'Of 4.1.0, the previous full release, 0 of 150 failed (0.0 %).',
    );
    const entry = (await auditOf(server, broken.id)).at(-1)!;
    expect([entry.event_type, entry.user_email]).toEqual(['release.rollout_paused', 'system']);
  });

  test('is offered to no further machine while it is paused, however much time passes', async () => {
    server.clock.advance(days(1));
    expect(await step()).toBe(0);
    expect(await offered('4.2.0')).toEqual([]);
    const early = await one.call(rollouts.widen, { ...at(broken), body: { percentage: 100 } });
    expect([early.status, early.body.error]).toEqual([409, 'The rollout is paused.']);
    const untried = others.find((machine) => !isTried(machine))!;
    expect(await explained(untried, '4.2.0')).toMatchObject({
      offered: false,
      reason: 'PAUSED',
      detail: `Its rollout is paused: ${(await get(broken)).pauseReason!.slice(0, -1)}. No machine is offered it until it is resumed.`,
    });
  });

  test('is withdrawn, with the machines that run it', async () => {
    const running = tried.filter(({ failed }) => !failed).map(({ machine }) => machine);
    const { affectedMachines, affectedTotal } = await one.ok(releases.withdraw, {
      ...at(broken),
      body: { reason: 'Crashes at start' },
    });
    expect(affectedTotal).toBe(running.length);
    const displayIds = running.map(({ id }) => displayIdOf(machineHashOf(id)));
    expect(affectedMachines.map(({ displayId }) => displayId).toSorted()).toEqual(displayIds.toSorted());
    expect(await offered('4.1.0', running)).toEqual([]);
    expect((await explained(running[0]!, '4.2.0')).reason).toBe('INACTIVE');
    expect((await one.call(releases.resume, at(broken))).body.code).toBe('WRONG_STATE');
  });
});

describe('the fixed build', () => {
  let fixed: Release;
  const plan = planOf([5, 24], [50, 24], [100]);

  test('is published by two people', async () => {
    await requireApproval(one, other, 'stable');
    fixed = await draft('4.2.1');
    const request = await asked(one, publish(fixed, plan));
    const alone = await approveAs(one, request);
    expect([alone.status, alone.body.error]).toEqual([
      403,
      'You asked for this yourself: it needs the approval of another person.',
    ]);
    const guessed = await approveAs(other, request, 'not the password');
    expect([guessed.status, guessed.body.code]).toEqual([401, 'WRONG_CREDENTIALS']);
    expect(await offered('4.2.1', others.slice(0, 200))).toEqual([]);
    const approved = await approveAs(other, request);
    expect([approved.status, approved.body.data?.decidedBy], approved.text).toEqual([200, people[1].email]);
    const entry = (await auditOf(server, fixed.id)).at(-1)!;
    expect([entry.user_email, entry.changes_summary]).toEqual([
      people[1].email,
      `4.2.1 for Windows x64 (stable): published with the plan 5 % for 24 h, 50 % for 24 h, 100 % (requested by ${people[0].email})`,
    ]);
  });

  test('reaches all machines but those that their hospitals hold back', async () => {
    let before: Machine[] = [];
    for (const { percentage } of plan) {
      expect((await get(fixed)).rolloutPercentage).toBe(percentage);
      const some = machines.slice(0, percentage === 5 ? 1000 : 500);
      const now = await offered('4.2.1', some);
      const atMost = some.filter((machine) => others.includes(machine)).length;
      expect(Math.abs(now.length / atMost - percentage / 100)).toBeLessThan(percentage === 100 ? 0.01 : 0.05);
      expect(now.filter((machine) => !others.includes(machine))).toEqual([]);
      expect(before.filter((machine) => some.includes(machine) && !now.includes(machine))).toEqual([]);
      before = now;
      server.clock.advance(hours(24));
      expect(await step()).toBe(percentage === 100 ? 0 : 1);
    }
  });

  test('leaves a hospital on its pin, and another until its window, which their pages explain', async () => {
    const [onPin, waiting] = [pinned[0]!, atNight[0]!];
    expect((await inLanes(pinned, check, 32)).map(({ version, reason }) => [version, reason])).toEqual(
      pinned.map(() => [undefined, 'PINNED']),
    );
    expect((await inLanes(atNight, check, 32)).map(({ version, reason }) => [version, reason])).toEqual(
      atNight.map(() => [undefined, 'OUTSIDE_WINDOW']),
    );
    expect(await explained(onPin, '4.2.1')).toMatchObject({
      offered: false,
      reason: 'PINNED',
      detail: 'The policy of St. Pin pins it to 4.1.; this release is outside.',
    });
    expect(await explained(waiting, '4.2.1')).toMatchObject({
      offered: false,
      reason: 'OUTSIDE_WINDOW',
      detail:
        'The policy of Night Clinic allows updates every day 22:00 to 05:00 (Europe/Berlin); at 2026-11-25 09:30 UTC that is closed.',
    });
    server.clock.advance(hours(12));
    expect(await offered('4.2.1', [...pinned, ...atNight])).toEqual(atNight);
    expect((await explained(waiting, '4.2.1')).offered).toBe(true);
    await inLanes(atNight, (machine) => install(machine), 32);
    expect(new Set(atNight.map(({ version }) => version))).toEqual(new Set(['4.2.1']));
    expect(new Set(pinned.map(({ version }) => version))).toEqual(new Set(['4.1.0']));
  });
});
