import { z } from 'zod';
import {
  dateTime,
  id,
  integer,
  namedObject,
  queryFlag,
  requiredText,
  search,
  text,
  wholeNumber,
} from './common.ts';
import { route, staffWith } from './route.ts';

/** A record that an entry names. */
const namedRecord = namedObject('NamedRecord', {
  kind: z.enum(['api_key', 'customer', 'license', 'machine', 'release', 'user']),
  id: z.string().meta({ description: 'Of its page: the display id of a machine, the email of a user' }),
  name: z
    .string()
    .meta({ description: 'As the summary says it; the id where only the values before or after name it' }),
  hostname: z.string().nullable().meta({ description: 'Of a machine' }),
});
export type NamedRecord = z.output<typeof namedRecord>;

/** An audit entry in the list; snake_case as the spec names it (part 2, section 3). */
export const auditEntry = namedObject('AuditEntry', {
  audit_id: z.string(),
  timestamp: dateTime,
  user_email: z.string().nullable(),
  user_role: z.string().nullable(),
  event_type: z.string(),
  resource_type: z.string(),
  resource_id: z.string().nullable(),
  changes_summary: z.string(),
  api_endpoint: z.string().nullable(),
  ip_address: z.string().nullable(),
  success: z.boolean(),
  error_message: z.string().nullable(),
  records: z.array(namedRecord).meta({
    description:
      'Records that the entry names, with a page, list row or dialog of their own; without those that are deleted',
  }),
});
export type AuditEntry = z.output<typeof auditEntry>;

/** One entry with the values before and after, and its position in the sealed chain (null: not sealed yet). */
export const auditDetail = auditEntry
  .extend({
    user_id: z.string().nullable(),
    user_agent: z.string().nullable(),
    request_id: z.string().nullable(),
    before: z.record(z.string(), z.unknown()).nullable(),
    after: z.record(z.string(), z.unknown()).nullable(),
    seal: z.object({ sequence: z.number(), sealedAt: dateTime }).nullable(),
  })
  .meta({ id: 'AuditDetail' });
export type AuditDetail = z.output<typeof auditDetail>;

/** The shortest retention, in days. */
export const shortestRetentionDays = 90;
export const longestRetentionDays = 36_500;

export const daysKept = integer(
  shortestRetentionDays,
  longestRetentionDays,
  `Must be at least ${shortestRetentionDays} days`,
);

/** A day (2026-11-20, UTC) or an instant. */
const dayOrInstant = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}(T[\d:.]+(Z|[+-]\d{2}:\d{2}))?$/, 'Must be a date such as 2026-11-20')
  // `Date.parse` reads 31 February as 3 March.
  .refine((value) => !Number.isNaN(Date.parse(value)), 'Must be a date such as 2026-11-20')
  .refine((value) => z.iso.date().safeParse(value.slice(0, 10)).success, 'There is no such day');

const filter = {
  userId: id.optional(),
  resourceType: text(50).optional(),
  // an id is the same in capitals
  resourceId: text(200)
    .overwrite((value) => id.safeParse(value).data ?? value)
    .optional(),
  eventType: text(100).optional(),
  startDate: dayOrInstant.optional(),
  endDate: dayOrInstant.optional().meta({ description: 'A date includes the whole day' }),
  search,
  success: queryFlag.optional().meta({ description: 'false: only failed or refused calls' }),
};

const canRead = staffWith('audit', 'read');

export const auditConfig = namedObject('AuditConfig', {
  retentionDays: z.number(),
  shortestRetentionDays: z.number(),
});

const broken = z.object({
  audit_id: z.string().nullable(),
  sequence: z.number().nullable(),
  problem: z.string(),
});

/** The hash chain at the last check of the responding process, which runs every minute. */
export const chainState = namedObject('AuditChainState', {
  state: z
    .enum(['whole', 'broken', 'checking'])
    .meta({ description: 'checking: the first check of all entries has not finished yet' }),
  broken: broken.nullable(),
  sequence: z.number().meta({ description: 'Sequence number of the last sealed entry' }),
  checkedAt: dateTime.nullable(),
  wholeAt: dateTime.nullable().meta({ description: 'When a check of all entries last found no break' }),
  kept: z
    .array(
      z.object({
        place: z.string(),
        sequence: z.number(),
        at: dateTime.nullable(),
        error: z.string().nullable(),
      }),
    )
    .meta({ description: 'Copies of the head outside of the database, and when each was written' }),
});
export type ChainState = z.output<typeof chainState>;

/** The result of a verification of the chain, with the first entry that breaks it. */
export const auditVerification = namedObject('AuditVerification', {
  whole: z.boolean(),
  checkedEntries: z.number(),
  unsealedEntries: z.number(),
  anchors: z.number(),
  acceptedGaps: z.number().meta({ description: 'Missing entries that an operator has accepted' }),
  broken: broken.nullable(),
  durationMs: z.number(),
});
export type AuditVerification = z.output<typeof auditVerification>;

export const audit = {
  list: route('GET', '/api/audit', {
    summary: 'Audit entries, newest first',
    access: canRead,
    query: z.strictObject({
      ...filter,
      limit: wholeNumber(1, 500).default(20),
      offset: wholeNumber(0, 1_000_000_000).default(0),
      after: text(200)
        .optional()
        .meta({ description: 'nextCursor of the previous page; works at any depth' }),
    }),
    answer: z.object({
      entries: z.array(auditEntry),
      total: z.number(),
      totalIsExact: z.boolean().meta({ description: 'false: there are more entries than total' }),
      hasMore: z.boolean(),
      nextCursor: z.string().nullable(),
      searchedBackTo: dateTime.nullable().meta({
        description:
          'Not null: the filter is so expensive that only entries newer than this were searched; continue with nextCursor',
      }),
    }),
  }),
  exportCsv: route('GET', '/api/audit/export', {
    summary: 'All entries that match the filter, as CSV; the export is audited',
    access: staffWith('audit', 'export'),
    query: z.strictObject(filter),
    csv: true,
  }),
  stats: route('GET', '/api/audit/stats', {
    summary: 'Number of entries by day, event and user',
    access: canRead,
    query: z.strictObject({ days: wholeNumber(1, 366).default(30) }),
    answer: z.object({
      days: z.number(),
      total: z.number(),
      failed: z.number(),
      byDay: z.array(z.object({ date: z.string(), count: z.number() })),
      byEvent: z.array(z.object({ event_type: z.string(), count: z.number() })),
      byUser: z.array(z.object({ user_email: z.string(), count: z.number() })),
    }),
  }),
  choices: route('GET', '/api/audit/choices', {
    summary: 'Values that the filters accept: users, resource types and event types in the log',
    access: canRead,
    answer: z.object({
      users: z.array(z.object({ user_id: z.string(), user_email: z.string() })),
      resourceTypes: z.array(z.string()),
      eventTypes: z.array(z.string()),
    }),
  }),
  config: route('GET', '/api/audit/config', {
    summary: 'Settings of the audit log: how long entries are kept',
    access: canRead,
    answer: auditConfig,
  }),
  setConfig: route('PUT', '/api/audit/config/{key}', {
    summary: 'Change one setting of the audit log',
    access: staffWith('audit', 'update'),
    params: z.object({ key: z.enum(['retentionDays']) }),
    body: z.strictObject({
      value: daysKept,
      seen: daysKept.optional().meta({
        description: 'The value that the user loaded; if another one was set meanwhile, EDIT_CONFLICT',
      }),
    }),
    answer: auditConfig,
    errors: ['EDIT_CONFLICT'],
  }),
  cleanupImpact: route('GET', '/api/audit/cleanup', {
    summary: 'How many entries a cleanup would remove, with the oldest and newest of them',
    access: canRead,
    query: z.strictObject({
      days: wholeNumber(shortestRetentionDays, longestRetentionDays)
        .optional()
        .meta({ description: 'Retention in days; by default the configured one' }),
    }),
    answer: namedObject('AuditCleanupImpact', {
      entries: z.number(),
      oldest: dateTime.nullable(),
      newest: dateTime.nullable(),
    }),
  }),
  cleanup: route('POST', '/api/audit/cleanup', {
    summary: 'Delete entries older than the retention; a signed anchor replaces them',
    access: staffWith('audit', 'delete'),
    query: z.strictObject({
      days: wholeNumber(shortestRetentionDays, longestRetentionDays)
        .optional()
        .meta({ description: 'The retention as it was shown: WRONG_STATE where it is another by now' }),
    }),
    answer: z.object({ removed: z.number(), before: dateTime }),
    errors: ['WRONG_STATE'],
  }),
  verify: route('POST', '/api/audit/verify', {
    summary: 'Verify the hash chain from the last anchor to now',
    access: canRead,
    answer: auditVerification,
  }),
  chain: route('GET', '/api/audit/chain', {
    summary: 'Result of the last check of the hash chain',
    access: canRead,
    answer: chainState,
  }),
  get: route('GET', '/api/audit/{id}', {
    summary: 'One entry with the values before and after the change',
    access: canRead,
    params: z.object({ id: requiredText(100) }),
    answer: auditDetail,
  }),
};
