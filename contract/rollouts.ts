import { z } from 'zod';
import { id, instant, namedObject } from './common.ts';
import { percentage } from './builds.ts';
import { canRollOut, release } from './releases.ts';
import { rolloutPlan } from './rollout-plan.ts';
import { route, staffWith } from './route.ts';
import { channels } from './versions.ts';

/** The plan that the release form suggests when a release is published on a channel. */
export const rolloutDefault = namedObject('RolloutDefault', {
  channel: z.enum(channels),
  plan: rolloutPlan.nullable().meta({ description: 'Null: the form asks for a percentage' }),
});
export type RolloutDefault = z.output<typeof rolloutDefault>;

const canRead = staffWith('releases', 'read');
const byId = z.object({ releaseId: id });
const base = '/api/v1/updates/admin';

/** How a release rolls out: its plan, and what became of it. */
export const rollouts = {
  plan: route('PUT', `${base}/releases/{releaseId}/plan`, {
    summary: 'Set the plan of a published release; it goes on from the step that the percentage has reached',
    access: canRollOut,
    params: byId,
    body: z.strictObject({
      plan: rolloutPlan.nullable().meta({ description: 'Null ends the plan at the present percentage' }),
      startsAt: instant.nullable().default(null).meta({ description: 'When the plan starts; null: at once' }),
    }),
    answer: release,
    errors: ['NOT_FOUND', 'WRONG_STATE', 'NEEDS_APPROVAL'],
  }),
  widen: route('POST', `${base}/releases/{releaseId}/widen`, {
    summary: 'Take the next step of the plan now, without waiting for its time',
    access: canRollOut,
    params: byId,
    body: z.strictObject({
      percentage: percentage.meta({
        description: 'Of the next step, as the user saw it: a repeated call does not take the step after it',
      }),
    }),
    answer: release,
    errors: ['NOT_FOUND', 'WRONG_STATE', 'NEEDS_APPROVAL'],
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
    body: z.strictObject({ plan: rolloutPlan.nullable() }),
    answer: rolloutDefault,
  }),
};
