import type { BuildInput } from './builds.ts';

type Planned = 'rolloutPlan' | 'startsAt';
type Fields = Omit<BuildInput, Planned> & Partial<Pick<BuildInput, Planned>>;

/**
 * The body of a direct upload. The fields precede the file, so that a streaming reader has them when the file starts.
 * Not in uploads.ts, with which the console would load zod (tools/console-contract.ts).
 */
export function directForm(file: Blob, fileName: string, fields: Fields, sha512: string): FormData {
  const form = new FormData();
  form.set('version', fields.version);
  form.set('channel', fields.channel);
  form.set('platform', fields.platform);
  form.set('architecture', fields.architecture);
  form.set('release_notes', fields.releaseNotes ?? '');
  form.set('minimum_app_version', fields.minimumAppVersion ?? '');
  form.set('is_mandatory', String(fields.isMandatory));
  form.set('is_draft', String(fields.isDraft));
  form.set('rollout_percentage', String(fields.rolloutPercentage));
  form.set('sha512', sha512);
  if (fields.minimumSupportedVersion) form.set('minimum_supported_version', fields.minimumSupportedVersion);
  if (fields.security) form.set('security', 'true');
  if (fields.acceptableFailures !== null) form.set('acceptable_failures', String(fields.acceptableFailures));
  if (fields.rolloutPlan) form.set('rollout_plan', JSON.stringify(fields.rolloutPlan));
  if (fields.startsAt) form.set('starts_at', fields.startsAt);
  form.set('file', file, fileName);
  return form;
}
