import type { Context } from '../context.ts';
import { locks, tryLock } from '../db/locks.ts';

const dayMs = 24 * 3_600_000;

/** Removes answers kept for Idempotency-Key and counters after a day, and ended sessions after 30 days. */
export async function housekeep({ db, clock, config }: Context): Promise<void> {
  const now = clock().getTime();
  const dayAgo = new Date(now - dayMs);
  await db.transaction().execute(async (tx) => {
    if (!(await tryLock(tx, locks.housekeeping))) return;
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
