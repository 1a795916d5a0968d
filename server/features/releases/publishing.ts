import { releases as calls, type Release } from '../../../contract/releases.ts';
import type { Caller } from '../../caller.ts';
import type { Failure } from '../../failure.ts';
import type { Db } from '../../db/client.ts';
import { authorize } from '../../http/authorize.ts';
import { isOut, refusePublished } from '../approvals/index.ts';

/** The fields that decide which machines are offered a release, and how; `deletedAt` only for one in the recycle bin. */
type Offer = Pick<
  Release,
  | 'isDraft'
  | 'isActive'
  | 'pausedAt'
  | 'channel'
  | 'rolloutPercentage'
  | 'minimumAppVersion'
  | 'security'
  | 'minimumSupportedVersion'
  | 'isMandatory'
  | 'acceptableFailures'
  | 'rolloutPlan'
  | 'startsAt'
> & { deletedAt?: string };

/**
 * Undefined when the caller may decide which machines are offered a release: staff with `rollouts` create or update, or
 * an API key of the scope `releases`, whose creator held them. Otherwise FORBIDDEN.
 */
function refusePublishing(by: Caller): Failure | undefined {
  const { actor } = by;
  if (actor.kind === 'apiKey' && actor.scopes.includes('releases')) return undefined;
  return authorize(calls.rollout.access, actor);
}

/** The same check for a new release, and whether its channel requires approvals; a draft needs no permission. */
export const refuseNew = async (
  db: Db,
  by: Caller,
  build: Pick<Release, 'isDraft' | 'channel'>,
): Promise<Failure | undefined> =>
  build.isDraft ? undefined : (refusePublishing(by) ?? (await refusePublished(db, by, build)));

/**
 * The same check for a change, only where it reaches machines: the release enters the feeds, resumes after a pause, or
 * is offered to other machines or on other terms. Removing it from the feeds needs no further permission.
 */
export function refuseOffer(by: Caller, before: Offer, after: Offer): Failure | undefined {
  if (!isOut(after)) return undefined;
  const offersNoMore =
    isOut(before) &&
    (after.pausedAt !== null || before.pausedAt === null) &&
    termsOf(before) === termsOf(after);
  return offersNoMore ? undefined : refusePublishing(by);
}

const termsOf = (r: Offer): string =>
  JSON.stringify([
    r.channel,
    r.rolloutPercentage,
    r.rolloutPlan,
    r.startsAt,
    r.minimumAppVersion,
    r.security,
    r.minimumSupportedVersion,
    r.isMandatory,
    r.acceptableFailures,
  ]);
