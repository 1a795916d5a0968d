import { nextStep, type PlanState } from './next-step.ts';
import type { Release } from './releases.ts';

// Without schemas, because lists load it: see decision record 67.

type ReleaseState = Pick<Release, 'isDraft' | 'isActive' | 'pausedAt'>;
type SteppingState = ReleaseState & Pick<Release, 'damagedAt'> & PlanState;

/** The reason shown to users who may change releases but not roll them out. */
export const whyNotPublish =
  'You may neither publish nor change what machines are offered: that needs rollouts:create or rollouts:update.';

/** Why a user who may not roll out cannot restore a release: one that is published and active returns to the feeds. */
export const restoreRefusal = (r: ReleaseState, mayPublish: boolean): string | null =>
  mayPublish || r.isDraft || !r.isActive ? null : whyNotPublish;

const inNoFeed = (r: ReleaseState) =>
  r.isDraft ? 'A draft is in no feed' : r.isActive ? null : 'An inactive release is in no feed';

/** Published, active and not paused: feeds may offer it. */
export const isOffered = (r: ReleaseState): boolean => !inNoFeed(r) && r.pausedAt === null;

/** Why an action on a release is refused in its present state; null when it is allowed (spec part 2, section 4). */
export const releaseRefusal = {
  rollOut: (r: ReleaseState) =>
    r.isDraft
      ? 'Rollout configuration is disabled for draft releases. Publish the release first to configure rollout settings.'
      : null,
  pause: (r: ReleaseState) => inNoFeed(r) ?? (r.pausedAt ? 'The rollout is already paused' : null),
  resume: (r: ReleaseState) =>
    !r.pausedAt
      ? 'The rollout is not paused'
      : r.isDraft
        ? 'A draft is in no feed'
        : r.isActive
          ? null
          : 'An inactive release is in no feed. Make it active, then resume it',
  withdraw: (r: ReleaseState) =>
    r.isDraft ? 'A draft is in no feed' : r.isActive ? null : 'The release is already inactive',
  widen: (r: SteppingState) =>
    inNoFeed(r) ??
    (r.damagedAt
      ? 'The file of the release is damaged'
      : r.pausedAt
        ? 'The rollout is paused'
        : nextStep(r)
          ? null
          : 'The rollout has no further step'),
};
