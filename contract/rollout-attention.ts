import { nextStep, type PlanState } from './next-step.ts';
import { rolloutAttentions } from './list-words.ts';

/** Why a published release needs a person, the most urgent first. */
export type RolloutAttention = (typeof rolloutAttentions)[number];

/** A step that is due is taken within a minute, unless it waits for a person. */
const waitsAfterMs = 5 * 60_000;

type State = PlanState & {
  isDraft: boolean;
  isActive: boolean;
  damagedAt: string | null;
  pausedAt: string | null;
  pausedBy: string | null;
  failuresClaimedAt: string | null;
};

/**
 * Why a release needs a person at `now`; null if it does not. `damaged`: its file is missing or altered; `failing`:
 * paused by the service; `claimed`: failures that may be forged, and so pause nothing; `paused`: paused by staff;
 * `ready`: its next step is due and is not taken without a person. A step that waits for a newer rollout, which hides
 * this release, is due here too: the list leaves it out.
 */
export function rolloutAttention(release: State, now: Date): RolloutAttention | null {
  if (release.isDraft || !release.isActive) return null;
  if (release.damagedAt) return 'damaged';
  if (release.pausedAt) return release.pausedBy === null ? 'failing' : 'paused';
  if (release.failuresClaimedAt) return 'claimed';
  const due = nextStep(release)?.dueAt;
  return due && Date.parse(due) + waitsAfterMs <= now.getTime() ? 'ready' : null;
}
