import { sql } from 'kysely';
import { locks } from '../db/locks.ts';
import { cancelAbandoned, removeOrphans } from '../features/uploads/uploads.ts';
import type { CheckedTime } from '../checked-time.ts';
import type { JobContext } from './jobs.ts';

export type Swept = { cancelled: number; removed: number };

/**
 * Clears away abandoned uploads and orphaned objects; undefined while another process is at it. A storage may be long
 * to list, so no transaction is held.
 */
export function sweepUploads(context: JobContext, time: CheckedTime): Promise<Swept | undefined> {
  return context.db.connection().execute(async (db) => {
    const { rows } = await sql<{
      mine: boolean;
    }>`select pg_try_advisory_lock(${locks.uploadSweep}) as mine`.execute(db);
    if (!rows[0]!.mine) return undefined;
    try {
      const cancelled = await cancelAbandoned(context, time);
      return { cancelled, removed: await removeOrphans(context, time) };
    } finally {
      await sql`select pg_advisory_unlock(${locks.uploadSweep})`.execute(db);
    }
  });
}
