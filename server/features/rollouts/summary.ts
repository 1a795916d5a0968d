import { sql } from 'kysely';
import { anyOf } from '../../db/sql.ts';
import type { RolloutSummary } from '../../../contract/rollouts.ts';
import type { Db } from '../../db/client.ts';
import { selectReleases, toRelease } from '../releases/index.ts';
import { hiddenIn, reachedIn, type Census } from './census.ts';

/**
 * For each of these releases: machines that run it, of those that could, those kept from it by a policy, and those whose
 * install failed.
 */
export async function rolloutSummaries(
  db: Db,
  census: Census,
  ids: readonly string[],
  now: Date,
): Promise<RolloutSummary[]> {
  const [rows, failures] = await Promise.all([
    selectReleases(db).where('r.release_id', '=', anyOf(ids)).where('r.deleted_at', 'is', null).execute(),
    failuresOf(db, ids),
  ]);
  return Promise.all(
    rows.map(async (row) => ({
      releaseId: row.release_id,
      hiddenBy: await hiddenIn(census, row.release_id),
      ...(await reachedIn(census, toRelease(row), now)),
      failed: failures.get(row.release_id) ?? 0,
    })),
  );
}

async function failuresOf(db: Db, ids: readonly string[]): Promise<Map<string, number>> {
  const { rows } = await sql<{ releaseId: string; failed: number }>`
    select release_id as "releaseId", count(*) as failed from downloads
     where install_failed and release_id = any(${[...ids]}::uuid[]) group by release_id`.execute(db);
  return new Map(rows.map(({ releaseId, failed }) => [releaseId, failed]));
}
