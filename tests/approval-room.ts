import { releases, type Release } from '../contract/releases.ts';
import type { RouteRequest } from '../contract/route.ts';
import type { RolloutPlan } from '../contract/rollout-plan.ts';
import { rollouts } from '../contract/rollouts.ts';
import { makeRelease } from './factories.ts';
import { doing, pauseByGuard, type Doing } from './approving.ts';
import type { Api, TestServer } from './harness.ts';
import { releaseRow } from './rows.ts';
import { planOf } from './plan-of.ts';

type Edit = RouteRequest<typeof releases.update>['body'];

/** Calls that need a second person where a channel requires it, made by `one`. */
export function approvalRoom(server: TestServer, one: Api) {
  const at = ({ id }: Pick<Release, 'id'>) => ({ params: { releaseId: id } });
  const get = (release: Release) => one.ok(releases.get, at(release));

  const edit = (release: Release, body: Edit): Doing => doing(releases.update, { ...at(release), body });
  const publish = (release: Release, rolloutPercentage?: number): Doing =>
    edit(release, { isDraft: false, ...(rolloutPercentage === undefined ? {} : { rolloutPercentage }) });
  const widen = (release: Release, percentage = 100): Doing =>
    doing(releases.rollout, { ...at(release), body: { percentage } });
  const plan = (release: Release, steps: RolloutPlan | null, startsAt: string | null = null) =>
    doing(rollouts.plan, { ...at(release), body: { plan: steps, startsAt } });

  const rowOf = (release: Release) => releaseRow(server, release);

  const draft = () => makeRelease(server, { isDraft: true });
  const onBeta = () => makeRelease(server, { channel: 'beta' });
  const toFew = () => makeRelease(server, { rolloutPercentage: 5 });
  const inBin = async () => {
    const release = await makeRelease(server);
    await one.ok(releases.softDelete, { ...at(release), body: { reason: 'x' } });
    return release;
  };
  const inactive = async () => one.ok(releases.update, { ...at(await toFew()), body: { isActive: false } });
  const paused = async () => {
    const release = await makeRelease(server, { rolloutPercentage: 20 });
    await pauseByGuard(server, release);
    return release;
  };
  const toAll = planOf([5, 24], [100]);
  const stepping = async () => {
    const release = await toFew();
    await server.db
      .updateTable('releases')
      .set({ rollout_plan: JSON.stringify(toAll), plan_step: 0, step_started_at: server.clock.now() })
      .where('release_id', '=', release.id)
      .execute();
    return release;
  };
  const accepting = (acceptableFailures: number) => () => makeRelease(server, { acceptableFailures });

  /** Everything on the channel stable that needs a second person: how the release is made, and the call. */
  const needing: [string, () => Promise<Release>, (release: Release) => Doing][] = [
    ['publish a draft', draft, (r) => publish(r)],
    ['publish a draft to 5 %', draft, (r) => publish(r, 5)],
    ['publish a draft to nobody yet', draft, (r) => publish(r, 0)],
    [
      'restore what was published',
      inBin,
      (r) => doing(releases.restore, { ...at(r), body: { reason: 'x' } }),
    ],
    ['activate', inactive, (r) => edit(r, { isActive: true })],
    ['move from another channel', onBeta, (r) => edit(r, { channel: 'stable' })],
    ['widen to 100 %', () => makeRelease(server, { rolloutPercentage: 99 }), (r) => widen(r)],
    ['widen to 100 % by an edit', toFew, (r) => edit(r, { rolloutPercentage: 100 })],
    ['widen to 100 % while paused', paused, (r) => widen(r)],
    [
      'set a plan that ends at 100 %',
      toFew,
      (r) => doing(rollouts.plan, { ...at(r), body: { plan: toAll } }),
    ],
    ['set such a plan by an edit', toFew, (r) => edit(r, { rolloutPlan: toAll })],
    [
      'take the step to 100 %',
      stepping,
      (r) => doing(rollouts.widen, { ...at(r), body: { percentage: 100 } }),
    ],
    ['publish with a plan', draft, (r) => edit(r, { isDraft: false, rolloutPlan: toAll })],
    ['reach 100 % sooner', stepping, (r) => plan(r, [{ percentage: 5, hours: 1 }, toAll[1]!])],
    ['reach 100 % at another time', stepping, (r) => plan(r, toAll, '2026-12-24T00:00:00.000Z')],
    ['resume after the guard', paused, (r) => doing(releases.resume, at(r))],
    ['accept more failures', accepting(2), (r) => edit(r, { acceptableFailures: 2.1 })],
    ['accept more failures while paused', paused, (r) => edit(r, { acceptableFailures: 50 })],
    [
      'accept as many as of the previous release',
      accepting(49),
      (r) => edit(r, { acceptableFailures: null }),
    ],
  ];

  return {
    at,
    get,
    edit,
    publish,
    widen,
    plan,
    rowOf,
    draft,
    onBeta,
    toFew,
    inBin,
    inactive,
    paused,
    toAll,
    stepping,
    accepting,
    needing,
  };
}
