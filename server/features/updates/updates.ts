import type { Explanation } from '../../../contract/machines.ts';
import type { Db } from '../../db/client.ts';
import { selectReleases, toLiveRelease } from '../releases/index.ts';
import { countedVersion } from './counted-version.ts';
import { explainEach, type KnownMachine } from './explain.ts';

/**
 * For each release, including those in the recycle bin: why the machine is or is not offered it, as the feeds decide.
 * They take the version that a machine `sends` as it is.
 */
export async function explainOffers(
  db: Db,
  { sends, ...machine }: KnownMachine & { sends: boolean },
): Promise<Explanation[]> {
  const releases = (await selectReleases(db).execute()).map(toLiveRelease);
  const { currentVersion } = machine;
  return explainEach(releases, {
    ...machine,
    currentVersion: sends ? currentVersion : (countedVersion(currentVersion, releases) ?? null),
  });
}
