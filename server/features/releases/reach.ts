import { sql } from 'kysely';
import type { releases as calls } from '../../../contract/releases.ts';
import type { RouteAnswer, RouteInput } from '../../../contract/route.ts';
import {
  channelsReached,
  compareVersions,
  isVersion,
  reaches,
  reportedAs,
  type Channel,
} from '../../../contract/versions.ts';
import type { Db } from '../../db/client.ts';

/**
 * The number of machines that a release would be offered to at 100 %: those of its platform, architecture and channel
 * that run an older version, and at least its minimum version. As in the feeds, a machine of unknown version counts,
 * and one without a channel is on stable. `running` are those that run it already.
 */
export async function reachOf(db: Db, build: Build): Promise<RouteAnswer<typeof calls.reach>> {
  const { platform, architecture } = build;
  const rows = await db
    .selectFrom('machines')
    .where('platform', '=', platform)
    .where('architecture', '=', architecture)
    .where(sql`coalesce(channel, 'stable')`, 'in', channelsReached(build.channel))
    .select((eb) => ['last_version as runs', eb.fn.countAll<number>().as('machines')])
    .groupBy('last_version')
    .execute();
  const sumOf = (some: typeof rows) => some.reduce((sum, { machines }) => sum + machines, 0);
  const ours = reportedAs(build.version);
  return {
    machines: sumOf(rows.filter(({ runs }) => isOlder(build, runs))),
    running: sumOf(rows.filter(({ runs }) => runs !== null && ours.includes(runs))),
  };
}

type Build = RouteInput<typeof calls.reach>['query'];

/** Whether machines of its platform and architecture, on that channel and version, would be offered a build at 100 %. */
export const wouldTake = (
  build: Pick<Build, 'version' | 'channel' | 'minimumAppVersion'>,
  { channel, runs }: { channel: Channel; runs: string | null },
): boolean => reaches(build.channel, channel) && isOlder(build, runs);

const isOlder = (
  { version, minimumAppVersion }: Pick<Build, 'version' | 'minimumAppVersion'>,
  runs: string | null,
): boolean =>
  runs === null ||
  !isVersion(runs) ||
  (compareVersions(version, runs) > 0 &&
    (minimumAppVersion === undefined || compareVersions(runs, minimumAppVersion) >= 0));
