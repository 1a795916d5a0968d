import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Platform } from '../../../contract/builds.ts';
import { approvals } from '../../../contract/approvals.ts';
import { releases, type Release } from '../../../contract/releases.ts';
import { rollouts } from '../../../contract/rollouts.ts';
import { makeApiKey, makeRelease } from '../../../tests/factories.ts';
import {
  approveAs,
  asked,
  attempt,
  doing,
  pauseByGuard,
  requireApproval,
  type Doing,
} from '../../../tests/approving.ts';
import { checkedTime, hours, startTestServer } from '../../../tests/harness.ts';
import { stepRollouts } from '../rollouts/index.ts';
import { planOf } from '../../../tests/plan-of.ts';

const server = await startTestServer();
const one = server.api((await server.signInAs('binary_manager')).byCookie);
const other = server.api((await server.signInAs('binary_manager')).byCookie);

const at = ({ id }: Pick<Release, 'id'>) => ({ params: { releaseId: id } });
const get = (release: Release) => one.ok(releases.get, at(release));
const update = (release: Release, body: object): Doing => doing(releases.update, { ...at(release), body });
const resume = (release: Release): Doing => doing(releases.resume, at(release));
const pause = (release: Release): Doing => doing(releases.pause, { ...at(release), body: { reason: 'x' } });
const soon = () => new Date(server.clock.now().getTime() + hours(1)).toISOString();
const codeOf = async (what: Doing) => (await attempt(one, what)).body.code ?? 'made';

describe('where beta requires approvals and stable does not', () => {
  beforeAll(() => requireApproval(one, other, 'beta'));
  afterAll(() => requireApproval(one, other, 'beta', false));

  test('a release of stable needs one, since the machines of beta receive it too', async () => {
    const stable = await makeRelease(server, { isDraft: true });
    expect(await codeOf(update(stable, { isDraft: false }))).toBe('NEEDS_APPROVAL');
    const beta = await makeRelease(server, { isDraft: true, channel: 'beta' });
    expect(await codeOf(update(beta, { isDraft: false, channel: 'stable' }))).toBe('NEEDS_APPROVAL');
    const created = await attempt(
      one,
      doing(releases.createFromUrl, {
        body: {
          version: '7.7.7',
          fileUrl: 'https://example.com/Setup.exe',
          fileSize: 5,
          sha512: 'A'.repeat(86) + '==',
          isDraft: false,
        },
      }),
    );
    expect(created.body.error).toContain('Publishing on the channel stable needs the approval');
  });

  test('a release of alpha needs none', async () => {
    const alpha = await makeRelease(server, { isDraft: true, channel: 'alpha', version: '7.0.0-alpha.1' });
    expect(await codeOf(update(alpha, { isDraft: false }))).toBe('made');
  });

  test('a pause by the guard is not ended by one person who first moves the release', async () => {
    for (const channel of ['stable', 'alpha'] as const) {
      const release = await makeRelease(server, { channel: 'beta', rolloutPercentage: 20 });
      await pauseByGuard(server, release);
      expect(await codeOf(update(release, { channel })), channel).toBe('NEEDS_APPROVAL');
      expect(await codeOf(resume(release)), channel).toBe('NEEDS_APPROVAL');
      expect(await get(release)).toMatchObject({ channel: 'beta', pausedBy: null });
      expect((await get(release)).pausedAt).not.toBeNull();
    }
  });
});

test('a plan that one person set before needs a second one for 100 %, and not where two agreed to it', async () => {
  const toAll = planOf([1, 24], [10, 24], [100]);
  // on platforms of their own: a newer rollout would hide the older ones
  const draft = (platform: Platform) => makeRelease(server, { isDraft: true, platform });
  const publish = (release: Release) => update(release, { isDraft: false, rolloutPlan: toAll });
  const [alone, again] = [await draft('win32'), await draft('darwin')];
  for (const release of [alone, again]) expect(await codeOf(publish(release))).toBe('made');
  await requireApproval(one, other, 'beta');
  const together = await draft('linux');
  await approveAs(other, await asked(one, publish(together)));
  const longer = doing(rollouts.plan, { ...at(again), body: { plan: toAll, startsAt: soon() } });
  await approveAs(other, await asked(one, longer));
  const reached = async () =>
    Promise.all([alone, together, again].map(async (r) => (await get(r)).rolloutPercentage));
  const step = async () => {
    server.clock.advance(hours(25));
    await stepRollouts(server.context, checkedTime(server));
    return reached();
  };
  expect([await step(), await step(), await step()]).toEqual([
    [10, 10, 10],
    [10, 100, 100],
    [10, 100, 100],
  ]);
  expect(await one.ok(rollouts.progress, at(alone))).toMatchObject({ stepNeedsApproval: true });
  const widen = doing(rollouts.widen, { ...at(alone), body: { percentage: 100 } });
  await approveAs(other, await asked(one, widen));
  expect(await reached()).toEqual([100, 100, 100]);
  expect(await one.ok(rollouts.progress, at(alone))).toMatchObject({ stepNeedsApproval: false });
  await requireApproval(one, other, 'beta', false);
});

describe('where stable requires approvals', () => {
  beforeAll(() => requireApproval(one, other, 'stable'));

  test('who publishes a release again is told that one person ended a pause by the guard elsewhere', async () => {
    const release = await makeRelease(server, { rolloutPercentage: 20 });
    await pauseByGuard(server, release);
    await one.ok(releases.withdraw, { ...at(release), body: { reason: 'x' } });
    const early = await asked(one, update(release, { isActive: true }));
    expect(early.what).toBe('activate at 20 %');
    for (const change of [
      update(release, { channel: 'alpha' }),
      update(release, { isActive: true }),
      resume(release),
      pause(release),
      resume(release),
      update(release, { isActive: false }),
      update(release, { channel: 'stable' }),
    ])
      expect(await codeOf(change)).toBe('made');
    // what was asked before no longer holds
    const shown = (await other.ok(approvals.list)).find(({ id }) => id === early.id);
    expect(shown).toMatchObject({
      isOutdated: true,
      since: [{}, {}, { what: 'rollout resumed at 20 %' }, {}, {}, {}, {}],
    });
    expect((await approveAs(other, early)).body.code).toBe('EDIT_CONFLICT');
    const late = await asked(one, update(release, { isActive: true }));
    expect(late.what).toMatch(
      /^activate at 20 %, after \S+@lanyard.test alone ended a pause by the service: 6 of 60 installs failed$/,
    );
    expect((await approveAs(other, late)).status).toBe(200);
  });

  test('and is not told of a pause that two people ended', async () => {
    const release = await makeRelease(server, { rolloutPercentage: 20 });
    await pauseByGuard(server, release);
    await server.db
      .updateTable('releases')
      .set({ failures_claimed_at: server.clock.now() })
      .where('release_id', '=', release.id)
      .execute();
    const request = await asked(one, resume(release));
    expect(request.changes.map(({ field }) => field)).toEqual(['pausedAt', 'pauseReason']);
    await approveAs(other, request);
    expect(await codeOf(update(release, { isActive: false }))).toBe('made');
    expect((await asked(one, update(release, { isActive: true }))).what).toBe('activate at 20 %');
  });

  test.each([
    ['withdrawn', (r: Release) => doing(releases.withdraw, { ...at(r), body: { reason: 'x' } })],
    ['inactive', (r: Release) => update(r, { isActive: false })],
    ['a draft again', (r: Release) => update(r, { isDraft: true })],
  ])('a pause by the guard is ended by nobody while the release is %s', async (_, takeOut) => {
    const release = await makeRelease(server, { rolloutPercentage: 20 });
    await pauseByGuard(server, release);
    expect(await codeOf(takeOut(release))).toBe('made');
    expect(await codeOf(resume(release))).toBe('WRONG_STATE');
    expect((await get(release)).pausedAt).not.toBeNull();
  });

  test('one person does not end the deferrals and windows of hospitals with a security update', async () => {
    const release = await makeRelease(server);
    const urgent = update(release, { security: true });
    expect(await codeOf(urgent)).toBe('NEEDS_APPROVAL');
    const request = await asked(one, urgent);
    expect(request.what).toBe('mark as a security update, which update policies do not hold back');
    expect((await approveAs(other, request)).status).toBe(200);
    expect(await get(release)).toMatchObject({ security: true });
    expect(await codeOf(update(release, { security: false }))).toBe('made');
  });

  test('nor by raising the minimum supported version; lowering it holds back more', async () => {
    const release = await makeRelease(server);
    const set = (minimumSupportedVersion: string | null) => update(release, { minimumSupportedVersion });
    expect(await codeOf(set('1.0.0'))).toBe('NEEDS_APPROVAL');
    await approveAs(other, await asked(one, set('1.0.0')));
    const request = await asked(one, set('1.10.0'));
    expect(request.what).toBe(
      'raise the minimum supported version to 1.10.0: update policies of machines below it do not hold the release back',
    );
    await approveAs(other, request);
    expect(await codeOf(set('1.9.0'))).toBe('made');
    expect(await codeOf(set(null))).toBe('made');
  });

  test('one person does not offer it to older machines by lowering the minimum version', async () => {
    const release = await makeRelease(server, { minimumAppVersion: '1.10.0' });
    const set = (minimumAppVersion: string | null) => update(release, { minimumAppVersion });
    expect(await codeOf(set('1.9.0'))).toBe('NEEDS_APPROVAL');
    expect(await codeOf(set(null))).toBe('NEEDS_APPROVAL');
    const request = await asked(one, set('1.9.0'));
    expect(request.what).toBe(
      'lower the minimum version from 1.10.0 to 1.9.0: machines below 1.10.0 are offered the release too',
    );
    expect((await approveAs(other, request)).status).toBe(200);
    expect(await codeOf(set(''))).toBe('NEEDS_APPROVAL');
    expect(await codeOf(set('1.11.0'))).toBe('made');
    const draft = await makeRelease(server, { isDraft: true, minimumAppVersion: '1.10.0' });
    expect(await codeOf(update(draft, { minimumAppVersion: null }))).toBe('made');
  });

  test('one person does not make the guard accept more failures, and makes it accept fewer', async () => {
    const release = await makeRelease(server, { acceptableFailures: 5 });
    const set = (acceptableFailures: number | null) => update(release, { acceptableFailures });
    expect(await codeOf(set(5.1))).toBe('NEEDS_APPROVAL');
    expect(await codeOf(set(null))).toBe('NEEDS_APPROVAL');
    expect(await codeOf(set(2))).toBe('made');
    expect(await codeOf(set(5))).toBe('NEEDS_APPROVAL');
    const request = await asked(one, set(null));
    expect(request.what).toBe(
      'change the acceptable failures from 2 % to those of the previous full release: the guard may pause the rollout later',
    );
    expect((await approveAs(other, request)).status).toBe(200);
    // an earlier release may show as little as 0.5 %
    expect(await codeOf(set(0.6))).toBe('NEEDS_APPROVAL');
    expect(await codeOf(set(0.5))).toBe('made');
    expect(await codeOf(set(50))).toBe('NEEDS_APPROVAL');
  });

  test('nor by an API key, by many calls at once, or while a pause is asked for', async () => {
    const release = await makeRelease(server, { acceptableFailures: 5 });
    const set = update(release, { acceptableFailures: 50 });
    const admin = server.api(await server.signInAs('super_admin'));
    const key = server.api(await makeApiKey(admin, { scopes: ['releases'] }));
    expect((await attempt(key, set)).status).toBe(403);
    const answers = await Promise.all([
      ...Array.from({ length: 10 }, () => codeOf(set)),
      codeOf(pause(release)),
      codeOf(update(release, { acceptableFailures: 4 })),
      codeOf(update(release, { acceptableFailures: 50, releaseNotes: 'New' })),
    ]);
    expect(answers.map((code) => code === 'NEEDS_APPROVAL').filter((isRefused) => !isRefused)).toHaveLength(
      2,
    );
    expect((await get(release)).acceptableFailures).toBe(4);
  });

  test('who publishes it again is told what one person set meanwhile, for the guard and past the policies', async () => {
    const release = await makeRelease(server, { rolloutPercentage: 20, minimumAppVersion: '1.10.0' });
    const alone = {
      minimumAppVersion: '',
      acceptableFailures: 50,
      security: true,
      minimumSupportedVersion: '1.0.0',
    };
    for (const body of [{ isActive: false }, alone]) expect(await codeOf(update(release, body))).toBe('made');
    expect((await asked(one, update(release, { isActive: true }))).what).toBe(
      'activate at 20 %, with 50 % acceptable failures, as a security update, which update policies do not hold back' +
        ', with the minimum supported version 1.0.0: update policies of machines below it do not hold the release back' +
        ', and drop the minimum version 1.10.0: machines below 1.10.0 are offered the release too',
    );
  });

  test('a draft is marked by one person', async () => {
    const release = await makeRelease(server, { isDraft: true });
    expect(await codeOf(update(release, { security: true, minimumSupportedVersion: '1.0.0' }))).toBe('made');
  });
});
