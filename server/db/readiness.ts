import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from '../context.ts';

/** The deadline of a query that normally takes a millisecond; times the limit factor. */
const deadlineMs = 1500;

/** Whether the database responds on both the reserved and the everyday connections. */
export async function isDatabaseResponding({
  signals,
  pool,
  reserved,
  log,
  config,
}: Pick<Context, 'signals' | 'pool' | 'reserved' | 'log' | 'config'>): Promise<boolean> {
  const withinMs = deadlineMs * config.databaseLimitFactor;
  if (!signals.isUp() || pool.isStuck()) return false;
  // A pool with waiting calls that make progress needs no extra query.
  const asked = pool.waitingCount > 0 ? [reserved.pool] : [pool, reserved.pool];
  const answers = () => Promise.all(asked.map((one) => one.query('select role_id from roles limit 1')));
  const silence = async () => {
    await sleep(withinMs, undefined, { ref: false });
    throw new Error(`No answer within ${withinMs} ms`);
  };
  try {
    await signals.untilDown(() => Promise.race([answers(), silence()]));
    return true;
  } catch (error) {
    log.warn({ err: error }, 'The database does not respond as expected');
    return false;
  }
}
