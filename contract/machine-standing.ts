import { z } from 'zod';
import { machineStates, platforms } from './list-words.ts';
import {
  dateTime,
  id,
  instant,
  listMeta,
  namedObject,
  requiredText,
  search,
  sortsBy,
  text,
  wholeNumber,
} from './common.ts';
import { mostSkipped } from './most-skipped.ts';
import { mostDaysBack } from './durations.ts';
import { updateEvent, updateEventTypes } from './machines.ts';
import { route, staffWith } from './route.ts';
import { validationCodes } from './validation.ts';

/**
 * What a machine may do with its license now: `active` holds a seat; `offline` holds one by a license file; `clone` holds
 * one with a token that two machines use; `no_seat` holds none, and has not been refused one; `refused` would be.
 */
export type MachineState = (typeof machineStates)[number];

/** Where a machine stands. What concerns licenses is null for users who may not read licenses, likewise customers. */
export const machineStanding = namedObject('MachineStanding', {
  displayId: z.string(),
  hostname: z.string().nullable(),
  platform: z.string().nullable(),
  architecture: z.string().nullable(),
  version: z.string().nullable(),
  releaseId: z
    .string()
    .nullable()
    .meta({ description: 'The release of that version for its platform; null if there is none' }),
  lastSeen: dateTime.meta({ description: 'When it last validated or asked for updates' }),
  state: z.enum(machineStates).nullable(),
  code: z.enum(validationCodes).nullable().meta({ description: 'What a validation would answer now' }),
  since: dateTime.nullable().meta({ description: 'Since when it is refused, where that is known' }),
  license: z
    .object({
      licenseId: z.string(),
      licenseKey: z.string(),
      validUntil: dateTime,
      maxActivations: z.number(),
      currentActivations: z.number(),
    })
    .nullable()
    .meta({ description: 'The license that it runs on, else the one that it last tried' }),
  seat: z
    .object({
      activationId: z.string(),
      since: dateTime,
      lastCheckedAt: dateTime.nullable(),
    })
    .nullable(),
  offlineUntil: dateTime.nullable().meta({
    description:
      'Until when its license file lets it run, also once it is refused or its seat was taken by force',
  }),
  customer: z.object({ customerId: z.string(), name: z.string() }).nullable(),
});
export type MachineStanding = z.output<typeof machineStanding>;

/** What a machine did, several times in a row: from the first to the last of `count` times. */
export const timelineRun = namedObject('TimelineRun', {
  id: z.string(),
  kind: z.enum(['validation', ...updateEventTypes]),
  code: z.enum(validationCodes).nullable().meta({ description: 'The result of a validation' }),
  licenseId: z.string().nullable(),
  licenseKey: z.string().nullable(),
  fromVersion: z.string().nullable(),
  toVersion: z.string().nullable(),
  releaseId: updateEvent.shape.releaseId,
  success: z.boolean(),
  error: z.string().nullable().meta({ description: 'Message or code of a failed update' }),
  count: z.number(),
  from: dateTime,
  to: dateTime,
});
export type TimelineRun = z.output<typeof timelineRun>;

const filter = {
  search: search.meta({
    description:
      'Words that all match: host name, part of the machine id, start of the display id or hash, customer, license key',
  }),
  customerId: id.optional(),
  platform: z.enum(platforms).optional(),
  version: text(100)
    .optional()
    .meta({ description: 'A version, or the first numbers of versions: 4.1 for 4.1.3' }),
  state: z.enum(machineStates).optional(),
  seenWithinDays: wholeNumber(1, mostDaysBack)
    .optional()
    .meta({ description: 'Last seen in so many days, each of 24 hours' }),
  unseenForDays: wholeNumber(1, mostDaysBack).optional().meta({ description: 'Not seen for so many days' }),
  sort: z.enum(sortsBy('lastSeen')).default('-lastSeen'),
};

const canRead = staffWith('releases', 'read');
const byId = z.object({ id: requiredText(256).meta({ description: 'Display id, hash or machine id' }) });
const base = '/api/v1/machines';

export const machineStandings = {
  list: route('GET', base, {
    summary: 'Machines that validate or ask for updates, with their seats; the last seen first',
    access: canRead,
    query: z.strictObject({
      ...filter,
      limit: wholeNumber(1, 500).default(50),
      offset: wholeNumber(0, mostSkipped).optional().meta({ description: 'Rows to skip' }),
    }),
    answer: z.array(machineStanding),
    meta: listMeta,
  }),
  exportCsv: route('GET', `${base}/export.csv`, {
    summary: 'Machines that match the filter, as CSV',
    access: canRead,
    query: z.strictObject(filter),
    csv: true,
  }),
  get: route('GET', `${base}/{id}`, {
    summary: 'Where one machine stands: its seat, and why it is refused',
    access: canRead,
    params: byId,
    answer: machineStanding,
  }),
  timeline: route('GET', `${base}/{id}/timeline`, {
    summary:
      'What a machine did, the latest first: its update events and, for users who read licenses, validations',
    access: canRead,
    params: byId,
    query: z.strictObject({
      before: instant.optional().meta({ description: '`next` of the page before' }),
    }),
    answer: z.array(timelineRun),
    meta: namedObject('TimelineMeta', {
      next: dateTime.nullable().meta({ description: 'Where the next page begins; null if there is none' }),
    }),
  }),
};
