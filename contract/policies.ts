import { z } from 'zod';
import { namedObject } from './common.ts';
import { channels, compareVersions, isVersion } from './versions.ts';

/** Days of the week as a maintenance window names them; Monday first. */
export const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
export type Weekday = (typeof weekdays)[number];

const versionPrefix = /^(0|[1-9]\d{0,8})\.((0|[1-9]\d{0,8})\.)?$/;

/** Whether a version is inside a pin: `4.` and `4.2.` compare whole parts, a full version ignores build metadata. */
export const isInsidePin = (version: string, pin: string): boolean =>
  versionPrefix.test(pin) ? version.startsWith(pin) : compareVersions(version, pin) === 0;

const pin = z
  .string()
  .trim()
  .max(100)
  .refine(
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
  weekdays: z.array(z.enum(weekdays)).min(1).max(7),
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
  deferDays: z
    .number()
    .int()
    .min(0)
    .max(365)
    .nullable()
    .meta({ description: 'Days between the moment a release reached 100 % and its offer' }),
  windows: z
    .array(maintenanceWindow.strict())
    .max(20)
    .nullable()
    .meta({ description: 'An empty list allows updates at any time' }),
  updatesUntil: z.iso
    .date('Must be a date such as 2026-11-20')
    .nullable()
    .meta({ description: 'The last day with updates, UTC' }),
};
export const updatePolicy = namedObject('UpdatePolicy', policyFields);
export type UpdatePolicy = z.output<typeof updatePolicy>;
