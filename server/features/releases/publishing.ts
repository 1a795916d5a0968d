import { releases as calls, type Release } from '../../../contract/releases.ts';
import type { Caller } from '../../caller.ts';
import type { Failure } from '../../failure.ts';
import { authorize } from '../../http/adapter.ts';

/** What of a release decides which machines are offered it, and how; `deletedAt` only where it is in the bin. */
type Offer = Pick<
  Release,
  | 'isDraft'
  | 'isActive'
  | 'pausedAt'
  | 'channel'
  | 'rolloutPercentage'
  | 'minimumAppVersion'
  | 'isMandatory'
  | 'failureThreshold'
> & { deletedAt?: string };

/**
 * Undefined when the caller may decide what machines are offered: staff with `rollouts` create or update, or an API
 * key of the scope `releases`, whose maker held them. Otherwise FORBIDDEN.
 */
function refusePublishing(by: Caller): Failure | undefined {
  const { actor } = by;
  if (actor.kind === 'apiKey' && actor.scopes.includes('releases')) return undefined;
  return authorize(calls.rollout.access, actor);
}

/** The same for a release that is to be made; a draft asks for nothing more. */
export const refuseNew = (by: Caller, { isDraft }: { isDraft: boolean }): Failure | undefined =>
  isDraft ? undefined : refusePublishing(by);

/**
 * The same, asked only where the change of a release reaches machines: it enters the feeds, goes on after a pause, or
 * is offered to others or on other terms than before. Taking it out of the feeds asks for no more than the call does.
 */
export function refuseOffer(by: Caller, before: Offer, after: Offer): Failure | undefined {
  if (!isOut(after)) return undefined;
  const isSame =
    isOut(before) &&
    (after.pausedAt !== null || before.pausedAt === null) &&
    termsOf(before) === termsOf(after);
  return isSame ? undefined : refusePublishing(by);
}

const isOut = (r: Offer): boolean => !r.isDraft && r.isActive && r.deletedAt === undefined;

const termsOf = (r: Offer): string =>
  JSON.stringify([r.channel, r.rolloutPercentage, r.minimumAppVersion, r.isMandatory, r.failureThreshold]);
