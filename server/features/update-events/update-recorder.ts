import type { Budgets } from '../../budgets.ts';
import type { Caller } from '../../caller.ts';
import type { ChangeParts } from '../../change.ts';
import type { Context } from '../../context.ts';
import type { WriteBehind } from '../../db/write-behind.ts';
import { isDatabaseUnreachable } from '../../db/client.ts';
import type { Failure } from '../../failure.ts';
import { pauseFailing } from './failure-guard.ts';
import type { UpdateEvent, Recorded } from './update-event.ts';
import { createUpdateLimits } from './limits.ts';
import { writeEvents } from './write-events.ts';

export type UpdateRecorder = ReturnType<typeof createUpdateRecorder>;

/**
 * Records what happens to updates, in batches behind the answers: a feed never waits for it, and a stop loses
 * nothing that was answered more than a second before. A rollout whose installs fail too often is paused here.
 */
export function createUpdateRecorder(
  context: ChangeParts & Pick<Context, 'clock' | 'log' | 'config'>,
  budgets: Budgets,
  behind: WriteBehind,
) {
  const { clock, log } = context;
  const limits = createUpdateLimits(context, budgets);
  const writer = behind.queue<Recorded>('update-events', async (recorded, once) => {
    const rows = await limits.withoutUnpaid(recorded);
    const failed = await once((tx) => writeEvents(tx, rows, clock()));
    if (!failed) return;
    // The events are written: a failure from here on must not have them written again.
    await pauseFailing(context, failed).catch((error: unknown) => {
      if (!isDatabaseUnreachable(error)) log.error({ err: error }, 'Failing rollouts could not be checked');
    });
  });

  return {
    /** What the service itself saw. A machine beyond the budget of its API key is not recorded. */
    add: (by: Caller, event: UpdateEvent) => writer.add({ by, happening: event }),

    /** What machines report: all of it, or nothing and the Failure when a budget of the API key is used up. */
    async report(by: Caller, events: readonly UpdateEvent[]): Promise<Failure | undefined> {
      const refused = await limits.take(by, events);
      if (refused) return refused;
      for (const event of events) writer.add({ by, happening: event });
      return undefined;
    },

    flush: () => writer.flush(),
  };
}
