import { createHash, randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { releases as calls, type Release } from '../../../contract/releases.ts';
import { nextStep } from '../../../contract/next-step.ts';
import type { RolloutPlan } from '../../../contract/rollout-plan.ts';
import { rollouts } from '../../../contract/rollouts.ts';
import { makeRelease } from '../../../tests/factories.ts';
import { auditOf, checkedTime, days, hours, startTestServer, startTwin } from '../../../tests/harness.ts';
import { othersIn } from '../../../tests/rows.ts';
import { systemChange } from '../../change.ts';
import { checkClock } from '../../checked-time.ts';
import type { NewRelease } from '../releases/index.ts';
import { pauseFailing } from '../update-events/failure-guard.ts';
import { watchRollouts } from '../update-events/index.ts';
import { stepRollouts } from './steps.ts';
import { planOf } from '../../../tests/plan-of.ts';

const said: string[] = [];
const server = await startTestServer({ config: { logLevel: 'error' }, onLog: (line) => said.push(line) });
const api = server.api((await server.signInAs('binary_manager')).byCookie);

const plan = planOf([1, 24], [10, 48], [100]);
const by = ({ id: releaseId }: Pick<Release, 'id'>) => ({ params: { releaseId } });
const get = (release: Release) => api.ok(calls.get, by(release));
const update = (release: Release, body: object) => api.call(calls.update, { ...by(release), body });
const publish = async (fields: object = {}, build: Partial<NewRelease> = {}) => {
  const draft = await makeRelease(server, { isDraft: true, ...build });
  return api.ok(calls.update, { ...by(draft), body: { isDraft: false, rolloutPlan: plan, ...fields } });
};
const widen = (release: Release, percentage: number, updatedAt?: string) =>
  api.call(rollouts.widen, { ...by(release), body: { percentage, updatedAt } });
const setPlan = (release: Release, steps: RolloutPlan | null, startsAt: string | null = null) =>
  api.call(rollouts.plan, { ...by(release), body: { plan: steps, startsAt } });
const step = () => stepRollouts(server.context, checkedTime(server));
const percentageOf = async (release: Release) => (await get(release)).rolloutPercentage;
const lastEntry = async (release: Release) => (await auditOf(server, release.id)).at(-1)!;
const inDays = (n: number) => new Date(server.clock.now().getTime() + days(n)).toISOString();
/** No plan of an earlier test is due in a later one, or waits for it. */
beforeEach(() => server.db.updateTable('releases').set({ rollout_plan: null, is_active: false }).execute());
/** Builds of different lines: none of them is in front of another. */
const lines = [{}, { platform: 'darwin' }, { architecture: 'arm64' }, { platform: 'linux' }] as const;

describe('a plan', () => {
  test('and a percentage do not replace what a colleague has set since', async () => {
    const release = await publish();
    const cautious = planOf([1, 720], [20]);
    const { updatedAt } = await get(release);
    expect((await setPlan(release, cautious)).status).toBe(200);
    const stale = await api.call(rollouts.plan, { ...by(release), body: { plan, updatedAt } });
    expect(stale).toMatchObject({ status: 409, body: { code: 'EDIT_CONFLICT' } });
    const wide = await api.call(calls.rollout, { ...by(release), body: { percentage: 100, updatedAt } });
    expect(wide).toMatchObject({ status: 409, body: { code: 'EDIT_CONFLICT' } });
    expect(await get(release)).toMatchObject({ rolloutPercentage: 1, rolloutPlan: cautious });
  });

  test('is published with its first step, and each step follows after its hours', async () => {
    const release = await publish();
    expect(release).toMatchObject({ rolloutPercentage: 1, rolloutPlan: plan, stepTaken: 0, startsAt: null });
    expect((await lastEntry(release)).changes_summary).toContain(
      'published with the plan 1 % for 24 h, 10 % for 48 h, 100 %',
    );
    server.clock.advance(hours(24) - 1);
    expect([await step(), await percentageOf(release)]).toEqual([0, 1]);
    server.clock.advance(1);
    expect([await step(), await percentageOf(release)]).toEqual([1, 10]);
    const entry = await lastEntry(release);
    expect([entry.event_type, entry.user_email]).toEqual(['release.step_taken', 'system']);
    expect(entry.changes_summary).toMatch(/step 2 of 3 taken by plan: rollout 1 % → 10 %\. \S/);
    server.clock.advance(hours(48));
    expect([await step(), await percentageOf(release)]).toEqual([1, 100]);
    server.clock.advance(days(300));
    expect([await step(), await percentageOf(release)]).toEqual([0, 100]);
  });

  test('goes on behind a full release with a minimum version: it is for the machines below that', async () => {
    const bridge = await publish();
    await makeRelease(server, { minimumAppVersion: '0.0.1' });
    expect(await api.ok(rollouts.progress, by(bridge))).toMatchObject({ newer: null, hiddenBy: null });
    server.clock.advance(hours(24));
    expect([await step(), await percentageOf(bridge)]).toEqual([1, 10]);
  });

  test('takes one step at a time however far the clock jumps, once among processes', async () => {
    const twin = await startTwin(server);
    const release = await publish();
    server.clock.advance(days(30));
    const jobs = () =>
      Promise.all(
        [server, twin, server, twin].map(({ context }) => stepRollouts(context, checkedTime(server))),
      );
    const sum = (taken: number[]) => taken.reduce((all, one) => all + one, 0);
    expect([sum(await jobs()), await percentageOf(release)]).toEqual([1, 10]);
    expect([sum(await jobs()), await percentageOf(release)]).toEqual([0, 10]);
    expect((await get(release)).stepStartedAt).toBe(server.clock.now().toISOString());
    server.clock.advance(hours(48));
    expect([sum(await jobs()), await percentageOf(release)]).toEqual([1, 100]);
    const steps = (await auditOf(server, release.id)).filter((e) => e.event_type === 'release.step_taken');
    expect(steps).toHaveLength(2);
  });

  test('of a draft, or with a start in the future, does not begin before', async () => {
    const draft = await makeRelease(server, { isDraft: true });
    await server.db
      .updateTable('releases')
      .set({ rollout_plan: JSON.stringify(plan) })
      .where('release_id', '=', draft.id)
      .execute();
    const later = await publish({ startsAt: inDays(2) });
    expect(later).toMatchObject({ rolloutPercentage: 0, stepTaken: null });
    server.clock.advance(days(2) - 1);
    expect(await step()).toBe(0);
    server.clock.advance(1);
    expect([await step(), await percentageOf(later)]).toEqual([1, 1]);
    expect(await get(draft)).toMatchObject({ rolloutPercentage: 100, stepTaken: null });
    const published = (await update(draft, { isDraft: false })).body.data;
    expect(published).toMatchObject({ rolloutPercentage: 1, stepTaken: 0 });
  });

  test('with a start does not begin because a call is made by a clock that is far ahead', async () => {
    const startsAt = inDays(7);
    const running = await publish({ rolloutPlan: [{ percentage: 1, hours: null }] });
    const wider: RolloutPlan = [{ percentage: 50, hours: null }];
    server.clock.advance(days(400));
    const published = await publish({ startsAt }, lines[1]);
    const changed = (await setPlan(running, wider, startsAt)).body.data;
    server.clock.advance(-days(400));
    for (const [release, percentage] of [
      [published, 0],
      [changed, 1],
    ] as const)
      expect(release).toMatchObject({ rolloutPercentage: percentage, stepTaken: null });
    server.clock.advance(days(7) - 1);
    expect(await step()).toBe(0);
    server.clock.advance(1);
    expect(await step()).toBe(2);
    expect([await percentageOf(published), await percentageOf(running)]).toEqual([1, 50]);
  });

  test.each([
    ['no step', []],
    ['not wider', planOf([10, 1], [10])],
    ['no hours before the last step', planOf([10], [20])],
    ['0 %', [{ percentage: 0, hours: null }]],
    ['no hour', planOf([1, 0], [2])],
    ['a fraction', planOf([1.5, 2], [2])],
    ['eleven steps', Array.from({ length: 11 }, (_, n) => ({ percentage: n + 1, hours: 1 }))],
  ])('is refused with %s', async (_, steps) => {
    const release = await makeRelease(server);
    expect((await setPlan(release, steps)).status).toBe(400);
    expect((await update(release, { rolloutPlan: steps })).status).toBe(400);
    expect(await get(release)).toEqual(release);
  });

  test('and a percentage at once are refused', async () => {
    const draft = await makeRelease(server, { isDraft: true });
    const answer = await update(draft, { isDraft: false, rolloutPlan: plan, rolloutPercentage: 5 });
    expect([answer.status, answer.body.error]).toEqual([
      400,
      'rolloutPlan: Give a percentage or a plan, not both',
    ]);
    expect((await update(draft, { rolloutPlan: plan })).body.code).toBe('WRONG_STATE');
  });

  test('is needed for a start: without one it is refused, and nothing is published', async () => {
    const draft = await makeRelease(server, { isDraft: true });
    const startsAt = inDays(7);
    const alone = await update(draft, { isDraft: false, startsAt });
    expect([alone.status, alone.body.error]).toEqual([409, 'A start needs a rollout in steps.']);
    for (const fields of [{ rolloutPercentage: 50 }, { rolloutPlan: null }]) {
      const answer = await update(draft, { isDraft: false, startsAt, ...fields });
      expect(answer.body.error).toContain('A start needs a rollout in steps');
    }
    expect((await setPlan(draft, null, startsAt)).status).toBe(400);
    expect(await get(draft)).toEqual(draft);
    const release = await publish();
    expect((await update(release, { startsAt })).body.data).toMatchObject({ rolloutPlan: plan, startsAt });
  });

  test('that is under way takes no step before a start that is moved into the future', async () => {
    const release = await publish();
    server.clock.advance(hours(1));
    const startsAt = inDays(7);
    const waiting = (await setPlan(release, plan, startsAt)).body.data;
    expect(nextStep(waiting)).toMatchObject({ percentage: 10, dueAt: startsAt });
    server.clock.advance(days(7) - 1);
    expect([await step(), await percentageOf(release)]).toEqual([0, 1]);
    server.clock.advance(1);
    expect([await step(), await percentageOf(release)]).toEqual([1, 10]);
    expect(nextStep(await get(release))?.dueAt).toBe(inDays(2));
  });

  test('whose first hours have not begun moves with its start', async () => {
    const release = await publish({ rolloutPlan: null, rolloutPercentage: 5 });
    for (const from of [4, 1, 9]) {
      const waiting = (await setPlan(release, plan, inDays(from))).body.data;
      expect(waiting).toMatchObject({ stepTaken: 0, startsAt: inDays(from) });
      expect(nextStep(waiting)).toMatchObject({ percentage: 10, dueAt: inDays(from + 1) });
    }
    server.clock.advance(days(2));
    const atOnce = (await setPlan(release, plan)).body.data;
    expect(nextStep(atOnce)?.dueAt).toBe(inDays(1));
    server.clock.advance(hours(1));
    const later = (await setPlan(release, plan, inDays(9))).body.data;
    expect(later.stepStartedAt, 'hours that have begun are kept').toBe(atOnce.stepStartedAt);
  });

  test('whose first hours have not begun keeps its start when the release is back', async () => {
    const release = await publish({ rolloutPlan: null, rolloutPercentage: 5 });
    const startsAt = inDays(4);
    await setPlan(release, plan, startsAt);
    await update(release, { isActive: false });
    expect((await update(release, { isActive: true })).body.data.stepStartedAt).toBe(startsAt);
    await api.ok(calls.softDelete, { ...by(release), body: { reason: 'x' } });
    await api.ok(calls.restore, { ...by(release), body: { reason: 'x' } });
    expect((await get(release)).stepStartedAt).toBe(startsAt);
  });

  test('ends with a percentage that staff set, even the present one', async () => {
    for (const percentage of [1, 30]) {
      const release = await publish();
      const answer = await api.ok(calls.rollout, { ...by(release), body: { percentage } });
      expect(answer).toMatchObject({ rolloutPercentage: percentage, rolloutPlan: null, stepTaken: null });
      expect((await lastEntry(release)).changes_summary).toContain('the rest of its plan is dropped');
    }
    server.clock.advance(days(9));
    expect(await step()).toBe(0);
  });

  test('that is changed goes on from the percentage that was reached, and never narrows it', async () => {
    const release = await publish();
    server.clock.advance(hours(20));
    const shorter = planOf([1, 21], [50]);
    expect((await setPlan(release, shorter)).body.data).toMatchObject({ rolloutPercentage: 1, stepTaken: 0 });
    expect((await lastEntry(release)).event_type).toBe('release.plan_changed');
    server.clock.advance(hours(1));
    expect([await step(), await percentageOf(release)]).toEqual([1, 50]);
    expect((await setPlan(release, plan)).body.data).toMatchObject({ rolloutPercentage: 50, stepTaken: 1 });
    const wide: RolloutPlan = [{ percentage: 75, hours: null }];
    const waiting = (await setPlan(release, wide, inDays(1))).body.data;
    expect(waiting).toMatchObject({ rolloutPercentage: 50, stepTaken: null });
    server.clock.advance(days(1));
    expect([await step(), await percentageOf(release)]).toEqual([1, 75]);
    expect((await setPlan(release, null)).body.data).toMatchObject({
      rolloutPercentage: 75,
      rolloutPlan: null,
    });
  });

  test('that is extended after its last step waits the hours which that step is given', async () => {
    const release = await publish({ rolloutPlan: [{ percentage: 50, hours: 1 }] });
    server.clock.advance(days(10));
    await setPlan(release, planOf([50, 24], [100]));
    server.clock.advance(hours(24) - 1);
    expect([await step(), await percentageOf(release)]).toEqual([0, 50]);
    server.clock.advance(1);
    expect([await step(), await percentageOf(release)]).toEqual([1, 100]);
  });
});

describe('a pause', () => {
  test('keeps the percentage and the clock of the step', async () => {
    const release = await publish();
    server.clock.advance(hours(20));
    await api.ok(calls.pause, { ...by(release), body: { reason: 'A hospital reports crashes' } });
    server.clock.advance(days(10));
    expect([await step(), await percentageOf(release)]).toEqual([0, 1]);
    await api.ok(calls.resume, by(release));
    server.clock.advance(hours(4) - 1);
    expect(await step()).toBe(0);
    server.clock.advance(1);
    expect([await step(), await percentageOf(release)]).toEqual([1, 10]);
  });

  test('that a clock which is behind ends does not count as hours of the step', async () => {
    const release = await publish();
    server.clock.advance(hours(1));
    await api.ok(calls.pause, { ...by(release), body: { reason: 'A hospital reports crashes' } });
    server.clock.advance(hours(30));
    await systemChange(server.context, server.clock.now(), ({ tx, now }) => checkClock(tx, now));
    server.clock.advance(-hours(48));
    await api.ok(calls.resume, by(release));
    server.clock.advance(hours(48 + 22));
    expect(await step()).toBe(0);
    server.clock.advance(hours(1));
    expect([await step(), await percentageOf(release)]).toEqual([1, 10]);
  });

  test('by the guard, which counts from zero then, starts the step again', async () => {
    const release = await publish();
    await insertInstalls(release, { failed: 30 });
    server.clock.advance(hours(24));
    await watchRollouts(server.context);
    expect(await get(release)).toMatchObject({ pausedAt: server.clock.now().toISOString(), pausedBy: null });
    server.clock.advance(1);
    await api.ok(calls.resume, by(release));
    server.clock.advance(hours(24) - 1);
    expect([await step(), await percentageOf(release)]).toEqual([0, 1]);
    server.clock.advance(1);
    expect([await step(), await percentageOf(release)]).toEqual([1, 10]);
  });

  test('that a plan is changed in counts the hours of the step from then', async () => {
    const release = await publish();
    await api.ok(calls.pause, { ...by(release), body: { reason: 'x' } });
    server.clock.advance(days(10));
    const longer = planOf([2, 10], [50]);
    await setPlan(release, longer);
    await api.ok(calls.resume, by(release));
    expect(await get(release)).toMatchObject({
      rolloutPercentage: 2,
      stepStartedAt: server.clock.now().toISOString(),
    });
  });
});

describe('no step is taken', () => {
  test('while the guard is not quiet; widening by hand records what it saw', async () => {
    const release = await publish();
    await insertInstalls(release, { failed: 30 });
    server.clock.advance(hours(24));
    expect([await step(), await percentageOf(release)]).toEqual([0, 1]);
    await insertInstalls(release, { failed: 0, succeeded: 3000 });
    expect([await step(), await percentageOf(release)]).toEqual([1, 10]);
    expect((await lastEntry(release)).changes_summary).toContain('30 of 3,030');
    expect((await widen(release, 100)).status).toBe(200);
    expect((await lastEntry(release)).changes_summary).toContain('30 of 3,030');
  });

  test('while machines without a token fail that do not count since one has a token; nothing is paused, but staff are told', async () => {
    const release = await publish();
    await insertInstalls(release, { succeeded: 1, proven: true });
    await insertInstalls(release, { failed: 60 });
    server.clock.advance(hours(24));
    await watchRollouts(server.context);
    await watchRollouts(server.context);
    expect(await step()).toBe(0);
    expect(await get(release)).toMatchObject({
      pausedAt: null,
      failuresClaimedAt: server.clock.now().toISOString(),
    });
    const { guard } = await api.ok(rollouts.progress, by(release));
    expect([guard.verdict, guard.sentence]).toEqual(['CLAIMED', expect.stringContaining('60 failed')]);
    expect((await lastEntry(release)).changes_summary).toContain(
      'installs that other machines reported, 60 failed',
    );
    await insertInstalls(release, { succeeded: 6000 });
    await watchRollouts(server.context);
    expect((await lastEntry(release)).changes_summary).toContain('are no longer too many');
    expect((await get(release)).failuresClaimedAt).toBeNull();
    expect(await step()).toBe(1);
  });

  test('claimed failures are marked by the watch alone, and no longer once machines are not offered the release', async () => {
    const [release, replaced] = [await publish(), await makeRelease(server, { rolloutPercentage: 100 })];
    for (const one of [release, replaced]) {
      await insertInstalls(one, { succeeded: 1, proven: true });
      await insertInstalls(one, { failed: 60 });
    }
    await pauseFailing(server.context, [release.id, replaced.id]);
    expect((await get(release)).failuresClaimedAt).toBeNull();
    await watchRollouts(server.context);
    const marks = async () =>
      (await Promise.all([release, replaced].map(get))).map((one) => one.failuresClaimedAt);
    const at = server.clock.now().toISOString();
    expect(await marks()).toEqual([at, at]);
    await update(release, { isDraft: true });
    expect(await marks()).toEqual([null, at]);
    await update(release, { isDraft: false });
    await watchRollouts(server.context);
    await update(release, { isActive: false });
    await makeRelease(server, { rolloutPercentage: 100, version: '999.0.0' });
    await watchRollouts(server.context);
    expect(await marks()).toEqual([null, null]);
  });

  test('of a release that is inactive, in the bin or damaged; it begins its step again when it is back', async () => {
    const inactive = await publish({}, lines[0]);
    const trashed = await publish({}, lines[1]);
    const damaged = await publish({}, lines[2]);
    const set = (columns: object) =>
      server.db.updateTable('releases').set(columns).where('release_id', '=', damaged.id).execute();
    await update(inactive, { isActive: false });
    await api.ok(calls.softDelete, { ...by(trashed), body: { reason: 'x' } });
    await set({ damaged_at: server.clock.now() });
    server.clock.advance(days(5));
    expect(await step()).toBe(0);
    for (const release of [inactive, damaged]) expect((await widen(release, 10)).status).toBe(409);
    expect((await widen(trashed, 10)).status).toBe(404);
    await update(inactive, { isActive: true });
    await api.ok(calls.restore, { ...by(trashed), body: { reason: 'x' } });
    await set({ rollout_plan: null });
    server.clock.advance(hours(24) - 1);
    expect(await step()).toBe(0);
    server.clock.advance(1);
    expect(await step()).toBe(2);
  });

  test('while a newer rollout hides the release; the step starts again when it no longer does', async () => {
    const older = await publish();
    server.clock.advance(hours(5));
    const newer = await publish({ rolloutPlan: null, rolloutPercentage: 5, minimumAppVersion: '0.0.1' });
    server.clock.advance(hours(24));
    expect([await step(), await percentageOf(older)]).toEqual([0, 1]);
    const { hiddenBy } = await api.ok(rollouts.progress, by(older));
    expect(hiddenBy).toEqual({ id: newer.id, version: newer.version, rolloutPercentage: 5 });
    const [summary] = await api.ok(rollouts.summaries, { query: { ids: older.id } });
    expect(summary).toMatchObject({ hiddenBy });
    expect(await api.ok(rollouts.progress, by(newer))).toMatchObject({ hiddenBy: null });
    expect((await get(older)).updatedAt, 'nobody who edits it is in conflict').toBe(older.updatedAt);
    server.clock.advance(hours(23));
    expect(await step()).toBe(0);
    await api.ok(calls.withdraw, { ...by(newer), body: { reason: 'x' } });
    server.clock.advance(hours(24) - 1);
    expect([await step(), await percentageOf(older)]).toEqual([0, 1]);
    server.clock.advance(1);
    expect([await step(), await percentageOf(older)]).toEqual([1, 10]);
  });

  test('by itself beside a newer rollout, but by hand: policies may keep machines from that one', async () => {
    const older = await publish();
    await publish({ rolloutPlan: null, rolloutPercentage: 5 });
    server.clock.advance(hours(24));
    expect(await step()).toBe(0);
    expect((await widen(older, 10)).status).toBe(200);
    expect(await percentageOf(older)).toBe(10);
  });

  test('also where it would be the first; one for machines that policies keep from a full release goes on', async () => {
    const older = await publish({ startsAt: inDays(1) });
    const newer = await publish({ rolloutPlan: null, rolloutPercentage: 5 });
    server.clock.advance(days(1));
    expect([await step(), await percentageOf(older)]).toEqual([0, 0]);
    await makeRelease(server, { version: newer.version, channel: 'stable', architecture: 'arm64' });
    expect(await step()).toBe(0);
    await makeRelease(server);
    expect([await step(), await percentageOf(older)]).toEqual([1, 1]);
  });

  test('for hours in which a release was inactive, also where its plan changes when it is back', async () => {
    const release = await publish();
    await update(release, { isActive: false });
    server.clock.advance(days(30));
    const rolloutPlan = [plan[0], { percentage: 50, hours: null }];
    const back = await update(release, { isActive: true, rolloutPlan });
    expect(back.body.data).toMatchObject({ stepTaken: 0, stepStartedAt: server.clock.now().toISOString() });
    expect([await step(), await percentageOf(release)]).toEqual([0, 1]);
  });
});

test('a rollout whose step fails holds up no other one, and the log says so', async () => {
  const all: Release[] = [];
  for (const line of lines) all.push(await publish({}, line));
  const broken = all.slice(0, 2);
  for (const { id } of broken)
    await server.db
      .updateTable('releases')
      .set({ rollout_plan: JSON.stringify([plan[0], { percentage: 150, hours: null }]) })
      .where('release_id', '=', id)
      .execute();
  server.clock.advance(hours(24));
  await expect(step()).rejects.toThrow('releases_rollout_percentage_check');
  const rows = await server.db.selectFrom('releases').select(['release_id', 'rollout_percentage']).execute();
  const reached = new Map(rows.map((row) => [row.release_id, row.rollout_percentage]));
  expect(all.map(({ id }) => reached.get(id))).toEqual([1, 1, 10, 10]);
  for (const { id } of broken) expect(said.filter((line) => line.includes(id))).toHaveLength(1);
});

describe('widening', () => {
  test('takes the next step at once, and its hours begin then', async () => {
    const release = await publish();
    server.clock.advance(hours(1));
    const answer = await widen(release, 10);
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body.data).toMatchObject({
      rolloutPercentage: 10,
      stepTaken: 1,
      stepStartedAt: server.clock.now().toISOString(),
    });
    expect((await lastEntry(release)).changes_summary).toMatch(
      /step 2 of 3 taken by hand: rollout 1 % → 10 %\. \S/,
    );
    server.clock.advance(hours(47));
    expect(await step()).toBe(0);
  });

  test('reaches no wider channel than the one that was shown', async () => {
    const release = await publish({ channel: 'alpha' });
    expect((await update(release, { channel: 'stable' })).status).toBe(200);
    const unseen = await widen(release, 10, release.updatedAt);
    expect([unseen.status, unseen.body.error]).toEqual([
      409,
      'This release was changed since you saw it. Look at it again.',
    ]);
    expect((await widen(release, 10, (await get(release)).updatedAt)).status).toBe(200);
  });

  test('by two people at once takes one step', async () => {
    const release = await publish();
    const both = await Promise.all([1, 2, 3, 4].map(() => widen(release, 10)));
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 409, 409, 409]);
    expect(await percentageOf(release)).toBe(10);
    expect((await widen(release, 10)).body.error).toBe(
      'The next step of the rollout is 100 % now, not 10 %.',
    );
  });

  test('is refused with what the guard saw while it is not quiet', async () => {
    const release = await publish();
    await insertInstalls(release, { failed: 50 });
    const answer = await widen(release, 10);
    expect([answer.status, answer.body.code]).toEqual([409, 'WRONG_STATE']);
    expect(answer.body.error).toContain('50 of 50');
    expect(await percentageOf(release)).toBe(1);
  });

  test('is refused with the reason', async () => {
    const single = await makeRelease(server);
    expect((await widen(single, 100)).body.error).toBe('The rollout has no further step.');
    const release = await publish();
    await api.ok(calls.pause, { ...by(release), body: { reason: 'x' } });
    expect((await widen(release, 10)).body.error).toBe('The rollout is paused.');
    await update(release, { isActive: false });
    expect((await widen(release, 10)).body.error).toBe('An inactive release is in no feed.');
    const draft = await makeRelease(server, { isDraft: true });
    expect((await widen(draft, 10)).body.error).toBe('A draft is in no feed.');
  });

  test('by an edit of the release, which drops the plan, needs the permission for rollouts as well', async () => {
    const release = await publish();
    const role = 'support_agent';
    await server.db
      .insertInto('role_permissions')
      .values({ role_id: role, resource: 'releases', action: 'update' })
      .execute();
    const updater = server.api(await server.signInAs(role));
    const answer = await updater.call(calls.update, { ...by(release), body: { rolloutPlan: null } });
    expect(answer.status).toBe(403);
    expect((await get(release)).rolloutPlan).toEqual(plan);
  });
});

test('the plan that the form suggests is set for each channel', async () => {
  const ofBeta = () =>
    api.ok(rollouts.defaults).then((all) => all.find(({ channel }) => channel === 'beta')?.plan);
  expect(await ofBeta()).toBeNull();
  const set = (steps: RolloutPlan | null) =>
    api.ok(rollouts.setDefault, { params: { channel: 'beta' }, body: { plan: steps } });
  await api.ok(rollouts.setDefault, { params: { channel: 'alpha' }, body: { plan: null } });
  const others = await othersIn(server, 'rollout_defaults', 'channel', 'beta');
  await set(plan);
  await set(plan);
  expect(await ofBeta()).toEqual(plan);
  expect(await othersIn(server, 'rollout_defaults', 'channel', 'beta')).toEqual(others);
  const entries = await auditOf(server, 'beta');
  expect(entries.map((entry) => entry.changes_summary)).toEqual([
    'Default rollout on beta: no plan → 1 % for 24 h, 10 % for 48 h, 100 %',
  ]);
  await set(null);
  expect(await ofBeta()).toBeNull();
});

test('a plan that another user set meanwhile is not overwritten unseen', async () => {
  const set = (body: { plan: RolloutPlan | null; seen?: RolloutPlan | null }) =>
    api.call(rollouts.setDefault, { params: { channel: 'alpha' }, body });
  const theirs: RolloutPlan = [{ percentage: 100, hours: null }];
  await set({ plan: theirs, seen: null });
  const late = await set({ plan, seen: null });
  expect(late.status).toBe(409);
  expect(late.body).toMatchObject({
    code: 'EDIT_CONFLICT',
    details: [{ path: 'plan', current: theirs, yours: plan }],
  });
  expect((await set({ plan: theirs, seen: null })).status).toBe(200);
  expect((await set({ plan, seen: theirs })).status).toBe(200);
  await set({ plan: null });
});

let installs = 0;
/** Machines that were offered the release, fetched it, and ended its install, without the reports of it. */
async function insertInstalls(
  { id, version }: Release,
  { failed = 0, succeeded = 0, proven }: { failed?: number; succeeded?: number; proven?: true },
) {
  const at = server.clock.now();
  const rows = Array.from({ length: failed + succeeded }, (_, n) => ({
    download_id: randomUUID(),
    machine_hash: createHash('sha256').update(`install ${installs++}`).digest(),
    release_id: id,
    version,
    started_at: at,
    completed_at: at,
    installed_at: at,
    install_failed: n < failed,
    proven,
    offered_at: at,
    fetched_at: at,
  }));
  await server.db.insertInto('downloads').values(rows).execute();
}
