import { sql } from 'kysely';
import type { GuardState } from '../../../contract/guard.ts';
import type { Release } from '../../../contract/releases.ts';
import { nextStep } from '../../../contract/next-step.ts';
import type { RolloutProgress } from '../../../contract/rollouts.ts';
import { compareVersions, isVersion, reportedAs } from '../../../contract/versions.ts';
import type { Context } from '../../context.ts';
import type { Db } from '../../db/client.ts';
import { isFailure, type Failure } from '../../failure.ts';
import { onlyRow } from '../../invariants.ts';
import { stepNeedsApproval } from '../approvals/index.ts';
import { getRelease } from '../releases/index.ts';
import { hiddenIn, newerIn, reachedIn, type Census } from './census.ts';
import { createCountCache } from '../../db/count-cache.ts';
import { countOf } from '../../db/sql.ts';
import { guardState } from '../update-events/index.ts';

/** What is counted of a release: all of it by index, in one reading each. */
type Counts = {
  guard: GuardState;
  outcomes: Outcomes[];
  offered: number;
  failures: RolloutProgress['failures'];
  affected: RolloutProgress['affected'];
};

const machinesIn = ({ offered, outcomes, affected }: Counts): number =>
  outcomes.reduce((all, { machines }) => all + machines, offered + (affected?.machines ?? 0));

/** Where a release stands, and what happened to it on the machines. A change of the release counts them again. */
export function createProgress(
  { reports: db, reportsWait }: Pick<Context, 'reports' | 'reportsWait'>,
  census: Census,
) {
  const kept = createCountCache<Counts>(100, machinesIn);
  return async (releaseId: string, now: Date): Promise<RolloutProgress | Failure> => {
    const release = await getRelease(db, releaseId);
    if (isFailure(release)) return release;
    const next = nextStep(release);
    const keptAt = await affectedSince(db, releaseId);
    const [counts, needsApproval, reached, newer, hiddenBy, isWaiting] = await Promise.all([
      kept(`${releaseId} ${release.updatedAt} ${keptAt}`, () => countAll(db, release, now)),
      next !== undefined && stepNeedsApproval(db, release, next.percentage),
      reachedIn(census, release, now),
      newerIn(census, releaseId),
      hiddenIn(census, releaseId),
      reportsWait(),
    ]);
    return {
      release,
      stepNeedsApproval: needsApproval,
      newer,
      hiddenBy,
      reportsWait: isWaiting,
      ...progressOf(counts, reached),
    };
  };
}

async function countAll(db: Db, release: Release, now: Date): Promise<Counts> {
  const [guard, outcomes, offered, failures, affected] = await Promise.all([
    guardState(db, release.id, now),
    outcomesOf(db, release.id),
    countOffered(db, release.id),
    failuresOf(db, release.id),
    affectedBy(db, release),
  ]);
  return { guard, outcomes, offered, failures, affected };
}

function progressOf(
  { guard, outcomes, offered, failures, affected }: Counts,
  reached: Awaited<ReturnType<typeof reachedIn>>,
) {
  const sum = (name: 'fetched' | 'installed' | 'failed' | 'rolledBack') =>
    outcomes.reduce((all, row) => all + row[name], 0);
  return {
    guard,
    figures: {
      ...reached,
      offered: Math.max(offered, sum('fetched')),
      fetched: sum('fetched'),
      installed: sum('installed'),
      failed: sum('failed'),
      rolledBack: sum('rolledBack'),
    },
    adoption: adoptionIn(outcomes),
    failures,
    fromVersions: fromVersionsIn(outcomes),
    affected,
  };
}

type Outcomes = {
  day: string | null;
  fromVersion: string | null;
  machines: number;
  fetched: number;
  installed: number;
  failed: number;
  rolledBack: number;
};

/** Machines by the day of their last install and the version that they came from: everything in one index scan. */
async function outcomesOf(db: Db, releaseId: string): Promise<Outcomes[]> {
  const { rows } = await sql<Outcomes>`
    select to_char(installed_at at time zone 'UTC', 'YYYY-MM-DD') as day, from_version as "fromVersion",
           count(*) as machines, count(*) filter (where fetched_at is not null) as fetched,
           count(*) filter (where install_failed is false) as installed,
           count(*) filter (where install_failed) as failed,
           count(*) filter (where install_failed and rolled_back) as "rolledBack"
      from downloads where release_id = ${releaseId} group by 1, 2`.execute(db);
  return rows;
}

function adoptionIn(outcomes: readonly Outcomes[]): RolloutProgress['adoption'] {
  const days = new Map<string, { installed: number; failed: number }>();
  for (const { day, installed, failed } of outcomes) {
    if (day === null) continue;
    const before = days.get(day) ?? { installed: 0, failed: 0 };
    days.set(day, {
      installed: before.installed + installed,
      failed: before.failed + failed,
    });
  }
  return [...days]
    .map(([date, counts]) => ({ date, ...counts }))
    .toSorted((a, b) => (a.date < b.date ? -1 : 1));
}

/** The versions that machines installed it from, the newest first; unknown ones last. */
function fromVersionsIn(outcomes: readonly Outcomes[]): RolloutProgress['fromVersions'] {
  const versions = new Map<string | null, number>();
  for (const { fromVersion, installed } of outcomes)
    versions.set(fromVersion, (versions.get(fromVersion) ?? 0) + installed);
  const rank = (version: string | null) => (version !== null && isVersion(version) ? version : '0.0.0');
  return [...versions]
    .filter(([, machines]) => machines > 0)
    .map(([version, machines]) => ({ version, machines }))
    .toSorted((a, b) => compareVersions(rank(b.version), rank(a.version)));
}

const countOffered = (db: Db, releaseId: string): Promise<number> =>
  countOf(db.selectFrom('release_offers').where('release_id', '=', releaseId));

/** How many codes are listed; more would be noise of one machine each. */
const mostCodes = 50;

async function failuresOf(db: Db, releaseId: string): Promise<RolloutProgress['failures']> {
  const { rows } = await sql<RolloutProgress['failures'][number]>`
    with codes as (
      select failure_code, count(*) as machines from downloads
       where release_id = ${releaseId} and install_failed
       group by failure_code order by machines desc, failure_code limit ${mostCodes})
    select c.failure_code as code, c.machines,
           array(select m.display_id from downloads d join machines m using (machine_hash)
                  where d.release_id = ${releaseId} and d.install_failed
                    and d.failure_code is not distinct from c.failure_code
                  order by d.installed_at desc limit 10) as latest
      from codes c order by c.machines desc, c.failure_code`.execute(db);
  return rows;
}

/** Of which withdrawal the kept machines are: they follow it in a transaction of their own. */
async function affectedSince(db: Db, releaseId: string): Promise<string | undefined> {
  const one = db.selectFrom('withdrawn_machines').select('withdrawn_at').where('release_id', '=', releaseId);
  return (await one.limit(1).executeTakeFirst())?.withdrawn_at.toISOString();
}

/** None while those of the last withdrawal are not kept yet. */
async function affectedBy(db: Db, { id, version }: Release): Promise<RolloutProgress['affected']> {
  const counted = await sql<{ machines: number; movedOn: number; withdrawnAt: Date | null }>`
    select count(*) as machines, count(*) filter (where (m.last_version = any(${reportedAs(version)}::text[])) is not true) as "movedOn",
           max(w.withdrawn_at) as "withdrawnAt"
      from withdrawn_machines w join machines m using (machine_hash)
     where w.release_id = ${id}
       and not exists (select from releases where release_id = ${id} and affected_due is not null)`.execute(
    db,
  );
  const { withdrawnAt, ...counts } = onlyRow(counted);
  return withdrawnAt && { ...counts, withdrawnAt: withdrawnAt.toISOString() };
}
