import type { Release } from '../../../contract/releases.ts';
import { rolloutAttention, type RolloutAttention } from '../../../contract/rollout-attention.ts';
import { rolloutAttentions } from '../../../contract/list-words.ts';
import type { Db } from '../../db/client.ts';
import { fedReleases, hiddenBy } from './newer-releases.ts';
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
  const fed = await fedReleases(db);
  const all = rows.map((row) => ({ release: toRelease(row), reason: rolloutAttention(toRelease(row), now) }));
  // a rollout that a newer one hides waits for that, and for no person
  const isHidden = (release: Release) => hiddenBy(fed, release.id) !== undefined;
  const of = (wanted: RolloutAttention) =>
    all.flatMap(({ release, reason }) =>
      reason === wanted && !(reason === 'ready' && isHidden(release)) ? [release] : [],
    );
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
