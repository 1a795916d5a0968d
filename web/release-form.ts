import type { FormErrors } from '@mantine/form';
import { percentage, type FailureThreshold } from '../contract/builds.ts';
import type { Channel } from '../contract/versions.ts';
import type { TypedNumber } from './ui/typed-number.ts';

/** The fields that the upload form and the edit form of a release share, as typed. */
export type PublishValues = {
  channel: Channel;
  releaseNotes: string;
  minimumAppVersion: string;
  isMandatory: boolean;
  isDraft: boolean;
  rolloutPercentage: TypedNumber;
  /** The rollout pauses itself when too many installs fail. */
  stopsOnFailures: boolean;
  failurePercent: TypedNumber;
  minimumInstalls: TypedNumber;
};

/** Validated on blur. */
export const numberFields = ['rolloutPercentage', 'failurePercent', 'minimumInstalls'] as const;

const usualThreshold = { percent: 5, minimumInstalls: 50 };

/** The fields of a failure threshold; without one, the defaults. */
export const thresholdValues = (threshold: FailureThreshold | null) => ({
  stopsOnFailures: threshold !== null,
  failurePercent: (threshold ?? usualThreshold).percent,
  minimumInstalls: (threshold ?? usualThreshold).minimumInstalls,
});

/** The request body of these fields, without the percentage. Numbers are as typed, for the contract to validate. */
export const publishPayload = (values: PublishValues) => ({
  channel: values.channel,
  releaseNotes: values.releaseNotes,
  minimumAppVersion: values.minimumAppVersion.trim(),
  isMandatory: values.isMandatory && !values.isDraft,
  isDraft: values.isDraft,
  failureThreshold: values.stopsOnFailures
    ? { percent: values.failurePercent as number, minimumInstalls: values.minimumInstalls as number }
    : null,
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

export const isPercentage = (typed: TypedNumber): boolean => percentage.safeParse(typed).success;

/** The percentage as typed, valid or not; 0 for what is not a number (spec part 2, section 5). */
export const percentageOf = (typed: TypedNumber): number => (typeof typed === 'number' ? typed : 0);

/** The errors of the contract or the server, by form field. */
export function atPublishFields({
  'failureThreshold.percent': percent,
  'failureThreshold.minimumInstalls': installs,
  ...errors
}: FormErrors): FormErrors {
  return {
    ...errors,
    ...(percent && { failurePercent: 'From 0 to 100' }),
    ...(installs && { minimumInstalls: 'A whole number from 1' }),
  };
}
