import { isOffered } from '../../../contract/release-state.ts';
import type { releases as calls } from '../../../contract/releases.ts';
import type { RouteAnswer } from '../../../contract/route.ts';
import { byWidth, compareVersions, reaches } from '../../../contract/versions.ts';
import type { Db } from '../../db/client.ts';
import { isSameLine, lacksSha1, toLiveRelease, type Line, type LiveRelease } from './live-releases.ts';
import { inFeed, selectReleases } from './release-row.ts';

type Sorted = Pick<LiveRelease, 'id' | 'version' | 'channel'>;

/** What of a release decides whether others are offered beside it. */
export type Rolled = Sorted &
  Line &
  Pick<
    LiveRelease,
    'isDraft' | 'isActive' | 'pausedAt' | 'damagedAt' | 'rolloutPercentage' | 'minimumAppVersion'
  > & { sha1?: string | null };

/**
 * Sorts by version; the same version in several channels by the widest channel; builds of one version on one channel
 * (1.2.0+1, 1.2.0+2) by creation, since the later one is a fix. Ids sort by creation time.
 */
export const byNewest = (a: Sorted, b: Sorted): number =>
  compareVersions(b.version, a.version) || byWidth(a.channel, b.channel) || (a.id > b.id ? -1 : 1);

/** Whether feeds offer it to some machines, unless it is in the recycle bin. */
const isInFeeds = (r: Rolled): boolean =>
  isOffered(r) && r.damagedAt === null && r.rolloutPercentage > 0 && !lacksSha1(r);

/** Whether it is offered before `older` to machines that both reach, where they are not below its minimum version. */
export const isAhead = (newer: Rolled, older: Rolled): boolean =>
  isInFeeds(newer) && isSameLine(newer, older) && byNewest(newer, older) < 0;

/** Whether machines that could take `older` are asked for this one first, where they are not below its minimum version. */
const comesFirst = (newer: Rolled, older: Rolled): boolean =>
  isAhead(newer, older) && reaches(newer.channel, older.channel);

const isNoHigher = (least: string | null, other: string | null): boolean =>
  least === null || (other !== null && compareVersions(least, other) <= 0);

/** The full release that every machine that could take `older` is offered instead, but for those that a policy keeps from it. */
export const replacedBy = <R extends Rolled>(all: readonly R[], older: Rolled): R | undefined =>
  all.find(
    (newer) =>
      newer.rolloutPercentage === 100 &&
      comesFirst(newer, older) &&
      isNoHigher(newer.minimumAppVersion, older.minimumAppVersion),
  );

/**
 * The newer partial rollout that hides a partial one: machines inside of it take it, and the others take no second one
 * (`decideOffer`), unless a policy or its minimum version keeps the newer one from them. Undefined where a full release
 * replaces the older one as well: its rollout is then for the machines that policies keep from newer ones, and no other
 * machine is offered it at any percentage.
 */
export function hiddenBy<R extends Rolled>(all: readonly R[], releaseId: string): R | undefined {
  const older = all.find(({ id }) => id === releaseId);
  if (!older || older.rolloutPercentage === 100 || replacedBy(all, older)) return undefined;
  // one at 100 % that does not replace it has a higher minimum version: the machines below that take the older one, and
  // those above none of the partial ones that it replaces
  return all.find((one) => one.rolloutPercentage < 100 && comesFirst(one, older) && !replacedBy(all, one));
}

/** Which partial rollouts in the feeds a release hides while it is partial, and which one hides it; it may be among them. */
export function besideOf(fed: readonly Rolled[], release: Rolled): Pick<Reach, 'hiddenBy' | 'hides'> {
  const others = fed.filter(({ id }) => id !== release.id);
  const all = [release, ...others];
  const hiding = hiddenBy(all, release.id);
  const hidden = others.filter(
    ({ id, rolloutPercentage }) => rolloutPercentage > 0 && !hiddenBy(others, id) && hiddenBy(all, id),
  );
  return {
    hiddenBy: hiding ? partialOf(hiding) : null,
    hides: hidden.filter((one) => one.pausedAt === null && one.damagedAt === null).map(partialOf),
  };
}

type Reach = RouteAnswer<typeof calls.reach>;

/** What the contract says of a partial rollout beside another one. */
export const partialOf = ({ id, version, rolloutPercentage }: Rolled) => ({
  id,
  version,
  rolloutPercentage,
});

/** The releases in a feed, paused or not, as they are in this transaction. */
export async function fedReleases(db: Db): Promise<LiveRelease[]> {
  const rows = await selectReleases(db)
    .where((eb) => eb.and(inFeed))
    .execute();
  return rows.map(toLiveRelease).toSorted(byNewest);
}
