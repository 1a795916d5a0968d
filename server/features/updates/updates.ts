import type { Explanation } from '../../../contract/machines.ts';
import type { Db } from '../../db/client.ts';
import { selectReleases, toLiveRelease } from '../releases/index.ts';
import { explainEach, type KnownMachine } from './explain.ts';

/** The versions of all releases, those in the recycle bin included; any other that a machine reports counts as unknown. */
export async function versionsOfReleases(db: Db): Promise<ReadonlySet<string>> {
  const rows = await db.selectFrom('releases').select('version').distinct().execute();
  return new Set(rows.map(({ version }) => version));
}

/** For each release, including those in the recycle bin: why the machine is or is not offered it, as the feeds decide. */
export async function explainOffers(db: Db, machine: KnownMachine): Promise<Explanation[]> {
  const rows = await selectReleases(db).execute();
  const isKnown = rows.some(({ version }) => version === machine.currentVersion);
  return explainEach(rows.map(toLiveRelease), {
    ...machine,
    currentVersion: isKnown ? machine.currentVersion : null,
  });
}
