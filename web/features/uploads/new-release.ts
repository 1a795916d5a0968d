import { schemaResolver, type FormErrors, type UseFormReturnType } from '@mantine/form';
import { z } from 'zod';
import { buildFields, publishFields } from '../../../contract/builds.ts';
import { fileNameAt } from '../../../contract/file-names.ts';
import { urlReleaseInput, type releases } from '../../../contract/releases.ts';
import { isVersion, nextVersion, type Bump } from '../../../contract/versions.ts';
import type { RouteRequest } from '../../../contract/route.ts';
import {
  isPercentage,
  minimumErrors,
  percentageOf,
  publishPayload,
  type PublishValues,
} from '../../release-form.ts';
import { planErrors, planPayload, planValues, type PlanValues } from '../../release-plan.ts';
import type { TypedNumber } from '../../ui/typed-number.ts';
import type { BuildFields } from './upload-transport.ts';

export type ReleaseMode = 'file' | 'url';

/** The versions on a platform and channel that a suggestion depends on. */
export type KnownVersions = {
  /** The highest, or none. */
  existing: readonly string[];
  /**
   * Those in the recycle bin: a machine that runs a build from there is not offered another one of the same version, and
   * restoring it would be refused.
   */
  deleted: readonly string[];
};

/** Values of the upload modal, as typed. */
export type NewReleaseValues = PublishValues &
  Pick<BuildFields, 'version' | 'platform' | 'architecture'> & {
    mode: ReleaseMode;
    plan: PlanValues;
    fileUrl: string;
    fileSize: TypedNumber;
    sha512: string;
    /** The part of the highest version that the suggestion increments; null where the user typed a version. */
    bump: Bump | null;
  };

export type NewReleaseState = UseFormReturnType<NewReleaseValues>;

/** A release without a plan. */
export const unplanned = { rolloutPlan: null, startsAt: null };

/** Spec part 2, section 9. */
export const newRelease: NewReleaseValues = {
  mode: 'file',
  fileUrl: '',
  fileSize: '',
  sha512: '',
  bump: 'patch',
  version: '',
  channel: 'stable',
  platform: 'win32',
  architecture: 'x64',
  releaseNotes: '',
  minimumAppVersion: '',
  minimumSupportedVersion: '',
  security: false,
  isMandatory: false,
  isDraft: true,
  rolloutPercentage: 100,
  acceptableFailures: '',
  plan: planValues(unplanned),
};

/**
 * The suggested version; empty until the `known` ones of that platform and channel are loaded. While the cursor is in
 * the field, `held` stays in it: what a user has selected to replace must not change before the first key.
 */
export function withVersion(
  values: NewReleaseValues,
  known: KnownVersions | undefined,
  held?: string,
): NewReleaseValues {
  const { bump, channel } = values;
  if (bump === null) return values;
  const next = known ? nextVersion(known.existing, channel, bump, known.deleted) : '';
  return { ...values, version: held ?? next };
}

/** Anything that is not a number counts as 0, without an error (spec part 2, section 5). */
export function reachText(typed: TypedNumber): string {
  const reached = percentageOf(typed);
  if (!isPercentage(reached)) return '';
  return reached === 100
    ? 'All users will receive this update'
    : `Approximately ${reached}% of users will receive this update`;
}

/** The name of the file at a typed address. */
export const fileNameIn = (fileUrl: string): string | undefined =>
  URL.canParse(fileUrl.trim()) ? fileNameAt(new URL(fileUrl.trim())) : undefined;

/** The fields that file mode sends with the file. */
export const fieldsOf = (values: NewReleaseValues): BuildFields => ({
  ...publishPayload(values),
  version: values.version.trim(),
  platform: values.platform,
  architecture: values.architecture,
  ...(isInSteps(values)
    ? { rolloutPercentage: 100, ...planPayload(values.plan) }
    : { rolloutPercentage: values.rolloutPercentage as number }),
});

/** A draft has no plan: it is chosen when the draft is published. */
const isInSteps = ({ isDraft, plan }: NewReleaseValues) => !isDraft && plan.inSteps;

/** The percentage that publishing, or the start of its steps, begins with. */
export const firstOf = (values: NewReleaseValues): number =>
  percentageOf(isInSteps(values) ? (values.plan.steps[0]?.percentage ?? 0) : values.rolloutPercentage);

/** Whether creating it needs a confirmation: to all, or in steps; a typed percentage is intended. */
export const needsReachConfirm = (values: NewReleaseValues): boolean =>
  !values.isDraft && (isInSteps(values) || values.rolloutPercentage === 100);

/** The form values of a started upload; the inverse of `fieldsOf`. */
export const valuesOf = ({
  acceptableFailures,
  rolloutPlan = null,
  startsAt = null,
  ...fields
}: BuildFields): NewReleaseValues => ({
  ...newRelease,
  ...fields,
  bump: null,
  acceptableFailures: acceptableFailures ?? '',
  plan: planValues({ rolloutPlan, startsAt }),
});

export type UrlPayload = RouteRequest<typeof releases.createFromUrl>['body'];

/** The request body of URL mode. */
export const urlPayloadOf = (values: NewReleaseValues): UrlPayload => ({
  ...fieldsOf(values),
  fileUrl: values.fileUrl.trim(),
  fileSize: values.fileSize as number,
  sha512: values.sha512,
});

const checkFields = schemaResolver(z.strictObject({ ...buildFields, ...publishFields }), { sync: true });
const checkUrl = schemaResolver(urlReleaseInput, { sync: true });

/** Errors by field, in the words of spec part 2, section 5. `missing`: why there is no file; undefined if there is one. */
export function validate(values: NewReleaseValues, missing: string | undefined): FormErrors {
  const inUrlMode = values.mode === 'url';
  const errors = inUrlMode ? checkUrl(urlPayloadOf(values)) : checkFields(fieldsOf(values));
  for (const field of ['minimumAppVersion', 'minimumSupportedVersion'] as const) {
    const minimum = values[field].trim();
    if (minimum && !isVersion(minimum)) errors[field] = `Invalid semantic version: ${minimum}`;
  }
  Object.assign(errors, minimumErrors(values.minimumAppVersion, values.version));
  if (!values.isDraft) Object.assign(errors, planErrors(values.plan));
  if (!inUrlMode) return missing === undefined ? errors : { ...errors, file: missing };
  if (!values.fileUrl.trim()) errors['fileUrl'] = 'File URL is required';
  if (!values.sha512.trim()) errors['sha512'] = 'SHA512 hash is required';
  return errors;
}
