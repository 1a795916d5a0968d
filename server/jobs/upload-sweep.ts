import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { isDatabaseUnreachable } from '../db/client.ts';
import { cancelAbandoned, removeOrphans } from '../features/uploads/uploads.ts';

const everyMs = 3_600_000;
/** Any fixed number will do; the processes on one database must only agree on it. */
const sweepLock = 7_241_160_004;

/** Clears away abandoned uploads and orphaned objects: at the start, then once an hour. */
export function startUploadSweep(context: Context): { stop(): void } {
  const run = () =>
    void sweepUploads(context).catch((error: unknown) => {
      if (!isDatabaseUnreachable(error)) context.log.error({ err: error }, 'The sweep of uploads failed');
    });
  run();
  const timer = setInterval(run, everyMs).unref();
  return { stop: () => clearInterval(timer) };
}

export type Swept = { cancelled: number; removed: number };

/** One sweep; undefined while another process is at it. A storage may be long to list, so no transaction is held. */
export function sweepUploads(context: Context): Promise<Swept | undefined> {
  return context.db.connection().execute(async (db) => {
    const { rows } = await sql<{ mine: boolean }>`select pg_try_advisory_lock(${sweepLock}) as mine`.execute(
      db,
    );
    if (!rows[0]!.mine) return undefined;
    try {
      const cancelled = await cancelAbandoned(context);
      return { cancelled, removed: await removeOrphans(context) };
    } finally {
      await sql`select pg_advisory_unlock(${sweepLock})`.execute(db);
    }
  });
}
