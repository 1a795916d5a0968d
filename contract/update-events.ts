import { z } from 'zod';
import { machineId } from './activations.ts';
import { architectureName, platformName } from './builds.ts';
import { id, instant, integer, text } from './common.ts';
import { updateEventTypes } from './machines.ts';
import { apiKeyOrStaffWith, route } from './route.ts';
import { channels } from './list-words.ts';

/** Maximum number of events in one report. */
export const mostEvents = 500;

/** An event reported by a machine; the client generates `eventId`, so that a retry counts once. */
const reportedEvent = z
  .strictObject({
    eventId: id,
    machineId: machineId
      .optional()
      .meta({ description: 'Required unless the call is authenticated by a machine token' }),
    eventType: z.enum(updateEventTypes),
    timestamp: instant.optional(),
    platform: platformName.optional(),
    architecture: architectureName.optional(),
    channel: z.enum(channels).optional(),
    fromVersion: text(100).optional(),
    toVersion: text(100).optional(),
    releaseId: id.optional().meta({ description: 'Release id from the feed; by default found by toVersion' }),
    osVersion: text(100).optional(),
    appVersion: text(100).optional(),
    bytesDownloaded: integer(0, Number.MAX_SAFE_INTEGER).optional(),
    errorCode: text(100).optional(),
    errorMessage: text(1000).optional(),
  })
  .meta({ id: 'ReportedEvent' });
export type ReportedEvent = z.output<typeof reportedEvent>;

export const updateEvents = {
  report: route('POST', '/api/v1/updates/events', {
    summary: 'Machines report update events, in batches; a repeated event id counts once',
    // what machines report decides about rollouts
    access: apiKeyOrStaffWith('updates', 'rollouts', 'update'),
    body: z.strictObject({ events: z.array(reportedEvent).min(1).max(mostEvents) }),
    answer: z.object({ accepted: z.number() }),
  }),
};
