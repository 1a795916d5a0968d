import { z } from 'zod';
import { dayMs } from './durations.ts';
import { dateTime, day, namedObject } from './common.ts';
import { route, staffWith } from './route.ts';
import { validationCodes } from './validation.ts';

/** Both days are included; days are UTC. At most ten years. */
const period = z
  .strictObject({ startDate: day, endDate: day })
  .refine((p) => p.startDate <= p.endDate, { path: ['endDate'], error: 'Must not be before startDate' })
  .refine((p) => Date.parse(p.endDate) - Date.parse(p.startDate) <= 3660 * dayMs, {
    path: ['startDate'],
    error: 'At most ten years',
  });

const canRead = staffWith('analytics', 'read');
const series = z.array(z.object({ period: z.string(), count: z.number() }));

/** Served at /api/analytics/… and also at /analytics/…, the path in the spec. */
export const health = namedObject('LicenseHealth', {
  activeLicenses: z.number().meta({
    description:
      'Neither revoked nor expired, also before their first day; without those of soft-deleted customers',
  }),
  activeCustomers: z.number().meta({ description: 'Those with such a license' }),
  totalActivations: z.number(),
  errorRate: z
    .number()
    .meta({ description: 'Validations of the last 7 days that were not VALID, in percent' }),
  avgResponseTime: z.number().meta({ description: 'Milliseconds, over the last 7 days' }),
  lastUpdated: dateTime,
});

export const trends = namedObject('LicenseTrends', {
  activations: series.meta({
    description: 'Machines that validated, per UTC day; one with seats on several licenses counts once',
  }),
  customers: series.meta({ description: 'Customers whose machines validated' }),
  licenses: series.meta({ description: 'Licenses that were validated' }),
  successRate: series.meta({ description: 'Validations that were VALID, in percent' }),
  responseTime: series.meta({ description: 'Average in milliseconds' }),
  codes: z.array(z.object({ period: z.string(), code: z.enum(validationCodes), count: z.number() })),
});

export const customerUse = namedObject('CustomerUse', {
  summary: z.object({
    active: z.number().meta({ description: 'Active customers, with a license or without' }),
    byType: z.record(z.string(), z.number()),
  }),
  customers: z
    .array(
      z.object({
        customerId: z.string(),
        company: z.string(),
        activeUsers: z.number().meta({ description: 'Machines in use in the period' }),
        activeLicenses: z.number().meta({ description: 'Active now, as in health' }),
      }),
    )
    .meta({ description: 'The ten customers with the most active machines' }),
  versions: z
    .array(
      z.object({
        customerId: z.string(),
        company: z.string(),
        appVersion: z.string(),
        machines: z.number().meta({ description: 'Those that told this version last' }),
        provenMachines: z.number().meta({ description: 'Of the machines, those that are enrolled' }),
      }),
    )
    .meta({ description: 'App versions that machines of these customers run' }),
  expiring: z
    .array(z.object({ weekStart: z.string(), count: z.number() }))
    .meta({ description: 'Licenses that expire in what is left of this week, and in each of the next 13' }),
});

export type LicenseHealth = z.output<typeof health>;
export type LicenseTrends = z.output<typeof trends>;
export type CustomerUse = z.output<typeof customerUse>;

export const analytics = {
  health: route('GET', '/api/analytics/health', {
    alias: '/analytics/health',
    summary: 'Current licenses, activations, error rate and response time',
    access: canRead,
    answer: health,
  }),
  trends: route('GET', '/api/analytics/trends', {
    alias: '/analytics/trends',
    summary: 'Use, success and response time over a period',
    access: canRead,
    query: period,
    answer: trends,
  }),
  customers: route('GET', '/api/analytics/customers', {
    alias: '/analytics/customers',
    summary: 'The customers with the most machines, the versions they run, licenses that expire soon',
    access: canRead,
    query: period,
    answer: customerUse,
  }),
};
