import { z } from 'zod';
import { callName } from './address.ts';
import { dateTime, id, instant, isShallow, namedObject, queryFlag, requiredText } from './common.ts';
import { maySee, seesApprovals, type Permission } from './permissions.ts';
import { canRollOut, releases } from './releases.ts';
import { rollouts } from './rollouts.ts';
import { needsOf, route, type Access, type Route } from './route.ts';
import { channels } from './list-words.ts';

/** How long a change request may be approved, in hours. */
export const requestHours = 24;
/** How many requests may be open at once. */
export const mostOpenRequests = 100;

const base = '/api/v1/updates/admin/approvals';
const canSee: Access = { kind: 'staff', needs: seesApprovals };

const channelApproval = namedObject('ChannelApproval', {
  channel: z.enum(channels),
  required: z.boolean().meta({
    description:
      'Publishing, widening to 100 %, lowering the minimum version, resuming after a pause by the service, accepting more failures and overriding update policies need the approval of a second person; on wider channels too, whose releases these machines receive',
  }),
  updatedAt: dateTime,
});
export type ChannelApproval = z.output<typeof channelApproval>;

const setChannel = route('PUT', `${base}/channels/{channel}`, {
  summary: 'Whether a channel requires approvals; this change itself always needs one',
  access: canRollOut,
  params: z.object({ channel: z.enum(channels) }),
  body: z.strictObject({ required: z.boolean() }),
  answer: channelApproval,
  errors: ['NEEDS_APPROVAL'],
});

const approvable: readonly Route[] = [
  releases.update,
  releases.rollout,
  releases.resume,
  releases.restore,
  rollouts.plan,
  rollouts.widen,
  setChannel,
];

/** The calls that can be approved. */
export const approvableCalls = approvable.map((call) => callName(call));

/** Whether these permissions are enough to ask for an approvable call, or to approve it: its own, and of rollouts. */
export function mayAskFor(name: string, held: readonly Permission[]): boolean {
  const access = approvable.find((call) => callName(call) === name)?.access;
  return [access, canRollOut].every((each) => each && maySee(needsOf(each), held));
}

export const requestStates = ['open', 'approved', 'declined', 'withdrawn', 'expired'] as const;

/** A change that one person asked for, and that a second person may approve. */
export const changeRequest = namedObject('ChangeRequest', {
  id: z.string(),
  call: z.string().meta({ description: 'The call that approving makes' }),
  subject: z.string().meta({ description: 'What changes: 2.0.0 for Windows x64 (stable)' }),
  releaseId: z.string().nullable().meta({ description: 'Of the release that changes' }),
  what: z.string().meta({ description: 'How it changes: publish at 5 %' }),
  changes: z
    .array(z.object({ field: z.string(), from: z.unknown(), to: z.unknown() }))
    .meta({ description: 'Every field that changes' }),
  state: z.enum(requestStates),
  isOutdated: z
    .boolean()
    .meta({ description: 'The subject has changed since, so that the request cannot be approved anymore' }),
  requesterMay: z.boolean().meta({
    description: 'false: the user who asked may not make the change anymore, so that it cannot be approved',
  }),
  since: z.array(z.object({ at: dateTime, by: z.string(), what: z.string() })).meta({
    description: 'Of an outdated request for a release: its last 10 changes since, the newest first',
  }),
  requestedBy: z.string().meta({ description: 'Email of the user who asked' }),
  requestedById: z.string(),
  requestedAt: dateTime,
  expiresAt: dateTime,
  decidedBy: z.string().nullable(),
  decidedAt: dateTime.nullable(),
  reason: z.string().nullable().meta({ description: 'Why it was declined' }),
});
export type ChangeRequest = z.output<typeof changeRequest>;

const byId = z.object({ requestId: id });

export const approvals = {
  list: route('GET', base, {
    summary: 'Change requests that are open or were made in the last 7 days, the newest first',
    access: canSee,
    query: z.strictObject({
      waiting: queryFlag.optional().meta({ description: 'true: only those that the caller may approve now' }),
    }),
    answer: z.array(changeRequest),
  }),
  ask: route('POST', base, {
    summary: 'Ask a second person to approve a call that was refused with NEEDS_APPROVAL',
    access: canRollOut,
    body: z.strictObject({
      call: z.enum(approvableCalls),
      params: z
        .strictObject({ releaseId: id, channel: z.enum(channels) })
        .partial()
        .meta({ description: 'Those in the path of the call' }),
      body: z
        .record(z.string(), z.unknown())
        .refine((body) => isShallow(body, 10), 'Must not be nested deeper than 10 levels')
        .optional(),
      seen: instant.meta({ description: 'updatedAt of the release or channel as it was seen' }),
    }),
    answer: changeRequest,
    status: 201,
    errors: ['NOT_FOUND', 'EDIT_CONFLICT', 'ALREADY_EXISTS', 'WRONG_STATE', 'RULE_VIOLATED'],
  }),
  approve: route('POST', `${base}/{requestId}/approve`, {
    summary: 'Make the requested call as the second person; requires the permissions of that call too',
    access: canRollOut,
    params: byId,
    body: z.strictObject({ currentPassword: z.string().max(1024) }),
    answer: changeRequest,
    errors: ['EDIT_CONFLICT', 'ALREADY_EXISTS', 'WRONG_STATE', 'WRONG_CREDENTIALS'],
  }),
  decline: route('POST', `${base}/{requestId}/decline`, {
    summary: "Decline another user's request",
    access: canRollOut,
    params: byId,
    body: z.strictObject({ reason: requiredText(500, 'Reason is required') }),
    answer: changeRequest,
    errors: ['WRONG_STATE'],
  }),
  withdraw: route('POST', `${base}/{requestId}/withdraw`, {
    summary: 'Withdraw your own request',
    access: canSee,
    params: byId,
    answer: changeRequest,
    errors: ['WRONG_STATE'],
  }),
  channels: route('GET', `${base}/channels`, {
    summary: 'Which channels require approvals',
    access: canSee,
    answer: z.array(channelApproval),
  }),
  setChannel,
};
