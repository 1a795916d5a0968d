import type { Release } from '../../../contract/releases.ts';
import {
  rolloutAttention,
  rolloutAttentions,
  type RolloutAttention,
} from '../../../contract/rollout-attention.ts';
import type { Db } from '../../db/client.ts';
import { inFeed, selectReleases, toRelease } from './release-row.ts';

/** The releases that need a person, by the reason, those that changed last first. */
export async function releasesNeedingAttention(
  db: Db,
  now: Date,
): Promise<Record<RolloutAttention, Release[]>> {
  const rows = await published(db)
    .where((eb) =>
      eb.or([
        eb('r.damaged_at', 'is not', null),
        eb('r.paused_at', 'is not', null),
        eb('r.failures_claimed_at', 'is not', null),
        eb('r.rollout_plan', 'is not', null),
      ]),
    )
    .orderBy('r.updated_at', 'desc')
    .orderBy('r.release_id')
    .execute();
  const all = rows.map(toRelease);
  const of = (reason: RolloutAttention) => all.filter((release) => rolloutAttention(release, now) === reason);
  return Object.fromEntries(rolloutAttentions.map((reason) => [reason, of(reason)])) as Record<
    RolloutAttention,
    Release[]
  >;
}

/** Published, active releases whose rollout is paused, the last paused first. */
export async function pausedReleases(db: Db): Promise<Release[]> {
  const rows = await published(db)
    .where('r.paused_at', 'is not', null)
    .orderBy('r.paused_at', 'desc')
    .orderBy('r.release_id')
    .execute();
  return rows.map(toRelease);
}

const published = (db: Db) => selectReleases(db).where((eb) => eb.and(inFeed));
