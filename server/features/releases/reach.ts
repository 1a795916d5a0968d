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
import { besideOf, fedReleases, isAhead, type Rolled } from './newer-releases.ts';

/**
 * The number of machines that a build would be offered to at 100 %: those of its platform, architecture and channel that
 * run an older version, and at least its minimum version, but those that are offered a newer release. As in the feeds,
 * a machine of unknown version counts, and one without a channel is on stable. `running` are those that run it already.
 */
export async function reachOf(db: Db, build: Build): Promise<RouteAnswer<typeof calls.reach>> {
  const { platform, architecture, version, minimumAppVersion } = build;
  const [rows, fed] = await Promise.all([
    db
      .selectFrom('machines')
      .where('platform', '=', platform)
      .where('architecture', '=', architecture)
      .where(askedFor, 'in', channelsReached(build.channel))
      .select((eb) => [
        'last_version as runs',
        askedFor.as('channel'),
        eb.fn.countAll<number>().as('machines'),
      ])
      .groupBy(['last_version', askedFor])
      .execute(),
    fedReleases(db),
  ]);
  const sumOf = (some: typeof rows) => some.reduce((sum, { machines }) => sum + machines, 0);
  const ours = reportedAs(version);
  const older = rows.filter(({ runs }) => isOlder({ version }, runs));
  const taking = older.filter(({ runs }) => isOlder(build, runs));
  const others = fed.filter((one) => one.version !== version);
  const asPartial = partial(build);
  const full = others.filter((one) => one.rolloutPercentage === 100 && isAhead(one, asPartial));
  const insteadOf = (group: (typeof rows)[number]) => full.find((one) => wouldTake(one, group))?.version;
  const newer = [...new Set(full.map((one) => one.version))]
    .map((instead) => ({
      version: instead,
      machines: sumOf(taking.filter((group) => insteadOf(group) === instead)),
    }))
    .filter(({ machines }) => machines > 0);
  return {
    machines: sumOf(taking.filter((group) => !insteadOf(group))),
    running: sumOf(rows.filter(({ runs }) => runs !== null && ours.includes(runs))),
    newer,
    below: minimumAppVersion === undefined ? 0 : sumOf(older) - sumOf(taking),
    ...besideOf(others, asPartial),
  };
}

const askedFor = sql<Channel>`coalesce(channel, 'stable')`;

type Build = RouteInput<typeof calls.reach>['query'];

/** A build at the first percentage of its rollout, newer than others of its version. */
const partial = ({ minimumAppVersion, fileKind = '', ...build }: Build) =>
  ({
    ...build,
    fileKind,
    minimumAppVersion: minimumAppVersion ?? null,
    id: 'new',
    isDraft: false,
    isActive: true,
    pausedAt: null,
    damagedAt: null,
    rolloutPercentage: 1,
  }) satisfies Rolled;

type Versions = { version: string; minimumAppVersion?: string | null | undefined };

/** Whether machines of its platform and architecture, on that channel and version, would be offered a build at 100 %. */
export const wouldTake = (
  build: Versions & { channel: Channel },
  { channel, runs }: { channel: Channel; runs: string | null },
): boolean => reaches(build.channel, channel) && isOlder(build, runs);

const isOlder = ({ version, minimumAppVersion: least }: Versions, runs: string | null): boolean =>
  runs === null ||
  !isVersion(runs) ||
  (compareVersions(version, runs) > 0 && (!least || compareVersions(runs, least) >= 0));
