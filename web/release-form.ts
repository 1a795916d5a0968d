import type { FormErrors } from '@mantine/form';
import { percentage } from '../contract/builds.ts';
import { compareVersions, isVersion, type Channel } from '../contract/versions.ts';
import { stepFields } from './release-plan.ts';
import type { TypedNumber } from './ui/typed-number.ts';

/** The fields that the upload form and the edit form of a release share, as typed. */
export type PublishValues = {
  channel: Channel;
  releaseNotes: string;
  minimumAppVersion: string;
  minimumSupportedVersion: string;
  security: boolean;
  isMandatory: boolean;
  isDraft: boolean;
  rolloutPercentage: TypedNumber;
  /** In percent; empty: as many as of the previous release. */
  acceptableFailures: TypedNumber;
};

export const numberFields = ['rolloutPercentage', 'acceptableFailures'] as const;

/** Validated on blur: fields whose text may be half of what it should be. */
export const typedFields = [
  ...numberFields,
  'minimumAppVersion',
  'minimumSupportedVersion',
  ...stepFields('plan'),
  'plan.startsAt',
];

/** The request body of these fields, without the percentage. Numbers are as typed, for the contract to validate. */
export const publishPayload = (values: PublishValues) => ({
  channel: values.channel,
  releaseNotes: values.releaseNotes,
  minimumAppVersion: values.minimumAppVersion.trim(),
  minimumSupportedVersion: values.minimumSupportedVersion.trim(),
  security: values.security,
  isMandatory: values.isMandatory && !values.isDraft,
  isDraft: values.isDraft,
  acceptableFailures: values.acceptableFailures === '' ? null : (values.acceptableFailures as number),
});

/**
 * A draft cannot be mandatory (spec part 2, section 5). An invalid percentage is replaced by `usual`, since that of a
 * draft cannot be edited.
 */
export const withDraft = (
  values: PublishValues,
  isDraft: boolean,
  usual: number,
): Partial<PublishValues> => ({
  isDraft,
  isMandatory: values.isMandatory && !isDraft,
  ...(isDraft && !isPercentage(values.rolloutPercentage) && { rolloutPercentage: usual }),
});

/** Nobody could update to a release whose minimum version is its own or higher: a slip, unless it is the one `seen`. */
export function minimumErrors(minimumAppVersion: string, version: string, seen = ''): FormErrors {
  const [least, own] = [minimumAppVersion.trim(), version.trim()];
  if (least === seen || !isVersion(least) || !isVersion(own) || compareVersions(least, own) < 0) return {};
  return { minimumAppVersion: 'Must be lower than the version of the release' };
}

export const isPercentage = (typed: TypedNumber): boolean => percentage.safeParse(typed).success;

/** The percentage as typed, valid or not; 0 for what is not a number (spec part 2, section 5). */
export const percentageOf = (typed: TypedNumber): number => (typeof typed === 'number' ? typed : 0);
