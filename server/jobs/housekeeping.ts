import type { Context } from '../context.ts';
import type { Db, Tx } from '../db/client.ts';
import { locks, tryLock } from '../db/locks.ts';
import type { CheckedTime } from '../checked-time.ts';
import { keepMonths, type MonthsKept } from './months.ts';

const dayMs = 24 * 3_600_000;

/**
 * Removes answers kept for Idempotency-Key and counters after a day, ended sessions after 30 days, and single
 * validations by the policy (VALIDATIONS_KEEP). Answers what became of the months of validations, undefined where
 * another process is at it.
 */
export async function housekeep(
  { db, config }: Pick<Context, 'db' | 'config'>,
  time: CheckedTime,
): Promise<MonthsKept | undefined> {
  await alone(db, (tx) => clearAway(tx, time.now.getTime(), config.sessionMaxMs));
  // On its own, so that nothing else waits with it for those who write validations.
  return alone(db, (tx) => keepMonths(tx, 'validations', time, config.validationsKeepMs));
}

function alone<T>(db: Db, work: (tx: Tx) => Promise<T>): Promise<T | undefined> {
  return db
    .transaction()
    .execute(async (tx) => ((await tryLock(tx, locks.housekeeping)) ? work(tx) : undefined));
}

async function clearAway(tx: Tx, now: number, sessionMaxMs: number): Promise<void> {
  const dayAgo = new Date(now - dayMs);
  await tx.deleteFrom('idempotency_keys').where('created_at', '<', dayAgo).execute();
  await tx.deleteFrom('login_failures').where('window_start', '<', dayAgo).execute();
  await tx
    .deleteFrom('counted_today')
    .where('day', '<', new Date(now - 3 * dayMs))
    .execute();
  await tx.deleteFrom('budget_hours').where('hour', '<', dayAgo).execute();
  await tx
    .deleteFrom('sessions')
    .where('created_at', '<', new Date(now - sessionMaxMs - 30 * dayMs))
    .execute();
}
