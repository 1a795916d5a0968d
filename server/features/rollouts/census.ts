import { sql } from 'kysely';
import { unfedReasonOf } from '../../../contract/fed-kinds.ts';
import type { Release } from '../../../contract/releases.ts';
import type { RolloutProgress, RolloutSummary } from '../../../contract/rollouts.ts';
import { isVersion, reportedAs, type Channel } from '../../../contract/versions.ts';
import { newestTime, plausibleTime } from '../../checked-time.ts';
import type { Context } from '../../context.ts';
import type { Db } from '../../db/client.ts';
import { effectivePolicies, type EffectivePolicy } from '../policies/index.ts';
import { hiddenBy, partialOf, replacedBy, wouldTake, type ReleaseSet } from '../releases/index.ts';
import { isHeldBack } from '../updates/index.ts';
import { createCountCache } from '../../db/count-cache.ts';
import { recordHash } from '../../db/sql.ts';

type Group = {
  platform: string;
  architecture: string;
  channel: Channel;
  runs: string | null;
  machines: number;
};

type Counted = {
  groups: readonly Group[];
  /** Those of them whose customer has an update policy. */
  policed: readonly (Group & { policy: EffectivePolicy })[];
  newest: Date | undefined;
};

export type Census = { counted: () => Promise<Counted>; releaseSet: ReleaseSet };
export type CensusParts = Pick<Context, 'reports'> & { releaseSet: ReleaseSet };

/** Machines by everything that decides about offers, counted once for all releases and all users. */
export function createCensus({ reports: db, releaseSet }: CensusParts): Census {
  const kept = createCountCache<Counted>(1, ({ groups }) => sumOf(groups));
  return { counted: () => kept('all', () => countMachines(db)), releaseSet };
}

async function countMachines(db: Db): Promise<Counted> {
  const [{ rows: groups }, policed, newest] = await Promise.all([
    sql<Group>`
      select platform, architecture, coalesce(channel, 'stable') as channel, last_version as runs, count(*) as machines
        from machines where platform is not null and architecture is not null group by 1, 2, 3, 4`.execute(
      db,
    ),
    countPoliced(db),
    newestTime(db),
  ]);
  return { groups, policed, newest };
}

/** Machines with a seat of a customer that has a policy; customers with the same policy are counted together. */
async function countPoliced(db: Db): Promise<Counted['policed']> {
  const customers = await effectivePolicies(db);
  if (customers.size === 0) return [];
  const policies = new Map<string, EffectivePolicy>();
  const keys = [...customers.values()].map((policy) => {
    const key = JSON.stringify(policy, (name, value: unknown) => (name === 'from' ? undefined : value));
    policies.set(key, policy);
    return key;
  });
  const distinct = [...policies];
  const places = new Map(distinct.map(([key], place) => [key, place]));
  const { rows } = await sql<Group & { place: number }>`
    with owned as (
      select ${recordHash('c', 'a')} as machine_hash, min(p.place) as place
        from unnest(${[...customers.keys()]}::uuid[], ${keys.map((key) => places.get(key))}::int[])
               as p (customer_id, place)
        join licenses l using (customer_id) join activations a using (license_id)
        left join machine_credentials c using (activation_id)
       where a.status = 'active' group by 1)
    select m.platform, m.architecture, coalesce(m.channel, 'stable') as channel, m.last_version as runs, o.place,
           count(*) as machines
      from owned o join machines m using (machine_hash)
     where m.platform is not null and m.architecture is not null group by 1, 2, 3, 4, 5`.execute(db);
  return rows.flatMap(({ place, ...group }) => {
    const [, policy] = distinct[place] ?? [];
    return policy ? [{ ...group, policy }] : [];
  });
}

/**
 * Machines that run a release; those that could: these and the ones that would be offered it at 100 % but for the policy
 * of their customer; and how many of the latter the policy keeps from it at `now`.
 */
export async function reachedIn(
  { counted, releaseSet }: Census,
  release: Release,
  now: Date,
): Promise<Pick<RolloutSummary, 'running' | 'eligible' | 'held'>> {
  const [{ groups, policed, newest }, { live, trashed }] = await Promise.all([counted(), releaseSet()]);
  const { platform, architecture, version, minimumAppVersion } = release;
  const ofBuild = <G extends Group>(all: readonly G[]) =>
    all.filter((group) => group.platform === platform && group.architecture === architecture);
  const build = { ...release, minimumAppVersion: minimumAppVersion ?? undefined };
  const ours = reportedAs(version);
  const running = sumOf(ofBuild(groups).filter(({ runs }) => runs !== null && ours.includes(runs)));
  if (unfedReasonOf(release)) return { running, eligible: running, held: 0 };
  const taking = sumOf(ofBuild(groups).filter((group) => wouldTake(build, group)));
  const ofPolicies = ofBuild(policed);
  const onTheirs = ofPolicies.map((group) => ({
    ...group,
    channel: group.policy.channel?.value ?? group.channel,
  }));
  const couldTake = onTheirs.filter((group) => wouldTake(build, group));
  const deferredBy = plausibleTime(now, newest);
  const known = live.find(({ id }) => id === release.id);
  const held = couldTake.filter(
    ({ policy, channel, runs }) =>
      known &&
      isHeldBack(live, known, {
        policed: { policy: { isLicensed: true, ...policy }, now, deferredBy, trashed },
        channel,
        currentVersion: runs !== null && isVersion(runs) ? runs : undefined,
      }),
  );
  // the policy of some sets another channel than that by which they are in the other groups
  const moved = sumOf(couldTake) - sumOf(ofPolicies.filter((group) => wouldTake(build, group)));
  return { running, eligible: running + taking + moved, held: sumOf(held) };
}

/** The version of the full release that is offered in place of one. */
export async function newerIn({ releaseSet }: Census, releaseId: string): Promise<RolloutProgress['newer']> {
  const { live } = await releaseSet();
  const known = live.find(({ id }) => id === releaseId);
  return (known && replacedBy(live, known)?.version) ?? null;
}

/** The newer rollout that hides a release. */
export async function hiddenIn(
  { releaseSet }: Census,
  releaseId: string,
): Promise<RolloutSummary['hiddenBy']> {
  const newer = hiddenBy((await releaseSet()).live, releaseId);
  return newer ? partialOf(newer) : null;
}

const sumOf = (groups: readonly Pick<Group, 'machines'>[]): number =>
  groups.reduce((all, { machines }) => all + machines, 0);
