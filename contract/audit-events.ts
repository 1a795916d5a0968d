import { architectureNames, platformNames, type Architecture, type Platform } from './builds.ts';
import type { Channel } from './versions.ts';

/*
 * Every event of the audit log: its type of record, the display name of the record, and the text of the event. The
 * types reject an entry with an unknown event or without its record.
 */

/** The record of an entry: its id, if it has one, and its display name. */
export type AuditSubject = { id: string | null; name: string };

type Build = {
  id: string;
  version: string;
  channel: Channel;
  platform: Platform;
  architecture: Architecture;
};

/**
 * Display names of the records of each resource type: derived from the record, or fixed where there is only one. The
 * type is the part of an event before the dot.
 */
export const auditSubjects = {
  customer: (c: { customerId: string; name: string }) => ({ id: c.customerId, name: c.name }),
  tag: (t: { tag: string }) => ({ id: t.tag, name: `Tag ${t.tag}` }),
  license: (l: { licenseId: string; licenseKey: string }) => ({ id: l.licenseId, name: l.licenseKey }),
  activation: (a: { activationId: string | null; machineId: string; licenseKey: string }) => ({
    id: a.activationId,
    name: `Machine ${a.machineId} on ${a.licenseKey}`,
  }),
  machine: 'Machines',
  release: (r: Build) => ({
    id: r.id,
    name: `${r.version} for ${platformNames[r.platform]} ${architectureNames[r.architecture]} (${r.channel})`,
  }),
  approval: (r: { id: string; subject: string }) => ({ id: r.id, name: `Change request for ${r.subject}` }),
  channel: (c: { channel: Channel }) => ({ id: null, name: `Channel ${c.channel}` }),
  upload: (u: { uploadId: string; fileName: string; version: string }) => ({
    id: u.uploadId,
    name: `${u.fileName} as ${u.version}`,
  }),
  user: (u: { id: string; email: string }) => ({ id: u.id, name: u.email }),
  session: (s: { sessionId: string | null; email: string }) => ({
    id: s.sessionId,
    name: `Session of ${s.email}`,
  }),
  role: (r: { roleId: string }) => ({ id: r.roleId, name: `Role ${r.roleId}` }),
  api_key: (k: { id: string | null; name: string }) => ({ id: k.id, name: `API key ${k.name}` }),
  key: (k: { keyId: string }) => ({ id: k.keyId, name: `Key ${k.keyId}` }),
  call: (c: { endpoint: string }) => ({ id: null, name: c.endpoint }),
  audit: 'Audit log',
  refusal: 'Refusals',
  rollout_default: (d: { channel: Channel }) => ({ id: d.channel, name: `Default rollout on ${d.channel}` }),
  view: (v: { id: string; name: string }) => ({ id: v.id, name: `View ${v.name}` }),
  clock: 'Clock',
  backup: (b: { madeAt: string }) => ({ id: null, name: `Backup of ${b.madeAt}` }),
} satisfies Record<string, string | ((record: never) => AuditSubject)>;

export type AuditResource = keyof typeof auditSubjects;

/** The subject of an event that covers all records of a type, such as an export. */
const collections = { customer: 'Customers', license: 'Licenses', key: 'Keys' } as const;

/** Fields that entries omit from the values before and after. */
export const auditOmitted: Partial<Record<AuditResource, readonly string[]>> = {
  user: ['password', 'passwordHash', 'recoveryCodes'],
  api_key: ['key'],
  // a counter that machines change all the time, and what follows from the percentage
  release: ['downloadCount', 'fullAt'],
};

/** The summary text after the subject and a colon; null where each entry supplies it, or the changed fields do. */
export const auditEvents = {
  'customer.created': 'created',
  'customer.updated': null,
  'customer.soft_deleted': 'moved to the recycle bin',
  'customer.restored': 'restored',
  'customer.deleted': null,
  'customer.exported': null,
  'customer.policy_changed': null,
  'tag.policy_changed': null,
  'license.created': null,
  'license.updated': null,
  'license.transferred': null,
  'license.revoked': 'revoked',
  'license.reactivated': 'reactivated',
  'license.deleted': 'permanently deleted',
  'license.exported': null,
  'license.enrollment_limit_reached': null,
  'activation.created': 'activated',
  'activation.reactivated': 'reactivated',
  'activation.deactivated': 'deactivated',
  'activation.released': 'gave its seat back',
  'activation.release_refused': 'may not give its seat back',
  'activation.enrolled': 'enrolled',
  'activation.enrollment_ended': 'enrollment ended',
  'activation.clone_noticed': 'seen on two machines at once',
  'activation.offline_issued': null,
  'activation.offline_returned': 'gave its seat back by receipt',
  'activation.offline_ended': 'license file ended',
  'machine.exported': null,
  'release.created': null,
  'release.updated': null,
  'release.published': null,
  'release.rollout_changed': null,
  'release.plan_changed': null,
  'release.step_taken': null,
  'release.rollout_paused': null,
  'release.rollout_resumed': null,
  'release.withdrawn': null,
  'release.soft_deleted': null,
  'release.restored': null,
  'release.deleted': null,
  'release.purged': null,
  'release.failures_claimed': null,
  'release.file_damaged': null,
  'release.file_recovered': null,
  'approval.requested': null,
  'approval.declined': null,
  'approval.withdrawn': null,
  'channel.approval_changed': null,
  'rollout_default.changed': null,
  'upload.begun': null,
  'upload.cancelled': 'canceled',
  'upload.completed': 'completed',
  'user.created': null,
  'user.updated': null,
  'user.deactivated': 'deactivated',
  'user.reactivated': 'reactivated',
  'user.deleted': 'permanently deleted',
  'user.roles_changed': null,
  'user.password_changed': 'changed their password',
  'user.password_reset': 'password reset',
  'user.password_refused': 'current password refused',
  'user.sessions_ended': null,
  'user.first_screen_chosen': null,
  'user.second_factor_begun': 'started to set up a second factor',
  'user.second_factor_set': 'set up a second factor',
  'user.second_factor_removed': 'removed the second factor',
  'session.login': null,
  'session.login_failed': 'sign-in failed',
  'session.code_required': 'password right, asked for the code',
  'session.logout': 'signed out',
  'session.ended': 'ended',
  'session.cookie_reused': 'ended, since a cookie came back that had been replaced',
  'role.created': null,
  'role.updated': null,
  'role.deleted': 'removed',
  'api_key.created': 'created',
  'api_key.updated': null,
  'api_key.revoked': 'revoked',
  'api_key.refused': 'refused',
  'api_key.limit_reached': null,
  'key.prepared': null,
  'key.rotated': null,
  'key.accepted_new': null,
  'key.secrets_rotated': null,
  'audit.config_changed': null,
  'audit.cleaned_up': null,
  'audit.exported': null,
  'audit.gap_accepted': null,
  'audit.chain_taken_over': null,
  'call.refused': 'refused',
  'refusal.counted': null,
  'view.created': 'created',
  'view.updated': null,
  'view.deleted': 'deleted',
  'view.restored': 'restored',
  'clock.confirmed': null,
  'backup.restored': 'restored',
} as const satisfies Record<`${AuditResource}.${string}`, string | null>;

export type AuditEvent = keyof typeof auditEvents;

type ResourceOf<E extends AuditEvent> = E extends `${infer R extends AuditResource}.${string}` ? R : never;
type RecordOf<R extends AuditResource> = (typeof auditSubjects)[R] extends (record: infer S) => unknown
  ? S | (R extends keyof typeof collections ? null : never)
  : null;
/** The record that an entry of the event names; null for all records of a type, or the only one. */
export type SubjectOf<E extends AuditEvent> = RecordOf<ResourceOf<E>>;

type Shown = { before?: object | undefined; after?: object | undefined; error?: string | undefined };
/**
 * The details of an entry in addition to its record. `what` follows the colon of the summary; by default the event, or
 * the fields that differ between `before` and `after`, supply it. An `error` marks a failed attempt.
 */
export type AuditDetail<E extends AuditEvent> = Shown &
  ((typeof auditEvents)[E] extends null
    ? { what: string } | { what?: undefined; before: object; after: object }
    : { what?: string });

/** The resource type of an event. */
export const resourceOf = (event: AuditEvent): AuditResource =>
  event.slice(0, event.indexOf('.')) as AuditResource;

/** The record of an entry with its display name. */
export function subjectOf<E extends AuditEvent>(event: E, record: SubjectOf<E>): AuditSubject {
  const resource = resourceOf(event);
  const named = auditSubjects[resource];
  if (typeof named === 'string') return { id: null, name: named };
  return record === null
    ? { id: null, name: collections[resource as keyof typeof collections] }
    : named(record as never);
}
