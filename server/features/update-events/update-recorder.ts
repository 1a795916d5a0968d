import { v7 as uuidv7 } from 'uuid';
import type { Budgets } from '../../budgets.ts';
import { nobody, type Caller } from '../../caller.ts';
import type { ChangeParts } from '../../change.ts';
import type { Context } from '../../context.ts';
import type { WriteBehind } from '../../db/write-behind.ts';
import type { Failure } from '../../failure.ts';
import { pauseFailing } from './failure-guard.ts';
import { unknownFields, type Observation, type Recorded, type UpdateEvent } from './update-event.ts';
import { createUpdateLimits } from './limits.ts';
import { writeEvents } from './write-events.ts';

export type UpdateRecorder = ReturnType<typeof createUpdateRecorder>;

/**
 * Records update events in batches after the responses: a feed never waits for it, and a crash loses no event older
 * than a second. Pauses rollouts for which the guard finds a reason.
 */
export function createUpdateRecorder(
  context: ChangeParts & Pick<Context, 'clock' | 'log' | 'config'>,
  budgets: Budgets,
  behind: WriteBehind,
) {
  const { clock } = context;
  const limits = createUpdateLimits(context, budgets);
  const writer = behind.queue<Recorded>('update-events', async (recorded, once) => {
    const rows = await limits.withinBudget(recorded);
    const failed = await once((tx) => writeEvents(tx, rows, clock()));
    if (!failed) return;
    // The events are already written, so a database that is gone must not cause a second write: the watch counts again.
    await pauseFailing(context, failed).catch(() => undefined);
  });

  /** Records may be kept in a file, so they exclude the license key of a machine. */
  const add = (by: Caller, event: UpdateEvent) =>
    writer.add({ by: by.actor.kind === 'machine' ? { ...by, actor: nobody } : by, happening: event });

  return {
    /**
     * Records what the service observed just now, except of a machine beyond the budget of its API key. Staff who look at
     * a feed or fetch a file are no machine: what they name would become its version.
     */
    observe(by: Caller, observation: Observation): void {
      if (by.actor.kind === 'staff') return;
      const now = clock();
      const proven = by.actor.kind === 'machine';
      const event = { eventId: uuidv7(), reported: false, proven, at: now, receivedAt: now };
      add(by, { ...unknownFields, ...event, ...observation });
    },

    /** Records reports: all, or none and a Failure when a budget of the API key is used up. */
    async report(by: Caller, events: readonly UpdateEvent[]): Promise<Failure | undefined> {
      const refused = await limits.take(by, events);
      if (refused) return refused;
      for (const event of events) add(by, event);
      return undefined;
    },

    flush: () => writer.flush(),
    isBehind: () => writer.isBehind(),
  };
}
