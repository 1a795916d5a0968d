import { z } from 'zod';
import { percentage, versionText } from './builds.ts';
import { architectures, channels, machineGroups, platforms } from './list-words.ts';
import {
  dateTime,
  id,
  idList,
  instant,
  listMeta,
  namedObject,
  search,
  seenVersion,
  shownVersion,
  wholeNumber,
} from './common.ts';
import { mostSkipped } from './most-skipped.ts';
import { failureComparison, guardState } from './guard.ts';
import { canRollOut, hiddenBy, newer, release } from './releases.ts';
import { rolloutPlan, startNeedsPlan } from './rollout-plan.ts';
import { route, staffWith } from './route.ts';

/** The plan that the release form suggests when a release is published on a channel. */
export const rolloutDefault = namedObject('RolloutDefault', {
  channel: z.enum(channels),
  plan: rolloutPlan.nullable().meta({ description: 'Null: the form asks for a percentage' }),
});
export type RolloutDefault = z.output<typeof rolloutDefault>;

const count = z.number();

/** Where a release stands, and what happened to it on the machines. */
export const rolloutProgress = namedObject('RolloutProgress', {
  release,
  guard: guardState,
  stepNeedsApproval: z.boolean().meta({
    description: 'The next step waits until a second person approves it: one person set the plan',
  }),
  newer,
  hiddenBy,
  reportsWait: z.boolean().meta({
    description:
      'The next step waits until the database has the reports of machines that wait in this process or in the journal',
  }),
  figures: z.object({
    eligible: count.meta({
      description:
        'Machines that would be offered it at 100 % if no newer release were out and no update policy held it back, and those that run it already',
    }),
    held: count.meta({
      description:
        'Of the eligible machines, those that an update policy keeps from it now: by the policy of a customer that they have a seat of',
    }),
    running: count.meta({ description: 'Machines that run its version now' }),
    offered: count.meta({ description: 'Machines that a feed offered it' }),
    fetched: count.meta({ description: 'Machines that fetched its file, or part of it' }),
    installed: count.meta({ description: 'Machines whose last install of it succeeded' }),
    failed: count.meta({ description: 'Machines whose last install of it failed or was rolled back' }),
    rolledBack: count.meta({ description: 'Machines that installed it and went back' }),
  }),
  adoption: z
    .array(z.object({ date: z.string(), installed: count, failed: count }))
    .meta({ description: 'Machines by the UTC day of their last install; days without one are absent' }),
  failures: z.array(
    z.object({
      code: z.string().nullable().meta({ description: 'Null where the machine gave no code' }),
      machines: count,
      latest: z.array(z.string()).meta({ description: 'Display ids of the last 10 of them' }),
    }),
  ),
  fromVersions: z.array(
    z.object({
      version: z.string().nullable().meta({ description: 'Null where it is not known' }),
      machines: count,
    }),
  ),
  affected: z.object({ machines: count, movedOn: count, withdrawnAt: dateTime }).nullable().meta({
    description: 'Machines that had it when it was last withdrawn, and those that run another version now',
  }),
});
export type RolloutProgress = z.output<typeof rolloutProgress>;

/** A release in short, for the list. */
export const rolloutSummary = namedObject('RolloutSummary', {
  releaseId: z.string(),
  hiddenBy,
  running: count,
  eligible: count,
  held: count,
  failed: count,
});
export type RolloutSummary = z.output<typeof rolloutSummary>;

/** How many entries the history of a release has at most. */
export const historyLength = 100;

export type MachineGroup = (typeof machineGroups)[number];

export const rolloutMachine = namedObject('RolloutMachine', {
  displayId: z.string(),
  customers: z
    .array(z.object({ customerId: z.string(), name: z.string() }))
    .nullable()
    .meta({ description: 'Of the licenses with a seat of it; null for users who may not read customers' }),
  runs: z.string().nullable(),
  lastSeen: dateTime,
  installedAt: dateTime.nullable().meta({ description: 'Of its last install, if that succeeded' }),
  failedAt: dateTime.nullable().meta({ description: 'Of its last install, if that failed or was undone' }),
  failureCode: z.string().nullable(),
  movedOn: z
    .boolean()
    .meta({ description: 'It had the release when that was withdrawn, and runs another version now' }),
});
export type RolloutMachine = z.output<typeof rolloutMachine>;

const ofMachines = { group: z.enum(machineGroups).default('running'), search };

const canRead = staffWith('releases', 'read');
const byId = z.object({ releaseId: id });
const base = '/api/v1/updates/admin';

/** How a release rolls out: its plan, and what happened to it. */
export const rollouts = {
  plan: route('PUT', `${base}/releases/{releaseId}/plan`, {
    summary:
      'Set the plan of a published release; it continues from the step that the percentage has reached',
    access: canRollOut,
    params: byId,
    body: z
      .strictObject({
        plan: rolloutPlan.nullable().meta({ description: 'Null ends the plan at the present percentage' }),
        startsAt: instant
          .nullable()
          .default(null)
          .meta({ description: 'When the plan starts; null: at once' }),
        updatedAt: seenVersion,
      })
      .refine(({ plan, startsAt }) => plan !== null || startsAt === null, {
        path: ['startsAt'],
        error: startNeedsPlan,
      }),
    answer: release,
    errors: ['WRONG_STATE', 'NEEDS_APPROVAL'],
  }),
  widen: route('POST', `${base}/releases/{releaseId}/widen`, {
    summary: 'Take the next step of the plan now, without waiting for its time',
    access: canRollOut,
    params: byId,
    body: z.strictObject({
      percentage: percentage.meta({
        description: 'Of the next step, as the user saw it: a repeated call does not take the step after it',
      }),
      updatedAt: shownVersion,
    }),
    answer: release,
    errors: ['WRONG_STATE', 'NEEDS_APPROVAL'],
  }),
  summaries: route('GET', `${base}/rollout-summaries`, {
    summary:
      'For each of these releases: machines that run it, of those that could, those that an update policy keeps from it now, and failed installs',
    access: canRead,
    query: z.strictObject({ ids: idList }),
    answer: z.array(rolloutSummary),
  }),
  progress: route('GET', `${base}/releases/{releaseId}/progress`, {
    summary: 'Where a release stands: plan, guard, figures, failures',
    access: canRead,
    params: byId,
    answer: rolloutProgress,
  }),
  machines: route('GET', `${base}/releases/{releaseId}/machines`, {
    summary: 'The machines that run a release, failed to install it, or had it when it was withdrawn',
    access: canRead,
    params: byId,
    query: z.strictObject({
      ...ofMachines,
      limit: wholeNumber(1, 500).default(50),
      offset: wholeNumber(0, mostSkipped).default(0),
    }),
    answer: z.array(rolloutMachine),
    meta: listMeta,
  }),
  machinesCsv: route('GET', `${base}/releases/{releaseId}/machines.csv`, {
    summary: 'The same machines as CSV',
    access: canRead,
    params: byId,
    query: z.strictObject(ofMachines),
    csv: true,
  }),
  history: route('GET', `${base}/releases/{releaseId}/history`, {
    summary: `The last ${historyLength} changes of a release, the newest first`,
    access: canRead,
    params: byId,
    answer: z.array(
      z.object({ id: z.string(), at: dateTime, by: z.string(), event: z.string(), what: z.string() }),
    ),
  }),
  failureComparison: route('GET', `${base}/failure-comparison`, {
    summary: 'How many installs of a build may fail where the release does not say it, and why',
    access: canRead,
    query: z.strictObject({
      version: versionText,
      channel: z.enum(channels),
      platform: z.enum(platforms),
      architecture: z.enum(architectures),
      fileKind: z
        .string()
        .max(20)
        .meta({ description: 'The extension of the file in lower case, without the dot: exe' }),
    }),
    answer: failureComparison,
  }),
  defaults: route('GET', `${base}/rollout-defaults`, {
    summary: 'The plan that the release form suggests, for each channel',
    access: canRead,
    answer: z.array(rolloutDefault),
  }),
  setDefault: route('PUT', `${base}/rollout-defaults/{channel}`, {
    summary: 'Set the plan that the release form suggests on a channel',
    access: canRollOut,
    params: z.object({ channel: z.enum(channels) }),
    body: z.strictObject({
      plan: rolloutPlan.nullable(),
      seen: rolloutPlan.nullable().optional().meta({
        description: 'The plan that the user loaded; if another one was set meanwhile, EDIT_CONFLICT',
      }),
    }),
    answer: rolloutDefault,
    errors: ['EDIT_CONFLICT'],
  }),
};
