import { isOffered } from '../../../contract/release-state.ts';
import type { Release } from '../../../contract/releases.ts';
import { byWidth, compareVersions } from '../../../contract/versions.ts';
import { isSame } from '../../merge-edits.ts';
import { percentageOf, publishPayload, type PublishValues } from '../../release-form.ts';
import { planPayload, planValues, type PlanValues } from '../../release-plan.ts';

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

/** Whether saving makes the deferrals of policies begin again, which count from when the release is offered to all. */
export function restartsDeferrals(values: ReleaseValues, seen: Release): boolean {
  const rollout = chosenRollout(values);
  const isNarrower = rollout && 'rolloutPercentage' in rollout && rollout.rolloutPercentage < 100;
  return (
    seen.fullAt !== null &&
    (values.isDraft ||
      isNarrower === true ||
      values.channel !== seen.channel ||
      values.isActive !== seen.isActive)
  );
}

/**
 * The rollout of a release in the precision of the form, to compare it with a chosen one. A draft has none: the percentage
 * that it would be published with was chosen by nobody.
 */
export const storedRollout = (release: Release): Rollout | undefined => chosenRollout(valuesOf(release));

/** An edit as it is sent. Without a rollout, the stored one stays. */
export type Edited = ReturnType<typeof payloadOf> & { rollout: Rollout | undefined };
type Offered = Pick<Release, 'isDraft' | 'isActive' | 'pausedAt'>;
type Terms = Pick<
  Release,
  'minimumAppVersion' | 'minimumSupportedVersion' | 'security' | 'isMandatory' | 'acceptableFailures'
>;
type Reaching = Offered &
  Pick<Release, 'channel' | 'minimumAppVersion' | 'rolloutPercentage' | 'rolloutPlan' | 'startsAt'>;
type Stored = Reaching & Terms;

/** On what terms machines are offered a release. */
const termsOf = (r: Terms): Terms => ({
  minimumAppVersion: r.minimumAppVersion,
  minimumSupportedVersion: r.minimumSupportedVersion,
  security: r.security,
  isMandatory: r.isMandatory,
  acceptableFailures: r.acceptableFailures,
});

/**
 * To whom and on what terms saving an edit of the stored release offers it, at once and by the steps of its plan, and
 * whether that needs a question: it reaches more machines than now, or, by other steps or on other terms than now, more
 * than the user `saw` or on terms that the user did not see. `isTyped`: the user chose this percentage in the form, it is
 * not everyone, and nothing else in the edit of a release that is offered reaches more machines.
 */
export function reachAfter(edit: Edited, stored: Stored, saw: Stored = sawWith(stored, edit)) {
  const { rolloutPlan, startsAt } = withSteps(stored, edit.rollout);
  const rolloutPercentage = savedPercentage(edit, stored);
  const after = { ...edit, pausedAt: stored.pausedAt, rolloutPercentage, rolloutPlan, startsAt };
  const startsPlan = stored.isDraft && edit.rollout !== undefined && 'rolloutPlan' in edit.rollout;
  const terms = termsOf(edit);
  const share = shareOf(after);
  const waits = share > rolloutPercentage && startsAt !== null && Date.parse(startsAt) > Date.now();
  const goesOn = endOf(after) > share;
  const reachesUnseen =
    isWider(after, saw) ||
    (goesOn && endOf(after) > endOf(saw)) ||
    (share > 0 && !isSame(terms, termsOf(saw)));
  const otherwise = {
    ...after,
    rolloutPercentage: stored.rolloutPercentage,
    rolloutPlan: stored.rolloutPlan,
  };
  const addsToIt = endOf(after) > endOf(stored) || !isSame(terms, termsOf(stored));
  return {
    reach: {
      channel: edit.channel,
      rolloutPercentage: share,
      rolloutPlan: goesOn ? rolloutPlan : null,
      startsAt: waits ? startsAt : null,
      ...terms,
    },
    widens: isWider(after, stored) || (reachesUnseen && addsToIt),
    isTyped:
      share < 100 &&
      (startsPlan || firstOf(after) !== firstOf(stored)) &&
      (shareOf(stored) === 0 || !isWider(otherwise, stored)),
  };
}

/**
 * Whether an edit changes which machines are offered the release, or on what terms, besides its rollout. A rollout that
 * changes too goes in the same call then, so that no machine meets one without the other.
 */
export const changesOffer = (edited: Offer, stored: Offer): boolean =>
  !isSame(offerOf(edited), offerOf(stored));

type Offer = Terms & Pick<Release, 'channel' | 'isDraft' | 'isActive'>;
const offerOf = (r: Offer): Offer => ({
  channel: r.channel,
  isDraft: r.isDraft,
  isActive: r.isActive,
  ...termsOf(r),
});

const shareOf = (r: Reaching) => (isOffered(r) ? firstOf(r) : 0);

/** The percentage of now or, where the steps have not begun, the one that they begin with. */
const firstOf = (r: Pick<Reaching, 'rolloutPercentage' | 'rolloutPlan'>) =>
  Math.max(r.rolloutPercentage, r.rolloutPlan?.[0]?.percentage ?? 0);

/** Where the steps lead by themselves. */
const endOf = (r: Reaching) =>
  isOffered(r) ? Math.max(r.rolloutPercentage, r.rolloutPlan?.at(-1)?.percentage ?? 0) : 0;

/** What the user saw of a release, with the steps and terms of their own edit. */
export const sawWith = <R extends Stored>(seen: R, edit: Edited): R => ({
  ...withSteps(seen, edit.rollout),
  ...termsOf(edit),
});

/** With the steps of a chosen rollout, of which a percentage has none. */
const withSteps = <R extends Pick<Release, 'rolloutPlan' | 'startsAt'>>(
  r: R,
  rollout: Rollout | undefined,
): R => ({
  ...r,
  ...(rollout && ('rolloutPlan' in rollout ? rollout : { rolloutPlan: null, startsAt: null })),
});

/** When steps begin that wait for their start, in seconds, as a form has it; 0 for what is offered by now, or at once. */
function beginOf(r: Reaching): number {
  const begins = r.startsAt === null || firstOf(r) <= r.rolloutPercentage ? 0 : Date.parse(r.startsAt);
  return begins > Date.now() ? Math.floor(begins / 1000) : 0;
}

/** Offered to more machines than before, or earlier. */
const isWider = (r: Reaching, before: Reaching) =>
  shareOf(r) > shareOf(before) ||
  (shareOf(r) > 0 &&
    (beginOf(r) < beginOf(before) ||
      byWidth(r.channel, before.channel) < 0 ||
      compareVersions(lowest(r), lowest(before)) < 0));

const lowest = (r: Pick<Release, 'minimumAppVersion'>) => r.minimumAppVersion || '0.0.0-0';

/** With steps, before they begin. */
function savedPercentage({ rollout }: Edited, stored: Stored): number {
  if (rollout && 'rolloutPercentage' in rollout) return rollout.rolloutPercentage;
  return rollout && stored.isDraft ? 0 : stored.rolloutPercentage;
}

export const rolloutText = (percentage: number): string =>
  percentage === 100
    ? 'This release will be available to all users immediately'
    : `This release will be gradually rolled out to ${percentage}% of users`;
