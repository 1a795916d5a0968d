import type { ReportedEvent } from '../../../contract/update-events.ts';
import type { Caller } from '../../caller.ts';
import type { Context } from '../../context.ts';
import type { Failure } from '../../failure.ts';
import { withPatch } from '../../with-patch.ts';
import { machineHashOf } from './machine-id.ts';
import type { UpdateEvent } from './update-event.ts';
import type { UpdateRecorder } from './update-recorder.ts';

/**
 * Takes what machines report: all of it, or nothing when a budget of the API key is used up. It is written behind the
 * answer, and what was reported before counts once.
 */
export async function reportEvents(
  { recorder, clock }: Pick<Context, 'clock'> & { recorder: UpdateRecorder },
  by: Caller,
  reported: readonly ReportedEvent[],
): Promise<{ accepted: number } | Failure> {
  const now = clock();
  const updateEvents = reported.map(({ eventId, machineId, eventType, timestamp, ...rest }): UpdateEvent => {
    const said = timestamp === undefined ? now : new Date(timestamp);
    const event: UpdateEvent = {
      ...none,
      eventId,
      reported: true,
      // the clock of a desktop may be wrong, but nothing has happened that is still to come
      at: said > now ? now : said,
      receivedAt: now,
      machineHash: machineHashOf(machineId),
      type: eventType,
    };
    // what was offered is known from our own feeds alone
    return withPatch(event, eventType === 'check' ? { ...rest, releaseId: null } : rest);
  });
  return (await recorder.report(by, updateEvents)) ?? { accepted: reported.length };
}

/** What a report may leave out. */
const none = {
  fromVersion: null,
  toVersion: null,
  releaseId: null,
  platform: null,
  architecture: null,
  channel: null,
  osVersion: null,
  appVersion: null,
  bytesDownloaded: null,
  errorCode: null,
  errorMessage: null,
};
