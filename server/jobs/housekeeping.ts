import { clearBudgets } from '../budgets.ts';
import { systemChange, type Change, type ChangeParts } from '../change.ts';
import { clearedAtOnce, type CheckedTime } from '../checked-time.ts';
import type { Context } from '../context.ts';
import { locks, tryLock } from '../db/locks.ts';
import type { RotatedMonths } from '../db/monthly-partitions.ts';
import { endKeyTimesAhead } from '../features/api-keys/index.ts';
import { clearSessions, endSessionsAhead } from '../features/session/index.ts';
import { clearFigures } from '../features/analytics/index.ts';
import {
  clearFirstSeen,
  clearMachineRefusals,
  clearRefusals,
  endMachineTimesAhead,
  endRefusalTimesAhead,
  keepValidations,
} from '../features/validation/index.ts';
import { endRequestsAhead } from '../features/approvals/index.ts';
import { endOwnershipsAhead } from '../features/licenses/index.ts';
import { endFileTimesAhead } from '../features/offline/index.ts';
import { endReleaseTimesAhead } from '../features/releases/index.ts';
import { clearAnswers } from '../http/idempotency.ts';
import { clearFailures } from '../throttle.ts';
import { tryEach } from '../try-each.ts';

/** Each deletes from the tables of its own feature, in parts that are transactions of their own. */
const cleaners = [
  clearAnswers,
  clearFailures,
  clearSessions,
  clearBudgets,
  clearFirstSeen,
  clearRefusals,
  clearMachineRefusals,
  clearFigures,
];

/** Each corrects times of its own feature, in a transaction of its own. */
const correctors = [
  endReleaseTimesAhead,
  endOwnershipsAhead,
  endRequestsAhead,
  endSessionsAhead,
  endKeyTimesAhead,
  endFileTimesAhead,
  endMachineTimesAhead,
  endRefusalTimesAhead,
];

/**
 * Deletes expired data: responses for Idempotency-Key and counters after a day, ended sessions after 30 days, single
 * validations according to VALIDATIONS_KEEP, figures that Today does not compare. Corrects times that a clock ahead has
 * written. Returns the partitions of validations that were created and dropped; undefined if another process is doing a
 * part of this. A part that fails prevents no other.
 */
export async function housekeep(
  context: ChangeParts & Pick<Context, 'config' | 'log'>,
  time: CheckedTime,
): Promise<RotatedMonths | undefined> {
  let isAllDone = true;
  const alone = <T>(
    work: (change: Change) => Promise<T>,
    lock: number = locks.housekeeping,
  ): Promise<T | undefined> =>
    systemChange(context, time.now, async (change) => {
      if (await tryLock(change.tx, lock)) return work(change);
      isAllDone = false;
      return undefined;
    });
  let rotated: RotatedMonths | undefined;
  const clearing = cleaners.map((clear) => async () => {
    while ((await alone((change) => clear(change, time, context.config))) === clearedAtOnce);
  });
  // In a change of its own, so that other work does not extend the time that writers of validations wait; with a lock of
  // its own, or processes in other parts of this work would make each other leave it out.
  const rotating = async () => {
    rotated = await alone(
      (change) => keepValidations(change, time, context.config),
      locks.validationRotation,
    );
  };
  // machines that validate hold the locks of the last
  const correcting = correctors.map((correct) => () => alone((change) => correct(change, time)));
  await tryEach(
    [...clearing, rotating, ...correcting],
    (part) => part(),
    (error) => context.log.error({ err: error }, 'A part of housekeeping failed'),
  );
  return isAllDone ? rotated : undefined;
}
