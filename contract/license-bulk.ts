import { z } from 'zod';
import { dateTime, id, instant, integer, namedObject } from './common.ts';
import { licenseFilter, licenseStatuses, moduleIds } from './licenses.ts';
import { permit } from './permissions.ts';
import { route, staffWith, staffWithAll } from './route.ts';

/** Licenses in one preview. */
export const mostInBulk = 5000;
/** Licenses in one call that changes them: their rows are locked until it ends. */
export const mostAtOnce = 50;

/** What is to be done with each license. An extension starts at the date on which the license ends. */
export const bulkChange = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('extendByDays'), days: integer(1, 3660) }),
  z.strictObject({ kind: z.literal('extendByMonths'), months: integer(1, 120) }),
  z.strictObject({ kind: z.literal('extendTo'), validUntil: instant }),
  z.strictObject({ kind: z.literal('modules'), add: moduleIds, remove: moduleIds }),
  z.strictObject({ kind: z.literal('status'), status: z.enum(licenseStatuses) }),
]);
export type BulkChange = z.output<typeof bulkChange>;

const values = z.object({
  validUntil: dateTime.optional(),
  moduleIds: z.array(z.string()).optional(),
  status: z.enum(licenseStatuses).optional(),
});
const named = {
  licenseId: z.string(),
  licenseKey: z.string(),
  customerId: z.string(),
  customerName: z.string(),
};

/** A license that would change: its version, and the values before and after. */
export const plannedChange = namedObject('PlannedLicenseChange', {
  ...named,
  updatedAt: dateTime,
  before: values,
  after: values,
});
export type PlannedChange = z.output<typeof plannedChange>;

export const bulkPreview = namedObject('LicenseBulkPreview', {
  changed: z.array(plannedChange),
  leftOut: z.array(z.object({ ...named, reason: z.string() })),
  machines: z.number().nullable().meta({
    description: 'Of a change of the status: machines that would be refused, or accepted again',
  }),
  offline: z
    .number()
    .meta({ description: 'Of these licenses, machines that run by a license file until it ends' }),
});
export type BulkPreview = z.output<typeof bulkPreview>;

export const bulkResult = namedObject('LicenseBulkResult', {
  changed: z.array(z.object({ licenseId: z.string(), updatedAt: dateTime })),
  refused: z.array(z.object({ licenseId: z.string(), reason: z.string() })),
});
export type BulkResult = z.output<typeof bulkResult>;

const canUpdate = staffWith('licenses', 'update');

const valuesToSet = z
  .strictObject({
    licenseId: id,
    updatedAt: instant.meta({
      description: 'The version that was previewed; a newer stored version is refused',
    }),
    validUntil: instant.optional(),
    moduleIds: moduleIds.optional(),
    status: z.enum(licenseStatuses).optional(),
  })
  .refine(
    ({ status, validUntil, moduleIds: modules }) => !status || (!validUntil && !modules),
    'The status is changed alone',
  );
export type ValuesToSet = z.output<typeof valuesToSet>;

const isEachOnce = (all: ValuesToSet[]) => new Set(all.map((one) => one.licenseId)).size === all.length;

export const bulkLicenses = {
  preview: route('POST', '/api/v1/licenses/bulk/preview', {
    summary: 'What a change of all licenses that match the filter, or of those with these ids, would do',
    // it names keys and customers
    access: staffWithAll(permit('licenses', 'update'), permit('licenses', 'read')),
    query: z.strictObject(licenseFilter),
    body: z.strictObject({ ids: z.array(id).max(mostInBulk).optional(), change: bulkChange }),
    answer: bulkPreview,
    changesNothing: true,
    errors: ['RULE_VIOLATED'],
  }),
  change: route('POST', '/api/v1/licenses/bulk', {
    summary:
      'Set end dates, modules or the status of licenses, each by the rules of a single change, or name why not',
    access: canUpdate,
    body: z.strictObject({
      licenses: z
        .array(valuesToSet)
        .min(1)
        .max(mostAtOnce)
        .refine(isEachOnce, 'Must contain each license once'),
    }),
    answer: bulkResult,
  }),
};
