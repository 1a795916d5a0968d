import { clearBudgets } from '../budgets.ts';
import { systemChange, type Change, type ChangeParts } from '../change.ts';
import type { CheckedTime } from '../checked-time.ts';
import type { Context } from '../context.ts';
import { locks, tryLock } from '../db/locks.ts';
import type { MonthsKept } from '../db/monthly-partitions.ts';
import { clearFailures, clearSessions } from '../features/session/index.ts';
import { clearFirstSeen, keepValidations } from '../features/validation/index.ts';
import { clearAnswers } from '../http/idempotency.ts';

/** Each clears the tables of its own room. */
const cleaners = [clearAnswers, clearFailures, clearSessions, clearBudgets, clearFirstSeen];

/**
 * Removes what is kept for a while only: answers for Idempotency-Key and counters for a day, ended sessions for 30 days,
 * single validations by the policy (VALIDATIONS_KEEP). Returns what became of the months of validations, undefined where
 * another process is at it.
 */
export async function housekeep(
  context: ChangeParts & Pick<Context, 'config'>,
  time: CheckedTime,
): Promise<MonthsKept | undefined> {
  const alone = <T>(work: (change: Change) => Promise<T>): Promise<T | undefined> =>
    systemChange(context, time.now, async (change) =>
      (await tryLock(change.tx, locks.housekeeping)) ? work(change) : undefined,
    );
  await alone(async (change) => {
    for (const clear of cleaners) await clear(change, time, context.config);
  });
  // on its own, so that nothing else waits with it for those who write validations
  return alone((change) => keepValidations(change, time, context.config));
}
