import { isInsidePin } from '../../../contract/policies.ts';
import type { Db } from '../../db/client.ts';
import { selectReleases, toLiveRelease, type ReleaseRow } from '../releases/index.ts';
import { effectivePolicies } from './policy-set.ts';

/**
 * The number of customers whose pin matches a release, and no other for its machines, in the recycle bin or not: once it
 * is permanently deleted, their pin counts no longer.
 */
export async function customersPinnedTo(db: Db, release: ReleaseRow): Promise<number> {
  if (!toLiveRelease(release).wasPublished) return 0;
  const policies = await effectivePolicies(db);
  const pins = [...policies.values()].flatMap(({ pin }) => pin?.value ?? []);
  const matching = pins.filter((pin) => isInsidePin(release.version, pin));
  if (matching.length === 0) return 0;
  const { platform, architecture, file_kind } = release;
  const others = await selectReleases(db)
    .where('r.release_id', '<>', release.release_id)
    .where((eb) => eb.and({ platform, architecture, file_kind }))
    .execute();
  const published = others.map(toLiveRelease).filter(({ wasPublished }) => wasPublished);
  return matching.filter((pin) => !published.some(({ version }) => isInsidePin(version, pin))).length;
}
