import { z } from 'zod';
import {
  dateTime,
  url,
  id,
  instant,
  listMeta,
  namedObject,
  paging,
  queryFlag,
  requiredLine,
  requiredText,
  search,
  seenVersion,
  shownVersion,
  text,
  wholeNumber,
} from './common.ts';
import {
  buildFields,
  checkPlan,
  largestFile,
  percentage,
  publishFields,
  sha512,
  versionText,
} from './builds.ts';
import { architectures, channels, platforms, rolloutAttentions } from './list-words.ts';
import { fileNameAt, isFileName, storedExtensions } from './file-names.ts';
import { acceptableFailures } from './guard.ts';
import { planFields, rolloutPlan, startNeedsPlan } from './rollout-plan.ts';
import { permit } from './permissions.ts';
import { route, staffWith, staffWithAny } from './route.ts';
import { isStorableText } from './text.ts';

/** Recycle bin retention in days (spec part 2, section 9). */
export const trashDays = 30;

/** A desktop release (spec part 2, section 3). Sizes are bytes, `sha512` is base64, `releaseDate` its publication. */
export const release = namedObject('Release', {
  id: z.string(),
  version: z.string(),
  channel: z.enum(channels),
  platform: z.enum(platforms),
  architecture: z.enum(architectures),
  isActive: z.boolean(),
  isDraft: z.boolean(),
  isMandatory: z.boolean(),
  rolloutPercentage: z.number(),
  minimumAppVersion: z.string().nullable(),
  security: z
    .boolean()
    .meta({ description: 'Overrides deferral, windows and end of updates in update policies' }),
  minimumSupportedVersion: z
    .string()
    .nullable()
    .meta({ description: 'For machines below it, the release overrides what a security update overrides' }),
  fullAt: dateTime.nullable().meta({ description: 'Since when it is published to 100 %' }),
  releaseNotes: z.string().nullable(),
  releaseDate: dateTime,
  fileName: z.string(),
  fileSize: z.number(),
  fileUrl: url,
  sha512: z.string(),
  downloadCount: z.number(),
  acceptableFailures: acceptableFailures.nullable(),
  pausedAt: dateTime.nullable().meta({ description: 'Set while the rollout is paused' }),
  pauseReason: z.string().nullable(),
  damagedAt: dateTime.nullable().meta({
    description: 'Set while the stored file is missing or damaged; no machine is offered the release',
  }),
  failuresClaimedAt: dateTime.nullable().meta({
    description:
      'Set while machines without a token report too many failed installs, which may be forged and pause nothing',
  }),
  pausedBy: z
    .string()
    .nullable()
    .meta({ description: 'Email of the user who paused it; null when the rollout guard paused it' }),
  ...planFields,
  createdAt: dateTime,
  updatedAt: dateTime,
});
export type Release = z.output<typeof release>;

export const deletedRelease = release
  .extend({
    deletedAt: dateTime,
    deletedBy: z.string().nullable(),
    deleteUserEmail: z.string().nullable(),
    deletionReason: z.string().nullable(),
    daysUntilPermanentDeletion: z.number(),
  })
  .meta({ id: 'DeletedRelease' });
export type DeletedRelease = z.output<typeof deletedRelease>;

/** Why a release cannot have its file at this address; undefined if it can. */
function addressProblem(value: string): string | undefined {
  if (!URL.canParse(value) || !/^https?:\/\//i.test(value) || !isStorableText(value))
    return 'Must be an http or https address';
  const address = new URL(value);
  // the feeds send it to every machine
  if (address.username || address.password) return 'Must not contain a user name or a password';
  return isFileName(fileNameAt(address))
    ? undefined
    : `Must end in a file name with one of ${storedExtensions.join(', ')}`;
}

export const urlReleaseInput = z
  .strictObject({
    ...buildFields,
    ...publishFields,
    fileUrl: requiredLine(2000)
      .superRefine((value, context) => {
        const problem = addressProblem(value);
        if (problem) context.addIssue(problem);
      })
      .meta({ description: `Its path ends in a file name with one of ${storedExtensions.join(', ')}` }),
    fileSize: z
      .number('Valid file size is required')
      .min(1, 'Valid file size is required')
      .max(largestFile)
      .int(),
    sha512,
  })
  .superRefine(checkPlan);
export type UrlReleaseInput = z.output<typeof urlReleaseInput>;

/** An absent field is unchanged; null or the empty text clears it. */
export const releasePatch = z
  .strictObject({
    channel: z.enum(channels),
    isActive: z.boolean(),
    isDraft: z.boolean(),
    isMandatory: z.boolean(),
    // the schemas of publishFields read absent fields as null
    minimumAppVersion: z
      .union([z.literal(''), versionText])
      .nullable()
      .transform((value) => value || null),
    security: z.boolean(),
    minimumSupportedVersion: z
      .union([z.literal(''), versionText])
      .nullable()
      .transform((value) => value || null),
    releaseNotes: text(20_000)
      .nullable()
      .transform((value) => value || null),
    acceptableFailures: acceptableFailures.nullable(),
    rolloutPercentage: percentage.meta({
      description:
        'Publish and roll out in one step; requires the permission of the rollout call too. Ends the plan of a release',
    }),
    rolloutPlan: rolloutPlan.nullable().meta({
      description: 'Publish with a plan; null ends the plan at the present percentage',
    }),
    startsAt: instant.nullable().meta({ description: 'When the plan starts; null: at once' }),
    updatedAt: seenVersion,
  })
  .partial()
  .refine((patch) => !(patch.rolloutPlan && patch.rolloutPercentage !== undefined), {
    path: ['rolloutPlan'],
    error: 'Give a percentage or a plan, not both',
  })
  .refine(
    ({ startsAt, rolloutPlan: plan, rolloutPercentage }) =>
      !startsAt || (plan !== null && rolloutPercentage === undefined),
    { path: ['startsAt'], error: startNeedsPlan },
  );
export type ReleasePatch = z.output<typeof releasePatch>;

const reason = requiredText(500, 'Reason is required');
export const permanentConfirmation = 'PERMANENTLY DELETE';

export const releaseListMeta = listMeta
  .extend({
    totalReleases: z
      .number()
      .meta({ description: 'All releases that are not in the recycle bin, regardless of the filters' }),
    activeReleases: z.number().meta({ description: 'Active releases, regardless of the filters' }),
    uniqueVersions: z.number().meta({ description: 'Distinct versions that match the filters' }),
    storageBytes: z
      .number()
      .meta({ description: 'Sum of the file sizes of releases that match the filters' }),
  })
  .meta({ id: 'ReleaseListMeta' });

export const releaseAnalytics = namedObject('ReleaseAnalytics', {
  provenMachines: z
    .number()
    .meta({ description: 'Machines that asked for updates in the 30 days and have called with a token' }),
  updateTrends: z.array(z.object({ date: z.string(), totalChecks: z.number(), uniqueMachines: z.number() })),
  releaseStats: z.array(
    z.object({
      id: z.string(),
      version: z.string(),
      channel: z.enum(channels),
      platform: z.enum(platforms),
      architecture: z.enum(architectures),
      fileKind: z.string().meta({ description: 'File extension in lower case: exe, nupkg' }),
      totalDownloads: z.number(),
      completedDownloads: z.number(),
      failedDownloads: z.number(),
      uniqueDownloads: z.number(),
      provenDownloads: z
        .number()
        .meta({ description: 'Of the unique downloads, those of machines with a token' }),
    }),
  ),
  machineActivity: z.array(
    z.object({
      displayId: z.string(),
      platform: z.string().nullable(),
      architecture: z.string().nullable(),
      lastVersion: z.string().nullable(),
      lastSeen: dateTime,
      provenAt: dateTime.nullable(),
      totalEvents: z.number(),
    }),
  ),
});
export type ReleaseAnalytics = z.output<typeof releaseAnalytics>;

const partialRollout = z.object({
  id: z.string(),
  version: z.string(),
  rolloutPercentage: z.number().min(1).max(99),
});

export const hiddenBy = partialRollout.nullable().meta({
  description:
    'The newer partial rollout that hides this one: until it ends, no step is taken automatically, and only machines that an update policy or the minimum app version keeps from the newer one are offered this release',
});

/** What is offered in place of a release. */
export const newer = z.string().nullable().meta({
  description:
    'The version of a full release that machines are offered instead, but for those that an update policy keeps from it',
});

const beside = {
  hiddenBy,
  hides: z.array(partialRollout).meta({
    description: 'The partial rollouts that this one hides, or would hide, while it is partial itself',
  }),
};

const canRead = staffWith('releases', 'read');
const canUpdate = staffWith('releases', 'update');
const canDelete = staffWith('releases', 'delete');
/** Either permission is enough (spec part 2, section 6). */
export const canRollOut = staffWithAny(permit('rollouts', 'create'), permit('rollouts', 'update'));
const byId = z.object({ releaseId: id });
const base = '/api/v1/updates/admin';

export const releases = {
  list: route('GET', `${base}/releases`, {
    summary: 'Releases that are not in the recycle bin, newest version first',
    access: canRead,
    query: z.strictObject({
      search,
      platform: z.enum(platforms).optional(),
      channel: z.enum(channels).optional(),
      architecture: z.enum(architectures).optional(),
      showInactive: queryFlag
        .optional()
        .meta({ description: 'false hides inactive releases; absent shows all' }),
      paused: queryFlag.optional().meta({
        description: 'true: only releases whose rollout is paused; false: only those whose rollout is not',
      }),
      attention: z.enum(rolloutAttentions).optional().meta({
        description:
          'damaged: the file is missing or altered; failing: paused by the service; paused: by staff; claimed: failures that may be forged; ready: the next step is due and waits for a person',
      }),
      ...paging,
    }),
    answer: z.array(release),
    meta: releaseListMeta,
  }),
  get: route('GET', `${base}/releases/{releaseId}`, {
    summary: 'One release',
    access: canRead,
    params: byId,
    answer: release,
  }),
  impact: route('GET', `${base}/releases/{releaseId}/impact`, {
    summary:
      'Machines that run this version, and customers whose pin would match nothing without it; also for a release in the recycle bin',
    access: canRead,
    params: byId,
    answer: namedObject('ReleaseImpact', {
      machines: z.number(),
      newer,
      pinned: z.number().meta({
        description: 'Customers whose pin matches it and no other release for its machines',
      }),
      ...beside,
    }),
  }),
  analytics: route('GET', `${base}/analytics`, {
    summary: 'Update checks of 30 days, all downloads by release, machines last active',
    access: canRead,
    answer: releaseAnalytics,
  }),
  createFromUrl: route('POST', `${base}/upload`, {
    summary: 'Create a release from a file on another server',
    access: staffWith('releases', 'create'),
    body: urlReleaseInput,
    answer: release,
    status: 201,
    errors: ['ALREADY_EXISTS', 'RULE_VIOLATED', 'NEEDS_APPROVAL'],
  }),
  update: route('PATCH', `${base}/releases/{releaseId}`, {
    summary: 'Change a release; publishing a draft makes it visible to the feeds',
    access: canUpdate,
    params: byId,
    body: releasePatch,
    answer: release,
    errors: ['ALREADY_EXISTS', 'WRONG_STATE', 'NEEDS_APPROVAL'],
  }),
  rollout: route('POST', `${base}/rollout/{releaseId}`, {
    summary: 'Set the percentage of machines that are offered the release',
    access: canRollOut,
    params: byId,
    body: z.strictObject({ percentage, updatedAt: seenVersion }),
    answer: release,
    errors: ['WRONG_STATE', 'NEEDS_APPROVAL'],
  }),
  reach: route('GET', `${base}/reach`, {
    summary: 'How many machines would be offered a build at 100 %',
    access: canRead,
    query: z.strictObject({
      version: versionText,
      channel: z.enum(channels),
      platform: z.enum(platforms),
      architecture: z.enum(architectures),
      minimumAppVersion: versionText.optional(),
      fileKind: z.string().max(20).optional().meta({
        description:
          'The extension of the file in lower case, without the dot: exe. Without it, other releases do not count',
      }),
    }),
    answer: z.object({
      machines: z.number(),
      running: z.number().meta({ description: 'Machines of these channels that run this version already' }),
      newer: z.array(z.object({ machines: z.number(), version: z.string() })).meta({
        description: 'How many machines are offered a newer release instead, by its version',
      }),
      below: z.number().meta({
        description:
          'Machines of these channels that run an older version, but one below the minimum version',
      }),
      ...beside,
    }),
  }),
  pause: route('POST', `${base}/releases/{releaseId}/pause`, {
    summary: 'Pause a rollout: no machine is offered the release until it is resumed',
    access: canRollOut,
    params: byId,
    body: z.strictObject({ reason }),
    answer: release,
    errors: ['WRONG_STATE'],
  }),
  resume: route('POST', `${base}/releases/{releaseId}/resume`, {
    summary:
      'Resume a paused rollout at the same percentage; after a pause by the guard, failures are counted from zero',
    access: canRollOut,
    params: byId,
    query: z.strictObject({
      updatedAt: shownVersion,
    }),
    answer: release,
    errors: ['WRONG_STATE', 'NEEDS_APPROVAL'],
  }),
  withdraw: route('POST', `${base}/releases/{releaseId}/withdraw`, {
    summary:
      'Withdraw a release from every feed immediately; machines with an older version are offered the newest other release that is rolled out to them. Returns the machines that have it installed',
    access: canUpdate,
    params: byId,
    body: z.strictObject({ reason }),
    answer: z.object({
      release,
      affectedMachines: z.array(z.object({ displayId: z.string(), lastSeen: dateTime })),
      affectedTotal: z.number(),
    }),
    errors: ['WRONG_STATE'],
  }),
  softDelete: route('DELETE', `${base}/releases/{releaseId}`, {
    summary: 'Move a release to the recycle bin',
    access: canDelete,
    params: byId,
    body: z.strictObject({ reason, updatedAt: shownVersion }),
    answer: z.object({ id: z.string(), updatedAt: dateTime }),
    errors: ['WRONG_STATE'],
  }),
  trash: route('GET', `${base}/releases/trash`, {
    summary: 'The recycle bin',
    access: canRead,
    query: z.strictObject({
      page: wholeNumber(1, 1_000_000).default(1),
      pageSize: wholeNumber(1, 500).default(20),
      dueWithinDays: wholeNumber(0, trashDays)
        .optional()
        .meta({ description: 'Only releases that are permanently deleted within this number of days' }),
      search,
    }),
    answer: z.object({
      releases: z.array(deletedRelease),
      page: z.number(),
      pageSize: z.number(),
      totalCount: z.number(),
      totalPages: z.number(),
    }),
  }),
  restore: route('POST', `${base}/releases/{releaseId}/restore`, {
    summary: 'Restore a release from the recycle bin',
    access: canDelete,
    params: byId,
    body: z.strictObject({ reason, updatedAt: shownVersion }),
    answer: release,
    errors: ['ALREADY_EXISTS', 'WRONG_STATE', 'NEEDS_APPROVAL'],
  }),
  deletePermanently: route('DELETE', `${base}/releases/{releaseId}/permanent`, {
    summary: 'Permanently delete a release in the recycle bin and its binary from all storage',
    access: canDelete,
    params: byId,
    body: z.strictObject({ confirmation: z.string().max(100), reason }),
    answer: z.object({ id: z.string() }),
    errors: ['RULE_VIOLATED'],
  }),
};
