import { z } from 'zod';
import { dateTime, id, namedObject, requiredText, text } from './common.ts';
import { route, staffWith } from './route.ts';

/** `released`: by the machine itself; `deactivated`: by staff. Only `active` holds a seat. */
export const activationStatuses = ['active', 'deactivated', 'released'] as const;
export const activationTypes = ['automatic', 'manual', 'offline'] as const;

/** A machine's seat on a license (spec part 1, section 3). */
export const activation = namedObject('Activation', {
  activationId: z.string(),
  machineId: z.string(),
  status: z.enum(activationStatuses),
  activationType: z.enum(activationTypes).meta({
    description: 'automatic: created by a validation; manual: by staff; offline: holds a license file',
  }),
  hostname: z.string().nullable(),
  platform: z.string().nullable(),
  architecture: z.string().nullable(),
  osVersion: z.string().nullable(),
  appVersion: z.string().nullable(),
  lastCheckedAt: dateTime.nullable(),
  offlineUntil: dateTime.nullable().meta({
    description:
      'Until when a license file may let the machine run; its seat ends by itself then, unless it validates online',
  }),
  createdAt: dateTime,
});

export type Activation = z.output<typeof activation>;

/** What the service knows of the identity of a machine on a license; all null if it is only claimed. */
export const identityFields = {
  enrolledAt: dateTime.nullable().meta({ description: 'Since when the machine proves itself with a token' }),
  clonedAt: dateTime
    .nullable()
    .meta({ description: 'When its token was first noticed on two machines at once' }),
  ownRecord: z.string().nullable().meta({
    description:
      'Display id of the machine that its token reports for, if that is not the one with its machine id: that one belongs to another customer',
  }),
};

/** A machine in the list of a license. */
export const listedActivation = namedObject('ListedActivation', { ...activation.shape, ...identityFields });
export type ListedActivation = z.output<typeof listedActivation>;

const selfReleases = z.object({ today: z.number(), atMost: z.number() }).meta({
  description:
    'Seats that machines of the license released themselves on this UTC day, without those above `maxActivations`',
});

const offlineGraceDays = z.number().meta({
  description:
    'For how many days after its end a new license file still counts, if the license lasts as long',
});

const validationGraceMs = z.number().meta({
  description: 'For how many milliseconds a machine may rely on a valid answer, if the license lasts as long',
});

/** `2026-12-01T09:30:00.000Z` as `2026-12-01 09:30 UTC`, for a sentence. */
export const utcMinute = (instant: string): string => `${instant.slice(0, 16).replace('T', ' ')} UTC`;

/** Why an action on an activation is refused; null when it is allowed (spec part 1, section 4). */
export const activationRefusal = {
  deactivate: (a: Pick<Activation, 'status'>) => (a.status === 'active' ? null : 'Machine is not active'),
  /** Deactivation without `force`: a machine without a network cannot be told to stop. */
  deactivateOffline: (a: Pick<Activation, 'offlineUntil'>, now: Date) =>
    a.offlineUntil !== null && Date.parse(a.offlineUntil) > now.getTime()
      ? `This machine may run offline until ${utcMinute(a.offlineUntil)}. Enter its return receipt, or deactivate it by force`
      : null,
  reactivate: (a: Pick<Activation, 'status'>) => (a.status === 'active' ? 'Machine is already active' : null),
};

export const machineId = requiredText(256, 'Machine ID is required');

/** Longer than any way to type a key, so that other text gives MALFORMED_KEY instead of a 400. */
export const licenseKeyInput = text(256);

export const activations = {
  list: route('GET', '/api/licenses/{licenseKey}/activations', {
    summary: 'The machines of a license',
    access: staffWith('licenses', 'read'),
    params: z.object({ licenseKey: licenseKeyInput }),
    answer: z.array(listedActivation),
    meta: namedObject('ActivationListMeta', { selfReleases, offlineGraceDays, validationGraceMs }),
    errors: ['NOT_FOUND'],
  }),
  deactivate: route('DELETE', '/api/licenses/activations/{activationId}', {
    summary: 'Deactivate a machine and free its seat; only staff can reactivate it',
    access: staffWith('licenses', 'update'),
    params: z.object({ activationId: id }),
    body: z.strictObject({
      machineId,
      force: z.boolean().optional().meta({
        description: 'Frees the seat of an offline machine too, although its license file stays valid',
      }),
    }),
    answer: activation,
    errors: ['WRONG_STATE'],
  }),
};
