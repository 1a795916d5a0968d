import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { isDatabaseUnreachable } from '../db/client.ts';

const everyMs = 3_600_000;
const dayMs = 24 * 3_600_000;
/** Any fixed number will do; the processes on one database must only agree on it. */
const housekeepingLock = 7_241_160_002;

/** Clears away, once an hour and by one process of many, what has served its time. */
export function startHousekeeping(context: Context): { stop(): void } {
  const run = () =>
    void housekeep(context).catch((error: unknown) => {
      if (!isDatabaseUnreachable(error)) context.log.error({ err: error }, 'Housekeeping failed');
    });
  const timer = setInterval(run, everyMs).unref();
  return { stop: () => clearInterval(timer) };
}

/** Removes answers kept for Idempotency-Key and counters after a day, and ended sessions after 30 days. */
export async function housekeep({ db, clock, config }: Context): Promise<void> {
  const now = clock().getTime();
  const dayAgo = new Date(now - dayMs);
  await db.transaction().execute(async (tx) => {
    const { rows } = await sql<{
      mine: boolean;
    }>`select pg_try_advisory_xact_lock(${housekeepingLock}) as mine`.execute(tx);
    if (!rows[0]!.mine) return;
    await tx.deleteFrom('idempotency_keys').where('created_at', '<', dayAgo).execute();
    await tx.deleteFrom('login_failures').where('window_start', '<', dayAgo).execute();
    await tx
      .deleteFrom('counted_today')
      .where('day', '<', new Date(now - 3 * dayMs))
      .execute();
    await tx.deleteFrom('api_key_hours').where('hour', '<', dayAgo).execute();
    await tx
      .deleteFrom('sessions')
      .where('created_at', '<', new Date(now - config.sessionMaxMs - 30 * dayMs))
      .execute();
  });
}
