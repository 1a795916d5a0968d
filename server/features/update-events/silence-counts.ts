import { sql, type RawBuilder } from 'kysely';
import { dayMs, utcDay } from '../../../contract/durations.ts';
import { channelsReached } from '../../../contract/versions.ts';
import type { Db } from '../../db/client.ts';
import { keptSince } from '../../db/monthly-partitions.ts';
import { activationsOfRecord } from '../../db/sql.ts';
import { onlyRow } from '../../invariants.ts';
import type { ReleaseRow } from '../releases/index.ts';
import { provenKnown } from './guard-counts.ts';
import type { Silence } from './guard.ts';

/** Longer after its last step, a rollout reaches only machines that are rarely in use. */
const watchedMs = 60 * dayMs;
/** Machines that took the release, of those that did: beyond, a random sample. */
const sampledTaken = 10_000;
/** Machines without the release that are compared with. */
const sampled = 2000;
/** Machines among which they are searched, of all platforms. */
const searched = 40_000;
/** A machine with fewer checks, or that first asked less than a week before, has no usual interval. */
const fewestChecks = 3;
const leastAge = sql`interval '7 days'`;

/** When machine `m` first asked for updates; it may have validated long before. */
const firstCheck = sql`coalesce(m.first_check, m.first_seen)`;
/** Seconds between two checks of machine `m`, on average: from an hour to two weeks. */
const usual = sql`greatest(3600, least(1209600, extract(epoch from m.last_seen - ${firstCheck}) / m.total_checks))`;

/** A random number from 0 to 65,535 for each machine. */
const drawn = (hash: RawBuilder<unknown>) => sql`(get_byte(${hash}, 30) * 256 + get_byte(${hash}, 31))`;

/** Whether machine `m` neither asked for updates, reported nor validated for twice its usual interval. */
const isSilent = (now: Date): RawBuilder<boolean> => sql<boolean>`
  (m.last_seen < ${since(now)} and not exists (
     select from ${activationsOfRecord(sql`m.machine_hash`)} a where a.last_checked_at >= ${since(now)}))`;

/** Twice the usual interval of machine `m` before now. */
const since = (now: Date) => sql`${now}::timestamptz - make_interval(secs => 2 * ${usual})`;

/**
 * Machines that took the release since it began or was resumed, or since the first step since which checks are kept, and
 * a random sample of those that the rollout has not reached; counted are those whose chance was more than twice their
 * usual interval ago. A machine that did not take it has its chance at its first check after its place in the rollout was
 * reached, as one that did. So both samples consist of machines heard of at the same times, and differ only in the
 * release. Null when the last step was too long ago, and at 100 %: then those without it are machines that something else
 * keeps from it, and no measure.
 */
export async function countSilent(db: Db, release: ReleaseRow, now: Date): Promise<Silence | null> {
  if (release.rollout_percentage === 100) return null;
  const begun = release.failures_from;
  // a silent machine whose last check was dropped is in no sample, so one that could take the release by then may not be either
  const kept = (await keptSince(db, 'update_events')) ?? begun;
  const steps = (await stepsOf(db, release, begun)).filter(({ at }) => at >= kept);
  const from = steps[0]?.at;
  const lastStep = steps.at(-1)?.at;
  if (!from || !lastStep || now.getTime() - lastStep.getTime() > watchedMs) return null;
  const { release_id: id } = release;
  const isFree = isFreeToTake(await heldCustomers(db, release.version, now));
  // machines are sorted by a hash, so those that follow a random one are a random sample
  const place = sql`sha256(convert_to(${release.rollout_salt}, 'UTF8'))`;
  const beside = (isThere: RawBuilder<unknown>) =>
    sql`(select * from machines where ${isThere} order by machine_hash limit ${searched})`;
  return onlyRow(
    await sql<Silence>`
      with ${provenKnown(id)},
      steps as (select * from unnest(${steps.map(({ at }) => at)}::timestamptz[],
                                     ${steps.map(({ percentage }) => percentage)}::int[]) as s (at, percentage)),
      part as materialized (
        select 65536.0 * ${sampledTaken} / greatest(max(unique_downloads), 1) as size
          from release_totals where release_id = ${id}),
      took as (
        select ${isSilent(now)} as silent
          from known k, part p, downloads d join machines m on m.machine_hash = d.machine_hash
         where d.release_id = ${id} and ${drawn(sql`d.machine_hash`)} < p.size
           and d.fetched_at >= ${from} and d.offered_at is not null and (d.proven or not k.proven)
           and m.total_checks >= ${fewestChecks} and ${firstCheck} < d.fetched_at - ${leastAge}
           and d.fetched_at < ${since(now)} and ${isFree}),
      around as materialized (
        select * from (${beside(sql`machine_hash >= ${place}`)} union all
                       ${beside(sql`machine_hash < ${place}`)}) parts limit ${searched}),
      sample as (
        select m.* from around m, known k
         where m.platform = ${release.platform} and m.architecture = ${release.architecture}
           and coalesce(m.channel, 'stable') = any(${channelsReached(release.channel)}::text[])
           and m.total_checks >= ${fewestChecks} and m.last_seen >= ${from}
           and (m.proven_at is not null or not k.proven)
           and not exists (select from downloads d where d.machine_hash = m.machine_hash
                              and d.release_id = ${id} and d.fetched_at is not null)
           and ${isFree}
         limit ${sampled}),
      others as (
        select ${isSilent(now)} as silent
          from sample m
         cross join lateral (
           select s.at from steps s
            where s.percentage > ${drawn(sql`m.machine_hash`)} / 65536.0 * (select max(percentage) from steps)
            order by s.at limit 1) s
         cross join lateral (
           select e.occurred_at from update_events e
            where e.machine_hash = m.machine_hash and e.event_type = 'check' and e.occurred_at >= s.at
            order by e.occurred_at limit 1) chance
         where ${firstCheck} < chance.occurred_at - ${leastAge} and chance.occurred_at < ${since(now)})
      select (select count(*) from took) as taken, (select count(*) from took where silent) as silent,
             (select count(*) from others) as others,
             (select count(*) from others where silent) as "othersSilent"`.execute(db),
  );
}

/**
 * The customers with a policy that may keep a version from their machines. Such machines are on at other times than
 * those that can take it, as on wards that updates may not interrupt, so neither sample has any.
 */
async function heldCustomers(db: Db, version: string, now: Date): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select distinct coalesce(p.customer_id, t.customer_id) as id
      from update_policies p left join customer_tags t on t.tag = p.tag
     where coalesce(p.customer_id, t.customer_id) is not null
       and (p.policy->>'channel' is not null or (p.policy->>'deferDays')::int > 0
            or jsonb_array_length(nullif(p.policy->'windows', 'null')) > 0
            or p.policy->>'updatesUntil' <= ${utcDay(now)}
            or (p.policy->>'pin' is not null and p.policy->>'pin' <> ${version}
                and not (p.policy->>'pin' like '%.' and starts_with(${version}, p.policy->>'pin'))))`.execute(
    db,
  );
  return rows.map(({ id }) => id);
}

/** Whether machine `m` has no license of these customers. */
const isFreeToTake = (held: readonly string[]): RawBuilder<boolean> =>
  held.length === 0
    ? sql`true`
    : sql`not exists (
        select from ${activationsOfRecord(sql`m.machine_hash`)} a join licenses l using (license_id)
         where l.customer_id = any(${held}::uuid[]))`;

/** The moments since `from` at which the release was offered to more machines than before, the earliest first. */
async function stepsOf(
  db: Db,
  { release_id, rollout_percentage }: ReleaseRow,
  from: Date,
): Promise<{ at: Date; percentage: number }[]> {
  const rows = await db
    .selectFrom('rollout_steps')
    .select(['at', 'percentage'])
    .where('release_id', '=', release_id)
    .orderBy('at')
    .execute();
  const before = rows.findLast(({ at }) => at <= from)?.percentage ?? rollout_percentage;
  const steps = [{ at: from, percentage: before }];
  for (const step of rows.filter(({ at }) => at > from))
    if (step.percentage > (steps.at(-1)?.percentage ?? 0)) steps.push(step);
  return steps;
}
