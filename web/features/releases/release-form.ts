import type { Release } from '../../../contract/releases.ts';
import { channels } from '../../../contract/versions.ts';
import { percentageOf, publishPayload, type PublishValues } from '../../release-form.ts';
import { firstPercentage, planPayload, planValues, type PlanValues } from '../../release-plan.ts';

/** Values of the Edit dialog. */
export type ReleaseValues = PublishValues & { isActive: boolean; plan: PlanValues };

export const valuesOf = (release: Release): ReleaseValues => ({
  isActive: release.isActive,
  isDraft: release.isDraft,
  isMandatory: release.isMandatory && !release.isDraft,
  channel: release.channel,
  minimumAppVersion: release.minimumAppVersion ?? '',
  security: release.security,
  minimumSupportedVersion: release.minimumSupportedVersion ?? '',
  releaseNotes: release.releaseNotes ?? '',
  rolloutPercentage: release.rolloutPercentage,
  acceptableFailures: release.acceptableFailures ?? '',
  plan: planValues(release),
});

/**
 * What a user who may not publish cannot change of a release, given its stored values: offer it to machines (Draft,
 * Active), or change the terms on which machines are offered it.
 */
export function lockedFor(seen: Pick<Release, 'isDraft' | 'isActive'>, mayPublish: boolean) {
  return {
    draft: !mayPublish && seen.isDraft,
    active: !mayPublish && !seen.isDraft && !seen.isActive,
    terms: !mayPublish && !seen.isDraft && seen.isActive,
  };
}

/**
 * Clears the percentage of a draft that has the default of 100 %, so that the user has to choose one before publishing.
 */
export const percentageToChoose = (isDraft: boolean): Partial<ReleaseValues> => ({
  rolloutPercentage: isDraft ? 100 : unchosen,
});

const unchosen = '';

/** Whether a release is about to be published without a chosen percentage. */
export const lacksRollout = ({ isDraft, rolloutPercentage, plan }: ReleaseValues): boolean =>
  !isDraft && !plan.inSteps && rolloutPercentage === unchosen;

type Reach = Pick<ReleaseValues, 'isDraft' | 'isActive' | 'channel' | 'rolloutPercentage' | 'plan'>;
type Offered = Pick<Release, 'isDraft' | 'isActive' | 'channel' | 'rolloutPercentage' | 'pausedAt'>;

const offeredTo = (release: Pick<Reach, 'isDraft' | 'isActive' | 'rolloutPercentage'>): number =>
  release.isDraft || !release.isActive ? 0 : percentageOf(release.rolloutPercentage);

/** The percentage that saving leads to at once: with steps, that of the first, or the one that was reached before. */
export function savedPercentage({ plan, rolloutPercentage }: Reach, seen: Offered): number {
  if (!plan.inSteps) return percentageOf(rolloutPercentage);
  const first = firstPercentage(plan);
  return seen.isDraft ? first : Math.max(first, seen.rolloutPercentage);
}

/**
 * Whether saving needs a confirmation: the release would be offered to more machines than now, and to all of them or to
 * more than the user chose, because they did not change the percentage.
 */
export function needsReachConfirm(values: Reach, seen: Offered): boolean {
  const rolloutPercentage = savedPercentage(values, seen);
  const [before, after] = [offeredTo(seen), offeredTo({ ...values, rolloutPercentage })];
  const wider = channels.indexOf(values.channel) < channels.indexOf(seen.channel);
  const asked = rolloutPercentage !== seen.rolloutPercentage || (seen.isDraft && values.plan.inSteps);
  return seen.pausedAt === null && (after > before || (wider && after > 0)) && (after === 100 || !asked);
}

export const payloadOf = (values: ReleaseValues) => ({
  ...publishPayload(values),
  isActive: values.isActive,
});

/** The percentage as typed, for the contract to validate; a draft has none (spec part 2, section 4). */
export const rolloutOf = ({ isDraft, rolloutPercentage, plan }: ReleaseValues) =>
  isDraft || plan.inSteps ? {} : { rolloutPercentage };

/** A percentage, or steps with their start. */
export type Rollout = { rolloutPercentage: number } | ReturnType<typeof planPayload>;

/** The rollout that the user chose; undefined for a draft, which has none (spec part 2, section 4). */
export function chosenRollout({ isDraft, rolloutPercentage, plan }: ReleaseValues): Rollout | undefined {
  if (isDraft) return undefined;
  return plan.inSteps ? planPayload(plan) : { rolloutPercentage: percentageOf(rolloutPercentage) };
}

/**
 * The rollout of a release in the precision of the form, to compare it with a chosen one. A draft has none: the percentage
 * that it would be published with was chosen by nobody.
 */
export const storedRollout = (release: Release): Rollout | undefined => chosenRollout(valuesOf(release));

export const rolloutText = (percentage: number): string =>
  percentage === 100
    ? 'This release will be available to all users immediately'
    : `This release will be gradually rolled out to ${percentage}% of users`;
