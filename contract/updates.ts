import { z } from 'zod';
import { id, instant, requiredText, text } from './common.ts';
import { updateEventTypes } from './machines.ts';
import { architectures, channels, platforms } from './releases.ts';
import { apiKeyOrStaffWith, route } from './route.ts';

/** A machine's own report; `eventId` is made by the client, so that a retry counts once. */
const reportedEvent = z
  .strictObject({
    eventId: id,
    machineId: requiredText(256, 'Machine ID is required'),
    eventType: z.enum(updateEventTypes),
    timestamp: instant.optional(),
    platform: z.enum(platforms).optional(),
    architecture: z.enum(architectures).optional(),
    channel: z.enum(channels).optional(),
    fromVersion: text(100).optional(),
    toVersion: text(100).optional(),
    osVersion: text(100).optional(),
    appVersion: text(100).optional(),
    bytesDownloaded: z.number().int().min(0).max(Number.MAX_SAFE_INTEGER).optional(),
    errorCode: text(100).optional(),
    errorMessage: text(1000).optional(),
  })
  .meta({ id: 'ReportedEvent' });
export type ReportedEvent = z.output<typeof reportedEvent>;

export const feedAccess = apiKeyOrStaffWith('updates', 'releases', 'read');

/** The feeds themselves answer YAML, text or JSON of their updaters and are served beside the contract. */
export const updates = {
  report: route({
    method: 'POST',
    path: '/api/v1/updates/events',
    summary: 'Machines report what became of an update, in batches; a repeated event id counts once',
    access: feedAccess,
    body: z.strictObject({ events: z.array(reportedEvent).min(1).max(500) }),
    answer: z.object({ accepted: z.number() }),
  }),
};
