import { planText } from '../../../contract/next-step.ts';
import type { Release } from '../../../contract/releases.ts';
import { releaseLabels } from '../../field-labels.ts';
import { ApiError } from '../../api-error.ts';
import { differingFields, type Clash } from '../../edit-conflict.ts';
import { isSame } from '../../merge-edits.ts';
import { momentText } from '../../ui/time.ts';
import { storedRollout, type Rollout } from './release-form.ts';

type Seen = { readonly rollout: Rollout | undefined };

/**
 * The conflict of a rollout with the one that another user set since it was `seen`; undefined without one. A
 * rollout is one value: a percentage and the steps of a colleague would be merged to either.
 */
export function rolloutConflict(seen: Seen, stored: Release, yours: Rollout): ApiError | undefined {
  const current = storedRollout(stored);
  if (!current || isSame(current, seen.rollout)) return undefined;
  return editConflict([ofRollout(current, yours), ofVersion(stored)]);
}

/** A conflict of the update, which does not carry the rollout, with the rollout where it differs as well. */
export function withRollout(
  { details }: Pick<ApiError, 'details'>,
  stored: Release,
  yours: Rollout | undefined,
): ApiError {
  const current = storedRollout(stored);
  return editConflict([
    ...details.filter(({ path }) => !carried.has(path)),
    ...(!yours || isSame(current, yours) ? [] : [ofRollout(current, yours)]),
  ]);
}

/** With an update that publishes. */
const carried: ReadonlySet<string> = new Set(['rolloutPercentage', 'rolloutPlan', 'startsAt']);

/** The version that the next attempt is sent from. */
export const ofVersion = ({ updatedAt }: Pick<Release, 'updatedAt'>) => ({
  path: 'updatedAt',
  message: 'Was changed',
  current: updatedAt,
});

const ofRollout = (current: Rollout | undefined, yours: Rollout) => ({
  path: 'rollout',
  message: 'Was changed',
  current,
  yours,
});

const editConflict = (details: ApiError['details']) =>
  new ApiError(409, 'Was changed by someone else', { code: 'EDIT_CONFLICT', details: [...details] });

/** Labels of the fields in which two edits of one release differ. */
export const conflictRows = (clash: Clash) =>
  differingFields(clash, releaseLabels, {
    rollout: rolloutText,
    acceptableFailures: (share: unknown) =>
      typeof share === 'number' ? `${share} %` : 'As the previous release',
  });

function rolloutText(rollout: Rollout | undefined): string {
  if (!rollout) return 'None, a draft';
  return 'rolloutPlan' in rollout
    ? `In steps: ${planText(rollout.rolloutPlan)}${rollout.startsAt ? `, from ${momentText(rollout.startsAt)}` : ''}`
    : `${rollout.rolloutPercentage} %`;
}
