import { z } from 'zod';
import { activation, activationStatuses } from './activations.ts';
import { auditEntry } from './audit.ts';
import { architectures, channels, platforms } from './list-words.ts';
import { dateTime, id, listMeta, namedObject, search, text, wholeNumber } from './common.ts';
import { customer } from './customers.ts';
import { license } from './licenses.ts';
import { machineStanding } from './machine-standing.ts';
import { mostSkippedOfCustomer } from './most-skipped.ts';
import { policyFields } from './policies.ts';
import { release } from './releases.ts';
import { route, staffWith } from './route.ts';
import { validationCodes, validationDays } from './validation.ts';

/** A machine on a license of a customer: one row for each license that it was activated on. */
export const customerMachine = namedObject('CustomerMachine', {
  ...activation.pick({
    activationId: true,
    machineId: true,
    hostname: true,
    platform: true,
    architecture: true,
    osVersion: true,
    offlineUntil: true,
  }).shape,
  status: z.enum(activationStatuses),
  licenseId: z.string(),
  licenseKey: z.string(),
  displayId: z
    .string()
    .nullable()
    .meta({ description: 'Of its page; null while it has not asked for updates' }),
  version: z.string().nullable().meta({
    description: 'What it runs, as it last said when it asked for updates, else when it was activated',
  }),
  releaseId: machineStanding.shape.releaseId,
  lastSeen: dateTime.nullable().meta({ description: 'Its last validation or request for updates' }),
});
export type CustomerMachine = z.output<typeof customerMachine>;

/** Refused validations of one machine on one license for one reason. */
export const refusedValidations = namedObject('RefusedValidations', {
  code: z.enum(validationCodes),
  machineId: z.string().nullable(),
  hostname: z.string().nullable().meta({ description: 'Null for a machine that never had a seat' }),
  displayId: customerMachine.shape.displayId,
  licenseId: z.string().nullable(),
  licenseKey: z.string().nullable().meta({ description: 'Null once the license is deleted' }),
  times: z.number(),
  first: dateTime,
  last: dateTime,
});
export type RefusedValidations = z.output<typeof refusedValidations>;

const offeredRelease = release
  .pick({ id: true, version: true, channel: true, rolloutPercentage: true, minimumAppVersion: true })
  .meta({ id: 'OfferedRelease' });

/** The releases that machines of a customer may get on one platform. */
export const customerReleases = namedObject('CustomerReleases', {
  platform: z.enum(platforms),
  architecture: z.enum(architectures),
  channel: z.enum(channels),
  offered: z.array(offeredRelease).meta({
    description:
      'Newest first: the newest one that is fully out, those that roll out to some of the machines, and what machines below the minimum app version of these get',
  }),
  heldBack: z.array(z.object({ version: z.string(), why: z.string() })).meta({
    description: 'The newest release that the update policy keeps from them, for each reason',
  }),
});
export type CustomerReleases = z.output<typeof customerReleases>;

/** What an entry of the audit log says about a customer, without addresses and values. */
export const timelineEntry = namedObject('TimelineEntry', {
  id: z.string(),
  at: dateTime,
  by: z.string().nullable().meta({ description: 'Null for a caller that was not signed in' }),
  event: z.string(),
  what: auditEntry.shape.changes_summary,
  records: auditEntry.shape.records,
  success: z.boolean(),
});
export type TimelineEntry = z.output<typeof timelineEntry>;

/** How many groups of them, the latest first. */
export const refusedShown = 50;
/** How many in the file of `export`. */
export const refusedExported = 10_000;

/** Everything about a customer in one look. A part is null for users who may not read it. */
export const customerOverview = namedObject('CustomerOverview', {
  customer,
  tags: z.array(z.string()),
  policy: z.array(z.string()).meta({
    description:
      'The update policy of its machines, in sentences; of a deleted customer also whom feeds refuse',
  }),
  seats: z
    .object({ licenses: z.number(), used: z.number(), max: z.number(), nextEnd: dateTime.nullable() })
    .nullable()
    .meta({
      description: 'Of its licenses that are valid now, and when the next of them ends; needs licenses:read',
    }),
  machines: z.number().nullable().meta({ description: 'That hold a seat; needs licenses:read' }),
  refused: z
    .object({ total: z.number(), groups: z.number(), latest: z.array(refusedValidations) })
    .nullable()
    .meta({ description: `Validations refused in the last ${validationDays} days; needs licenses:read` }),
  releases: z.array(customerReleases).nullable().meta({ description: 'Needs releases:read' }),
});
export type CustomerOverview = z.output<typeof customerOverview>;

/** The file of `export`: parts that the user may not read are absent and named in `omitted`. */
export const customerExport = namedObject('CustomerExport', {
  format: z.literal('lanyard-customer'),
  formatVersion: z.literal(1),
  exportedAt: dateTime,
  exportedBy: z.string(),
  omitted: z.array(z.object({ part: z.string(), needs: z.string() })),
  customer: customer.omit({ licenses: true }),
  tags: z.array(z.string()),
  updatePolicy: z.object(policyFields),
  policy: customerOverview.shape.policy,
  seats: customerOverview.shape.seats.unwrap().optional(),
  refusedTotals: z.object({ validations: z.number(), groups: z.number() }).optional(),
  refusedValidations: z
    .array(refusedValidations.omit({ displayId: true }))
    .optional()
    .meta({
      description: `Of the last ${validationDays} days; of more than ${refusedExported} groups, the latest`,
    }),
  releases: z.array(customerReleases).optional(),
  licenses: z.array(license.omit({ customer: true })).optional(),
  machines: z.array(customerMachine.omit({ displayId: true, releaseId: true })).optional(),
  timeline: z.array(timelineEntry.omit({ id: true, records: true })).optional(),
});

const byId = z.object({ id });
const base = '/api/v1/customers/{id}';
const canReadLicenses = staffWith('licenses', 'read');

/** The page of one customer, soft-deleted or not. */
export const customerPage = {
  overview: route('GET', `${base}/overview`, {
    summary: 'A customer with its seats, refused validations, update policy and releases',
    access: staffWith('customers', 'read'),
    params: byId,
    answer: customerOverview,
  }),
  machines: route('GET', `${base}/machines`, {
    summary: 'The machines of a customer, last seen first; the search matches host names and machine ids',
    access: canReadLicenses,
    params: byId,
    query: z.strictObject({
      search,
      limit: wholeNumber(1, 500).default(50),
      offset: wholeNumber(0, mostSkippedOfCustomer).default(0),
    }),
    answer: z.array(customerMachine),
    meta: listMeta,
  }),
  timeline: route('GET', `${base}/timeline`, {
    summary:
      'What was done to a customer, its licenses, machines and update policy, newest first; of a transferred license while the customer held it',
    access: staffWith('audit', 'read'),
    params: byId,
    query: z.strictObject({
      limit: wholeNumber(1, 200).default(20),
      after: text(200).optional().meta({ description: 'next of the previous page' }),
    }),
    answer: z.object({ entries: z.array(timelineEntry), next: z.string().nullable() }),
  }),
  export: route('GET', `${base}/export`, {
    summary: 'Everything about a customer that the user may read, as one JSON file; audited',
    access: staffWith('customers', 'read'),
    params: byId,
    file: customerExport,
  }),
};
