import type { ReportedEvent } from '../../../contract/update-events.ts';
import type { Caller } from '../../caller.ts';
import type { Context } from '../../context.ts';
import { failField, type Failure } from '../../failure.ts';
import { present } from '../../invariants.ts';
import { withPatch } from '../../with-patch.ts';
import { machineHashOf } from '../../machine-hash.ts';
import { unknownFields, type UpdateEvent } from './update-event.ts';
import type { UpdateRecorder } from './update-recorder.ts';

/**
 * Accepts reports of machines: all, or none when a budget of the API key is used up. They are written after the
 * response, and repeated ones count once.
 */
export async function reportEvents(
  { recorder, clock }: Pick<Context, 'clock'> & { recorder: UpdateRecorder },
  by: Caller,
  reported: readonly ReportedEvent[],
): Promise<{ accepted: number } | Failure> {
  const now = clock();
  const own = by.actor.kind === 'machine' ? by.actor : undefined;
  const unnamed = reported.findIndex((event) => own === undefined && event.machineId === undefined);
  if (unnamed >= 0)
    return failField('INVALID_INPUT', `events.${unnamed}.machineId`, 'Machine ID is required');
  const updateEvents = reported.map(({ eventId, machineId, eventType, timestamp, ...rest }): UpdateEvent => {
    const reportedAt = timestamp === undefined ? now : new Date(timestamp);
    const event: UpdateEvent = {
      ...unknownFields,
      eventId,
      reported: true,
      // the clock of a desktop may be wrong, but an event is never in the future
      at: reportedAt > now ? now : reportedAt,
      receivedAt: now,
      machineHash: own?.machineHash ?? machineHashOf(present(machineId, 'checked above')),
      proven: own !== undefined,
      type: eventType,
    };
    // only our own feeds determine offers
    return withPatch(event, eventType === 'check' ? { ...rest, releaseId: null } : rest);
  });
  return (await recorder.report(by, updateEvents)) ?? { accepted: reported.length };
}
