import { z } from 'zod';
import {
  dateTime,
  id,
  idList,
  instant,
  integer,
  listMeta,
  namedObject,
  paging,
  search,
  seenVersion,
  shownVersion,
  sortsBy,
  text,
  wholeNumber,
} from './common.ts';
import { mostDaysBack } from './durations.ts';
import { normalizeModuleIds } from './module-ids.ts';
import { permit } from './permissions.ts';
import { route, staffWith, staffWithAll } from './route.ts';
import { licenseAttentions, licenseTabs, licenseTypes, seatFilters } from './list-words.ts';

export type LicenseType = (typeof licenseTypes)[number];
export const licenseStatuses = ['active', 'revoked'] as const;
/** Active, Revoked and Expired of spec part 1, section 2; expired is derived, see `licenseTab`. */
export type LicenseTab = (typeof licenseTabs)[number];
/** Filter by seats in use: all or more, above 75 percent (full ones too), none. */
export type SeatFilter = (typeof seatFilters)[number];

/** A license in a response; the user interface calls `moduleIds` modules. */
export const license = namedObject('License', {
  licenseId: z.string(),
  licenseKey: z.string(),
  customerId: z.string(),
  customer: z
    .object({ name: z.string(), deletedAt: dateTime.nullable() })
    .nullable()
    .meta({ description: 'The customer that owns the license; null when unknown' }),
  type: z.enum(licenseTypes),
  status: z.enum(licenseStatuses),
  validFrom: dateTime,
  validUntil: dateTime,
  maxActivations: z.number(),
  currentActivations: z.number(),
  moduleIds: z.array(z.string()),
  createdAt: dateTime,
  updatedAt: dateTime,
});

export type License = z.output<typeof license>;

/** What a transfer to another customer would change. */
export const transferImpact = namedObject('LicenseTransferImpact', {
  license,
  to: z.object({
    customerId: z.string(),
    name: z.string().nullable().meta({ description: 'Null for users who may not read customers' }),
  }),
  machines: z.number().meta({ description: 'Machines that hold a seat, and keep it' }),
  policy: z
    .object({ from: z.array(z.string()), to: z.array(z.string()) })
    .nullable()
    .meta({
      description:
        'The update policies of both customers, in sentences; null for users who may not read them',
    }),
  updates: z
    .object({ machines: z.number(), changed: z.number(), held: z.number(), isComplete: z.boolean() })
    .meta({
      description:
        'Machines that would follow the policy of the new customer; of them, those that would be offered something else, or nothing',
    }),
});
export type TransferImpact = z.output<typeof transferImpact>;

/** The impact of a bulk change: the numbers of licenses and of distinct machines that use them. */
export const licenseImpact = namedObject('LicenseImpact', {
  licenses: z.number(),
  machines: z.number().meta({ description: 'That are refused, or accepted again, from their next check' }),
  offline: z.number().meta({ description: 'That run by a license file until it ends, whatever is changed' }),
});
export type LicenseImpact = z.output<typeof licenseImpact>;

export const maxActivationsLimit = 1_000_000;

export const moduleIds = z
  .preprocess(normalizeModuleIds, z.array(text(100)).max(200))
  .transform((ids) => [...new Set(ids)])
  .meta({ description: 'An array, an array with one JSON string, or a JSON string' });

const fields = {
  customerId: id,
  type: z.enum(licenseTypes),
  validFrom: instant,
  validUntil: instant,
  maxActivations: integer(1, maxActivationsLimit),
  moduleIds,
};

const inOrder = (l: { validFrom?: string | undefined; validUntil?: string | undefined }) =>
  !l.validFrom || !l.validUntil || l.validFrom < l.validUntil;
const orderError = { path: ['validUntil'], error: 'Must be after Valid From' };

export const licenseInput = z
  .strictObject({ ...fields, moduleIds: moduleIds.default([]) })
  .refine(inOrder, orderError);
export type LicenseInput = z.output<typeof licenseInput>;

export const licensePatch = z
  .strictObject({ ...fields, updatedAt: seenVersion })
  .partial()
  .refine(inOrder, orderError);
export type LicensePatch = z.output<typeof licensePatch>;

export const licenseSorts = sortsBy(
  'customer',
  'licenseKey',
  'type',
  'validUntil',
  'activations',
  'createdAt',
);
export type LicenseSort = (typeof licenseSorts)[number];

/** Why a license needs a person, other than its end. */
export type LicenseAttention = (typeof licenseAttentions)[number];

/** The filter of the list, in a query string. */
export const licenseFilter = {
  customerId: id.optional(),
  tab: z.enum(licenseTabs).optional(),
  type: z.enum(licenseTypes).optional(),
  expiringWithinDays: wholeNumber(0, 3650).optional().meta({
    description: 'Without licenses of customers that are not active: their machines are refused already',
  }),
  attention: z.enum(licenseAttentions).optional().meta({
    description:
      'ended: within 7 days, and a machine has asked since; full: no seat is free, and a machine that was refused within 3 days still waits; offline: a license file ends within 7 days. Only of active customers',
  }),
  seats: z
    .enum(seatFilters)
    .optional()
    .meta({ description: 'Seats in use: all, above 75 percent (all included), none' }),
  unseenForDays: wholeNumber(1, mostDaysBack)
    .optional()
    .meta({ description: 'No machine has been validated on it for so many days, and it is as old' }),
  search,
  sort: z.enum(licenseSorts).optional(),
};

export const licenseListMeta = listMeta
  .extend({
    counts: z
      .object({ active: z.number(), revoked: z.number(), expired: z.number() })
      .meta({ description: 'Number of licenses in each tab under the other filters' }),
    groups: z.array(z.object({ customerId: z.string(), count: z.number() })).meta({
      description: 'For each customer on this page: its number of licenses in the tab under all filters',
    }),
  })
  .meta({ id: 'LicenseListMeta' });
export type LicenseListMeta = z.output<typeof licenseListMeta>;

const byId = z.object({ id });
const canRead = staffWith('licenses', 'read');
const canUpdate = staffWith('licenses', 'update');

export const licenses = {
  list: route('GET', '/api/v1/licenses', {
    summary: 'Licenses, with the counts of the three tabs',
    access: canRead,
    query: z.strictObject({ ...licenseFilter, ...paging }),
    answer: z.array(license),
    meta: licenseListMeta,
  }),
  exportCsv: route('GET', '/api/v1/licenses/export.csv', {
    summary: 'Licenses that match the filter, of these ids if there are any, as CSV',
    access: canRead,
    query: z.strictObject({ ...licenseFilter, ids: idList.optional() }),
    csv: true,
  }),
  impact: route('GET', '/api/v1/licenses/impact', {
    summary: 'How many machines revoking or reactivating these licenses affects',
    access: canRead,
    query: z.strictObject({ ids: idList }),
    answer: licenseImpact,
  }),
  get: route('GET', '/api/v1/licenses/{id}', {
    summary: 'One license',
    access: canRead,
    params: byId,
    answer: license,
  }),
  create: route('POST', '/api/v1/licenses', {
    summary: 'Issue a license; the server generates the key',
    access: staffWith('licenses', 'create'),
    body: licenseInput,
    answer: license,
    status: 201,
    errors: ['RULE_VIOLATED'],
  }),
  update: route('PATCH', '/api/v1/licenses/{id}', {
    summary: 'Change a license that is not revoked',
    access: canUpdate,
    params: byId,
    body: licensePatch,
    answer: license,
    errors: ['WRONG_STATE', 'RULE_VIOLATED'],
  }),
  transferImpact: route('GET', '/api/v1/licenses/{id}/transfer', {
    summary: 'What a transfer of a license to another customer would change',
    access: staffWithAll(permit('licenses', 'update'), permit('licenses', 'read')),
    params: byId,
    query: z.strictObject({ customerId: id }),
    answer: transferImpact,
    errors: ['WRONG_STATE', 'RULE_VIOLATED'],
  }),
  transfer: route('POST', '/api/v1/licenses/{id}/transfer', {
    summary: 'Transfer a license to another customer; its machines keep their seats and follow that customer',
    access: canUpdate,
    params: byId,
    body: z.strictObject({ customerId: id, updatedAt: seenVersion }),
    answer: license,
    errors: ['WRONG_STATE', 'RULE_VIOLATED'],
  }),
  delete: route('DELETE', '/api/v1/licenses/{id}', {
    summary: 'Permanently delete a license and its activations',
    access: staffWith('licenses', 'delete'),
    params: byId,
    errors: ['WRONG_STATE'],
  }),
  revoke: route('PATCH', '/api/v1/licenses/{id}/revoke', {
    summary: 'Revoke a license; its machines are refused immediately',
    access: canUpdate,
    params: byId,
    query: z.strictObject({ updatedAt: shownVersion }),
    answer: license,
    errors: ['WRONG_STATE'],
  }),
  reactivate: route('POST', '/api/v1/licenses/{id}/reactivate', {
    summary: 'Reactivate a revoked license',
    access: canUpdate,
    params: byId,
    query: z.strictObject({ updatedAt: shownVersion }),
    answer: license,
    errors: ['WRONG_STATE'],
  }),
};
