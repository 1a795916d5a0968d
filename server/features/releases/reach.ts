import { sql } from 'kysely';
import type { releases as calls } from '../../../contract/releases.ts';
import type { RouteAnswer, RouteInput } from '../../../contract/route.ts';
import { channels, compareVersions, isVersion } from '../../../contract/versions.ts';
import type { Db } from '../../db/client.ts';

/**
 * The number of machines that a release would be offered to at 100 %: those of its platform, architecture and channel
 * that run an older version, and at least its minimum version. As in the feeds, a machine of unknown version counts,
 * and one without a channel is on stable.
 */
export async function reachOf(
  db: Db,
  build: RouteInput<typeof calls.reach>['query'],
): Promise<RouteAnswer<typeof calls.reach>> {
  const { platform, architecture, version, minimumAppVersion } = build;
  const reached = channels.slice(channels.indexOf(build.channel));
  const rows = await db
    .selectFrom('machines')
    .where('platform', '=', platform)
    .where('architecture', '=', architecture)
    .where(sql`coalesce(channel, 'stable')`, 'in', reached)
    .select((eb) => ['last_version as runs', eb.fn.countAll<number>().as('machines')])
    .groupBy('last_version')
    .execute();
  const takes = (runs: string | null) =>
    runs === null ||
    !isVersion(runs) ||
    (compareVersions(version, runs) > 0 &&
      (minimumAppVersion === undefined || compareVersions(runs, minimumAppVersion) >= 0));
  return { machines: rows.filter(({ runs }) => takes(runs)).reduce((sum, row) => sum + row.machines, 0) };
}
