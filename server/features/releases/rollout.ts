import { sql } from 'kysely';
import { releaseRefusal, type Release, type releases as calls } from '../../../contract/releases.ts';
import type { RouteAnswer } from '../../../contract/route.ts';
import type { Caller } from '../../caller.ts';
import type { Db, Tx } from '../../db/client.ts';
import { fail, isFailure, type Failure } from '../../failure.ts';
import { changeRelease, lockLive, notFound, titleOf } from './release-change.ts';
import { selectReleases, toRelease, type ReleaseRow } from './release-row.ts';

const listedMachines = 200;

/** Sets the percentage of machines that are offered a published release. A paused rollout stays paused. */
export async function setRollout(
  tx: Tx,
  by: Caller,
  releaseId: string,
  percentage: number,
  publicUrl: string,
): Promise<Release | Failure> {
  const before = await lockAllowed(tx, releaseId, releaseRefusal.rollOut);
  if (isFailure(before)) return before;
  const after = await changeRelease(tx, by, before, {
    event: 'release.rollout_changed',
    set: { rollout_percentage: percentage },
    summary: `Rollout of ${titleOf(before)}: ${before.rollout_percentage} % → ${percentage} %`,
  });
  return isFailure(after) ? after : toRelease(after, publicUrl);
}

/**
 * Stops a rollout where it is: nobody more is offered the release until staff resume it. Who paused it stands in the
 * release; nobody where the failure guard did.
 */
export async function pauseRollout(
  tx: Tx,
  by: Caller,
  releaseId: string,
  reason: string,
  publicUrl: string,
): Promise<Release | Failure> {
  const before = await lockAllowed(tx, releaseId, releaseRefusal.pause);
  if (isFailure(before)) return before;
  const after = await changeRelease(tx, by, before, {
    event: 'release.rollout_paused',
    set: {
      paused_at: by.now,
      pause_reason: reason,
      paused_by: by.actor.kind === 'staff' ? by.actor.email : null,
    },
    summary: `Paused the rollout of ${titleOf(before)} at ${before.rollout_percentage} %: ${reason}`,
  });
  return isFailure(after) ? after : toRelease(after, publicUrl);
}

/** Goes on with a paused rollout; failures are counted anew from here. */
export async function resumeRollout(
  tx: Tx,
  by: Caller,
  releaseId: string,
  publicUrl: string,
): Promise<Release | Failure> {
  const before = await lockAllowed(tx, releaseId, releaseRefusal.resume);
  if (isFailure(before)) return before;
  const after = await changeRelease(tx, by, before, {
    event: 'release.rollout_resumed',
    set: { paused_at: null, pause_reason: null, paused_by: null, failures_from: by.now },
    summary: `Resumed the rollout of ${titleOf(before)} at ${before.rollout_percentage} %`,
  });
  return isFailure(after) ? after : toRelease(after, publicUrl);
}

/** Takes a release out of every feed at once, and says which machines run it: the first 200, and how many. */
export async function withdrawRelease(
  tx: Tx,
  by: Caller,
  releaseId: string,
  reason: string,
  publicUrl: string,
): Promise<RouteAnswer<typeof calls.withdraw> | Failure> {
  const before = await lockAllowed(tx, releaseId, releaseRefusal.withdraw);
  if (isFailure(before)) return before;
  const { machines, total } = await machinesOn(tx, before);
  const after = await changeRelease(tx, by, before, {
    event: 'release.withdrawn',
    set: { is_active: false },
    summary: `Withdrew ${titleOf(before)}, which ${total} ${total === 1 ? 'machine runs' : 'machines run'}: ${reason}`,
  });
  if (isFailure(after)) return after;
  return { release: toRelease(after, publicUrl), affectedMachines: machines, affectedTotal: total };
}

/** Machines that run the version of a release, in the recycle bin or not. */
export async function impactOfRelease(
  db: Db,
  releaseId: string,
): Promise<RouteAnswer<typeof calls.impact> | Failure> {
  const row = await selectReleases(db).where('r.release_id', '=', releaseId).executeTakeFirst();
  return row ? { machines: await count(running(db, row)) } : notFound;
}

const running = (db: Db | Tx, { version, platform, architecture }: ReleaseRow) =>
  db
    .selectFrom('machines')
    .where('last_version', '=', version)
    .where('platform', '=', platform)
    .where('architecture', '=', architecture);

async function count(machines: ReturnType<typeof running>): Promise<number> {
  const { total } = await machines.select(sql<number>`count(*)`.as('total')).executeTakeFirstOrThrow();
  return total;
}

async function machinesOn(tx: Tx, release: ReleaseRow) {
  const all = running(tx, release);
  const rows = await all
    .select(['display_id', 'last_seen'])
    .orderBy('last_seen', 'desc')
    .orderBy('display_id')
    .limit(listedMachines)
    .execute();
  const machines = rows.map((row) => ({ displayId: row.display_id, lastSeen: row.last_seen.toISOString() }));
  return { machines, total: await count(all) };
}

async function lockAllowed(
  tx: Tx,
  releaseId: string,
  refuse: (release: Release) => string | null,
): Promise<ReleaseRow | Failure> {
  const row = await lockLive(tx, releaseId);
  if (isFailure(row)) return row;
  const reason = refuse(toRelease(row, ''));
  return reason ? fail('WRONG_STATE', reason.endsWith('.') ? reason : `${reason}.`) : row;
}
