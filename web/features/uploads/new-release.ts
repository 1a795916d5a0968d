import { schemaResolver, type FormErrors, type UseFormReturnType } from '@mantine/form';
import { z } from 'zod';
import { buildFields, percentage, publishFields } from '../../../contract/builds.ts';
import { urlReleaseInput, type releases } from '../../../contract/releases.ts';
import { isVersion, nextVersion, type Bump } from '../../../contract/versions.ts';
import type { RouteRequest } from '../../../contract/route.ts';
import type { TypedNumber } from '../../ui/typed-number.ts';
import type { BuildFields } from './upload-transport.ts';

export type ReleaseMode = 'file' | 'url';

/** Fields of the upload modal, as they are typed. */
export type NewReleaseValues = Omit<BuildFields, 'failureThreshold' | 'rolloutPercentage'> & {
  rolloutPercentage: TypedNumber;
  mode: ReleaseMode;
  fileUrl: string;
  fileSize: TypedNumber;
  sha512: string;
  /** How the suggested version follows from the highest one; null where the person typed a version. */
  bump: Bump | null;
  stopsOnFailures: boolean;
  failurePercent: TypedNumber;
  failureInstalls: TypedNumber;
};

export type NewReleaseState = UseFormReturnType<NewReleaseValues>;

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
  isMandatory: false,
  isDraft: true,
  rolloutPercentage: 100,
  stopsOnFailures: false,
  failurePercent: 5,
  failureInstalls: 50,
};

/** The suggested version in its field; empty until the `existing` ones of that platform and channel are known. */
export function withVersion(
  values: NewReleaseValues,
  existing: readonly string[] | undefined,
): NewReleaseValues {
  const { bump, channel } = values;
  if (bump === null) return values;
  return { ...values, version: existing ? nextVersion(existing, channel, bump) : '' };
}

/**
 * A draft cannot be mandatory (spec part 2, section 5). A percentage that no release can have does not stay in the
 * field, since a draft's cannot be corrected.
 */
export const withDraft = (isDraft: boolean, typed: TypedNumber): Partial<NewReleaseValues> =>
  isDraft
    ? {
        isDraft,
        isMandatory: false,
        ...(!percentage.safeParse(typed).success && { rolloutPercentage: newRelease.rolloutPercentage }),
      }
    : { isDraft };

/** What is no number counts as 0; nothing is said of what is wrong (spec part 2, section 5). */
export function reachText(typed: TypedNumber): string {
  const reached = percentage.safeParse(typeof typed === 'number' ? typed : 0).data;
  if (reached === undefined) return '';
  return reached === 100
    ? 'All users will receive this update'
    : `Approximately ${reached}% of users will receive this update`;
}

/** What file mode sends beside the file. */
export function fieldsOf(values: NewReleaseValues): BuildFields {
  const { stopsOnFailures, failurePercent, failureInstalls } = values;
  return {
    version: values.version.trim(),
    channel: values.channel,
    platform: values.platform,
    architecture: values.architecture,
    releaseNotes: values.releaseNotes,
    minimumAppVersion: values.minimumAppVersion.trim(),
    isMandatory: values.isMandatory && !values.isDraft,
    isDraft: values.isDraft,
    rolloutPercentage: values.rolloutPercentage as number,
    failureThreshold: stopsOnFailures
      ? { percent: failurePercent as number, minimumInstalls: failureInstalls as number }
      : null,
  };
}

/** The form of an upload that was begun before; the way back from `fieldsOf`. */
export const valuesOf = ({ failureThreshold, ...fields }: BuildFields): NewReleaseValues => ({
  ...newRelease,
  ...fields,
  bump: null,
  ...(failureThreshold && {
    stopsOnFailures: true,
    failurePercent: failureThreshold.percent,
    failureInstalls: failureThreshold.minimumInstalls,
  }),
});

export type UrlPayload = RouteRequest<typeof releases.createFromUrl>['body'];

/** What URL mode sends. */
export const urlPayloadOf = (values: NewReleaseValues): UrlPayload => ({
  ...fieldsOf(values),
  fileUrl: values.fileUrl.trim(),
  fileSize: values.fileSize as number,
  sha512: values.sha512,
});

const checkFields = schemaResolver(z.strictObject({ ...buildFields, ...publishFields }), { sync: true });
const checkUrl = schemaResolver(urlReleaseInput, { sync: true });

/** Errors by field, in the words of spec part 2, section 5. `file` is the error of the file itself. */
export function validate(values: NewReleaseValues, hasFile: boolean): FormErrors {
  const inUrlMode = values.mode === 'url';
  const byContract = inUrlMode ? checkUrl(urlPayloadOf(values)) : checkFields(fieldsOf(values));
  const errors = atFields(byContract);
  const minimum = values.minimumAppVersion.trim();
  if (minimum && !isVersion(minimum)) errors['minimumAppVersion'] = `Invalid semantic version: ${minimum}`;
  if (!inUrlMode) return hasFile ? errors : { ...errors, file: 'File is required' };
  if (!values.fileUrl.trim()) errors['fileUrl'] = 'File URL is required';
  if (!values.sha512.trim()) errors['sha512'] = 'SHA512 hash is required';
  return errors;
}

/** The errors of the server or contract, at the fields of this form. */
export function atFields(errors: FormErrors): FormErrors {
  const names: Record<string, string> = {
    'failureThreshold.percent': 'failurePercent',
    'failureThreshold.minimumInstalls': 'failureInstalls',
  };
  return Object.fromEntries(Object.entries(errors).map(([path, error]) => [names[path] ?? path, error]));
}
