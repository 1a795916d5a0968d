import type { Budgets } from '../../budgets.ts';
import type { Caller } from '../../caller.ts';
import type { Context } from '../../context.ts';
import type { WriteBehind } from '../../db/write-behind.ts';
import { isDatabaseUnreachable } from '../../db/client.ts';
import type { Failure } from '../../failure.ts';
import { pauseFailing } from './failure-guard.ts';
import type { Happening, Recorded } from './happening.ts';
import { createUpdateLimits } from './limits.ts';
import { writeEvents } from './write-events.ts';

export type UpdateRecorder = ReturnType<typeof createUpdateRecorder>;

/**
 * Records what happens to updates, in batches behind the answers: a feed never waits for it, and a stop loses
 * nothing that was answered more than a second before. A rollout whose installs fail too often is paused here.
 */
export function createUpdateRecorder(
  context: Pick<Context, 'db' | 'signals' | 'clock' | 'log' | 'config'>,
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
    add: (by: Caller, happening: Happening) => writer.add({ by, happening }),

    /** What machines report: all of it, or nothing and the Failure when a budget of the API key is used up. */
    async report(by: Caller, happenings: readonly Happening[]): Promise<Failure | undefined> {
      const refused = await limits.take(by, happenings);
      if (refused) return refused;
      for (const happening of happenings) writer.add({ by, happening });
      return undefined;
    },

    flush: () => writer.flush(),
  };
}
