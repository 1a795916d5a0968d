import { counted } from '../../../contract/text.ts';
import { releaseRefusal } from '../../../contract/release-state.ts';
import type { Release, releases as calls } from '../../../contract/releases.ts';
import { reportedAs } from '../../../contract/versions.ts';
import { offerText } from '../../../contract/next-step.ts';
import type { RouteAnswer } from '../../../contract/route.ts';
import { staffOf } from '../../caller.ts';
import type { Change } from '../../change.ts';
import type { Context } from '../../context.ts';
import type { Db } from '../../db/client.ts';
import { countOf, heardOf } from '../../db/sql.ts';
import { editRecord, lockAllowed, unseenRefusal } from '../../edit-record.ts';
import { isFailure, type Failure } from '../../failure.ts';
import { keepAffectedNow } from './affected-machines.ts';
import { toLiveRelease } from './live-releases.ts';
import { besideOf, fedReleases, replacedBy } from './newer-releases.ts';
import { planColumns, sentPlan } from './plan.ts';
import { liveRelease, notFound } from './release-change.ts';
import { countedAnew, selectReleases, type ReleaseRow } from './release-row.ts';

const listedMachines = 200;

type Build = Pick<Release, 'version' | 'platform' | 'architecture'>;

/** A step of the plan of a release, and why it is taken now. */
type StepTaken = { index: number; what: string };

/**
 * Sets the percentage of machines that are offered a published release. A paused rollout stays paused. Without `step`
 * the percentage is the only step, and the rest of a plan is dropped; with it, the plan continues from that step, whose
 * hours begin now.
 */
export const setRollout = (
  change: Change,
  releaseId: string,
  percentage: number,
  { step, seen }: { step?: StepTaken; seen?: string | undefined },
): Promise<Release | Failure> =>
  editRecord(change, liveRelease, releaseId, {
    event: step ? 'release.step_taken' : 'release.rollout_changed',
    refuse: step ? releaseRefusal.widen : releaseRefusal.rollOut,
    seen,
    sent: step
      ? { rolloutPercentage: percentage, stepTaken: step.index }
      : { rolloutPercentage: percentage, rolloutPlan: null, startsAt: null },
    columns: (before) => ({
      ...(step
        ? { plan_step: step.index, step_started_at: change.now }
        : planColumns(before, { rolloutPercentage: percentage }, change.now)),
      rollout_percentage: percentage,
    }),
    what: (before) =>
      step?.what ??
      `rollout ${before.rolloutPercentage} % → ${percentage} %${before.rolloutPlan ? '; the rest of its plan is dropped' : ''}`,
  });

/** Sets the plan of a published release and when it starts; null ends the plan at the present percentage. */
export const setPlan = (
  change: Change,
  releaseId: string,
  asked: Pick<Release, 'rolloutPlan' | 'startsAt'>,
  seen: string | undefined,
): Promise<Release | Failure> =>
  editRecord(change, liveRelease, releaseId, {
    event: 'release.plan_changed',
    refuse: releaseRefusal.rollOut,
    sent: (before) => sentPlan(before, asked),
    seen,
    columns: (before) => planColumns(before, asked, change.now),
    what: (before, after) => `rollout ${offerText(before)} → ${offerText(after)}`,
  });

/**
 * Pauses a rollout: no further machine is offered the release until staff resume it. The release records who paused it;
 * null for the failure guard.
 */
export const pauseRollout = (change: Change, releaseId: string, reason: string): Promise<Release | Failure> =>
  editRecord(change, liveRelease, releaseId, {
    event: 'release.rollout_paused',
    refuse: releaseRefusal.pause,
    columns: {
      paused_at: change.now,
      pause_reason: reason,
      paused_by: staffOf(change.by)?.email ?? null,
    },
    what: (_, after) => `rollout paused at ${after.rolloutPercentage} %: ${reason}`,
  });

/**
 * Resumes a paused rollout; the hours of the present step continue. The failure count restarts after a pause by the guard
 * only: one by hand and its end would else remove the evidence of a harmful release. `seen`: the version that the caller
 * was shown.
 */
export const resumeRollout = (change: Change, releaseId: string, seen?: string): Promise<Release | Failure> =>
  editRecord(change, liveRelease, releaseId, {
    event: 'release.rollout_resumed',
    refuse: (before) => releaseRefusal.resume(before) ?? unseenRefusal('release', before, seen),
    columns: (before) => ({
      paused_at: null,
      pause_reason: null,
      paused_by: null,
      ...(before.pausedBy === null && countedAnew(change.now)),
    }),
    what: (_, after) => `rollout resumed at ${after.rolloutPercentage} %`,
  });

/**
 * Removes a release from every feed immediately; returns the first 200 machines that run it, and the total. Which
 * machines had it is written after the commit: for a large fleet it takes longer than feeds may wait.
 */
export async function withdrawRelease(
  change: Change,
  context: Context,
  releaseId: string,
  reason: string,
): Promise<RouteAnswer<typeof calls.withdraw> | Failure> {
  const before = await lockAllowed(change, liveRelease, releaseId, releaseRefusal.withdraw);
  if (isFailure(before)) return before;
  const { machines, total } = await machinesOn(change.tx, before);
  const release = await editRecord(change, liveRelease, releaseId, {
    event: 'release.withdrawn',
    columns: { is_active: false, affected_due: change.now },
    what: () => `withdrawn, while ${counted(total, 'machine runs', 'machines run')} it: ${reason}`,
  });
  if (isFailure(release)) return release;
  change.afterCommit(() => keepAffectedNow(context, releaseId));
  return { release, affectedMachines: machines, affectedTotal: total };
}

/** Counts the customers whose pin matches a release and no other for its machines. */
export type PinnedTo = (db: Db, release: ReleaseRow) => Promise<number>;

/**
 * Machines that run the version of a release, in the recycle bin or not, the full release that others are offered instead,
 * customers whose pin only it matches, and what it hides and what hides it once it is offered.
 */
export async function impactOfRelease(
  db: Db,
  releaseId: string,
  pinnedTo: PinnedTo,
): Promise<RouteAnswer<typeof calls.impact> | Failure> {
  const row = await selectReleases(db).where('r.release_id', '=', releaseId).executeTakeFirst();
  if (!row) return notFound;
  const [machines, pinned, fed] = await Promise.all([
    countOf(running(db, row)),
    pinnedTo(db, row),
    fedReleases(db),
  ]);
  const live = toLiveRelease(row);
  const newer = replacedBy(fed, live)?.version ?? null;
  const asOffered = { ...live, pausedAt: null, rolloutPercentage: Math.max(1, live.rolloutPercentage) };
  return { machines, newer, pinned, ...besideOf(fed, asOffered) };
}

const running = (db: Db, { version, platform, architecture }: Build) =>
  db
    .selectFrom('machines as m')
    .where('last_version', 'in', reportedAs(version))
    .where('platform', '=', platform)
    .where('architecture', '=', architecture);

async function machinesOn(db: Db, build: Build) {
  const all = running(db, build);
  const rows = await all
    .select(['display_id', heardOf.as('last_seen')])
    .orderBy(heardOf, 'desc')
    .orderBy('display_id')
    .limit(listedMachines)
    .execute();
  const machines = rows.map((row) => ({ displayId: row.display_id, lastSeen: row.last_seen.toISOString() }));
  return { machines, total: await countOf(all) };
}
