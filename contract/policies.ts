import { z } from 'zod';
import {
  dateTime,
  day,
  id,
  line,
  listMeta,
  namedObject,
  paging,
  search,
  seenVersion,
  wholeFrom,
} from './common.ts';
import { permit } from './permissions.ts';
import { route, staffWith, staffWithAny } from './route.ts';
import { compareVersions, isVersion } from './versions.ts';
import { channels } from './list-words.ts';

/** Days of the week as a maintenance window names them; Monday first. */
export const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
export type Weekday = (typeof weekdays)[number];

const versionPrefix = /^(0|[1-9]\d{0,8})\.((0|[1-9]\d{0,8})\.)?$/;

/** Whether a version is inside a pin: `4.` and `4.2.` compare whole parts, a full version ignores build metadata. */
export const isInsidePin = (version: string, pin: string): boolean =>
  versionPrefix.test(pin) ? version.startsWith(pin) : compareVersions(version, pin) === 0;

const pin = line(100).refine(
  (value) => versionPrefix.test(value) || isVersion(value),
  'Must be a version, or begin one: 4. or 4.2. or 4.2.1',
);

const timeOfDay = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'Must be a time from 00:00 to 23:59');

/** True for a name of the IANA time zone database. An offset such as +01:00 has no rules, so it is not a zone. */
export function isZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

/**
 * When machines may be offered updates, by the clocks of `zone`. `weekdays` are the days on which the window begins;
 * with `to` at or before `from` it ends on the next day.
 */
export const maintenanceWindow = namedObject('MaintenanceWindow', {
  zone: z.string().max(64).refine(isZone, 'Must be a time zone such as Europe/Berlin'),
  weekdays: z.array(z.enum(weekdays)).min(1, 'Must be at least one day').max(7),
  from: timeOfDay,
  to: timeOfDay,
});
export type MaintenanceWindow = z.output<typeof maintenanceWindow>;

/** What a customer or a tag may decide about updates. Null: not decided here. */
export const policyFields = {
  channel: z
    .enum(channels)
    .nullable()
    .meta({ description: 'In place of the channel that the machine asks for' }),
  pin: pin.nullable().meta({ description: '4. or 4.2. or a version' }),
  pinForSecurity: z.boolean().meta({ description: 'The pin also holds back security updates' }),
  deferDays: wholeFrom(0, 365)
    .nullable()
    .meta({ description: 'Days between the moment a release reached 100 % and its offer' }),
  windows: z
    .array(maintenanceWindow.strict())
    .max(20)
    .nullable()
    .meta({ description: 'An empty list allows updates at any time' }),
  updatesUntil: day.nullable().meta({ description: 'The last day with updates, UTC' }),
};
export const updatePolicy = namedObject('UpdatePolicy', policyFields);
export type UpdatePolicy = z.output<typeof updatePolicy>;

/** A policy that decides nothing. */
export const noPolicy: UpdatePolicy = {
  channel: null,
  pin: null,
  pinForSecurity: false,
  deferDays: null,
  windows: null,
  updatesUntil: null,
};

/** The name of a group of customers. */
export const tagText = z
  .string('Tag is required')
  .trim()
  .toLowerCase()
  .regex(/^[a-z0-9][a-z0-9-]{0,39}$/, 'Must be letters, digits and hyphens, at most 40');

/** The policy and the tags of one customer. */
export const customerPolicy = namedObject('CustomerPolicy', {
  customerId: z.string(),
  name: z.string().meta({ description: 'Empty for users who may not read customers' }),
  tags: z.array(z.string()),
  ...policyFields,
  updatedAt: dateTime,
});
export type CustomerPolicy = z.output<typeof customerPolicy>;

/** The policy of all customers that have a tag. */
export const tagPolicy = namedObject('TagPolicy', {
  tag: z.string(),
  customers: z.number().meta({ description: 'Customers that have the tag; not soft-deleted ones' }),
  ...policyFields,
  updatedAt: dateTime,
});
export type TagPolicy = z.output<typeof tagPolicy>;

const listedTagPolicy = tagPolicy
  .extend({ machines: z.number().meta({ description: 'Machines with a seat of one of these customers' }) })
  .meta({ id: 'ListedTagPolicy' });
export type ListedTagPolicy = z.output<typeof listedTagPolicy>;

export const policyImpact = namedObject('PolicyImpact', {
  machines: z.number().meta({ description: 'Machines that were looked at' }),
  isComplete: z.boolean().meta({ description: 'false: there are more machines than were looked at' }),
  changed: z.number().meta({ description: 'Machines that would be offered something else at this moment' }),
  held: z.number().meta({ description: 'Of those, machines that would be offered nothing at this moment' }),
  pinMatches: z.boolean().nullable().meta({
    description:
      'false: no published release matches the pin; it counts only for machines that run a version inside it. null: no pin',
  }),
  unpinned: z.number().meta({
    description:
      'Machines for which the pin does not count: no published release of their build matches it, and they run no version inside it',
  }),
});
export type PolicyImpact = z.output<typeof policyImpact>;

export const customerPolicyInput = z.strictObject({ tags: z.array(tagText).max(20), ...policyFields });
export const tagPolicyInput = z.strictObject({ ...policyFields, updatedAt: seenVersion });
const byCustomer = z.object({ id });
const byTag = z.object({ tag: tagText });
/** Customers and releases are often managed by different people. */
const canRead = staffWithAny(permit('customers', 'read'), permit('rollouts', 'read'));
/** A policy decides what machines are offered, as a rollout does. */
const canUpdate = staffWith('rollouts', 'update');

export const policies = {
  getOfCustomer: route('GET', '/api/customers/{id}/update-policy', {
    summary: 'The update policy and the tags of a customer',
    access: canRead,
    params: byCustomer,
    answer: customerPolicy,
  }),
  putOfCustomer: route('PUT', '/api/customers/{id}/update-policy', {
    summary: 'Set the update policy and the tags of a customer',
    access: canUpdate,
    params: byCustomer,
    body: customerPolicyInput.extend({ updatedAt: seenVersion }),
    answer: customerPolicy,
    errors: ['WRONG_STATE'],
  }),
  impactOnCustomer: route('POST', '/api/customers/{id}/update-policy/impact', {
    summary: 'How many machines would be offered something else under this policy; changes nothing',
    access: canUpdate,
    params: byCustomer,
    body: customerPolicyInput,
    answer: policyImpact,
    changesNothing: true,
  }),
  listTags: route('GET', '/api/update-policies/tags', {
    summary: 'Tags of customers and their update policies, in alphabetical order; by default all',
    access: canRead,
    query: z.strictObject({ search, ...paging }),
    answer: z.array(listedTagPolicy),
    meta: listMeta,
  }),
  putOfTag: route('PUT', '/api/update-policies/tags/{tag}', {
    summary: 'Set the update policy of all customers with a tag',
    access: canUpdate,
    params: byTag,
    body: tagPolicyInput,
    answer: tagPolicy,
  }),
  impactOnTag: route('POST', '/api/update-policies/impact', {
    summary: 'How many machines would be offered something else under this policy; changes nothing',
    access: canUpdate,
    body: z.strictObject({ tag: tagText, ...policyFields }),
    answer: policyImpact,
    changesNothing: true,
  }),
};
