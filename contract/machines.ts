import { z } from 'zod';
import { listedActivation } from './activations.ts';
import {
  dateTime,
  instant,
  listMeta,
  namedObject,
  paging,
  requiredText,
  search,
  wholeNumber,
} from './common.ts';
import { mostSkipped } from './most-skipped.ts';
import { channels } from './list-words.ts';
import { route, staffWith } from './route.ts';

export const updateEventTypes = [
  'check',
  'download_start',
  'download_complete',
  'download_error',
  'install_start',
  'install_complete',
  'install_error',
  'rollback',
] as const;
export type UpdateEventType = (typeof updateEventTypes)[number];

/** One client machine (spec part 2, section 3), identified only by the SHA-256 of its id and a short display id. */
export const machine = namedObject('Machine', {
  displayId: z.string(),
  machineIdHash: z.string(),
  platform: z.string().nullable(),
  architecture: z.string().nullable(),
  channel: z.enum(channels).nullable(),
  lastVersion: z.string().nullable(),
  osVersion: z.string().nullable(),
  appVersion: z.string().nullable(),
  firstSeen: dateTime,
  lastSeen: dateTime,
  totalUpdateChecks: z.number(),
  totalDownloads: z.number(),
  notes: z.string().nullable(),
  provenAt: dateTime
    .nullable()
    .meta({ description: 'When the machine first proved itself; null while API keys only name it' }),
});
export type Machine = z.output<typeof machine>;

export const updateEvent = namedObject('UpdateEvent', {
  id: z.string(),
  eventType: z.enum(updateEventTypes),
  success: z.boolean(),
  fromVersion: z.string().nullable(),
  toVersion: z.string().nullable(),
  releaseId: z.string().nullable().meta({
    description: 'The release that it is about, of a check the one offered; null if there is none (any more)',
  }),
  errorMessage: z.string().nullable(),
  errorCode: z.string().nullable(),
  timestamp: dateTime,
});
export type UpdateEvent = z.output<typeof updateEvent>;

/** Why a machine is or is not offered a release; `detail` holds the sentence for each, with its numbers. */
export const offerReasons = [
  'OFFERED',
  'FULL_RELEASE_OFFERED_INSTEAD',
  'OTHER_PLATFORM',
  'NO_FEED',
  'CHANNEL',
  'DRAFT',
  'INACTIVE',
  'DAMAGED',
  'DELETED',
  'PAUSED',
  'NOT_STARTED',
  'ROLLOUT_BUCKET',
  'MINIMUM_VERSION',
  'LICENSE_INACTIVE',
  'PINNED',
  'UPDATES_ENDED',
  'DEFERRED',
  'OUTSIDE_WINDOW',
  'NOT_NEWER',
  'NEWER_RELEASE_OFFERED',
] as const;
export type OfferReason = (typeof offerReasons)[number];

export const explanation = namedObject('OfferExplanation', {
  releaseId: z.string(),
  version: z.string(),
  channel: z.enum(channels),
  fileKind: z.string().meta({ description: 'File extension in lower case: exe, nupkg' }),
  offered: z.boolean(),
  reason: z.enum(offerReasons),
  detail: z.string(),
  policy: z.array(z.string()).meta({
    description: 'What the update policy of the customer said, in the order in which it was looked at',
  }),
  bucket: z
    .number()
    .nullable()
    .meta({ description: 'Rollout bucket of this machine for this release, 0 to 99.99' }),
  rolloutPercentage: z.number(),
});
export type Explanation = z.output<typeof explanation>;

/** Rows of each list of one machine. */
export const mostOfMachine = 200;

const canRead = staffWith('releases', 'read');
/** The display id, the SHA-256 of the machine's id, or that id itself. */
const byId = z.object({ id: requiredText(256) });
const base = '/api/v1/updates/admin/machines';

export const machines = {
  list: route('GET', base, {
    summary:
      'Machines, most recently seen first; the search matches host names, parts of machine ids and prefixes of display ids and hashes',
    access: canRead,
    // there may be millions of machines, so this list is always paged
    query: z.strictObject({
      search,
      ...paging,
      limit: wholeNumber(1, 500).default(100),
      offset: wholeNumber(0, mostSkipped)
        .optional()
        .meta({ description: 'Rows to skip; `after` works at any depth' }),
      after: z
        .string()
        .regex(/^[^~]+~[0-9a-f]{64}$/, 'Must be lastSeen~machineIdHash of a machine')
        .refine(
          (text) => instant.safeParse(text.slice(0, text.indexOf('~'))).success,
          'Must begin with an instant',
        )
        // PostgreSQL knows fewer offsets from UTC
        .overwrite((text) => text.replace(/^[^~]+/, (seen) => instant.safeParse(seen).data ?? seen))
        .optional()
        .meta({ description: 'lastSeen~machineIdHash of the last machine of the previous page' }),
    }),
    answer: z.array(machine),
    meta: listMeta,
  }),
  get: route('GET', `${base}/{id}`, {
    summary: 'One machine with its latest events, downloads and license activations',
    access: canRead,
    params: byId,
    answer: namedObject('MachineDetail', {
      machine,
      updateHistory: z.array(updateEvent),
      downloadHistory: z.array(
        z.object({
          id: z.string(),
          startedAt: dateTime,
          completedAt: dateTime.nullable(),
          bytesDownloaded: z.number().nullable(),
          errorCode: z.string().nullable(),
          version: z.string(),
          releaseId: z.string(),
        }),
      ),
      activations: z
        .array(z.object({ ...listedActivation.shape, licenseId: z.string(), licenseKey: z.string() }))
        .meta({ description: 'Empty for users who may not read licenses; `totals` counts them' }),
      totals: z.object({ events: z.number(), downloads: z.number(), activations: z.number() }).meta({
        description: `Of which the lists hold the latest ${mostOfMachine}; \`events\` also counts those that are no longer kept`,
      }),
    }),
  }),
  explain: route('GET', `${base}/{id}/explain`, {
    summary: 'For each release: why this machine is or is not offered it',
    access: canRead,
    params: byId,
    answer: z.array(explanation),
  }),
};
