import { sql } from 'kysely';
import { systemChange, type ChangeParts } from '../../change.ts';
import type { Context } from '../../context.ts';
import type { Db } from '../../db/client.ts';
import { pauseRollout } from '../releases/index.ts';

type Installs = { releaseId: string; percent: number; minimum: number; installs: number; failed: number };

/**
 * Pauses the rollout of each of these releases whose failure threshold is exceeded, counting the last outcome of each
 * machine since failures were last reset. A report counts only if the service itself offered the machine the release
 * and sent it the file: reports alone can be forged. Once such a machine has proven itself, only machines that did count.
 */
export async function pauseFailing(
  context: ChangeParts & Pick<Context, 'clock'>,
  releaseIds: readonly string[],
): Promise<void> {
  for (const { releaseId } of await beyondThreshold(context.db, releaseIds)) {
    await systemChange(context, context.clock(), async (change) => {
      const { tx } = change;
      // The lock prevents a concurrent resume, so the numbers belong to this rollout.
      await tx
        .selectFrom('releases')
        .select('release_id')
        .where('release_id', '=', releaseId)
        .forUpdate()
        .execute();
      const [still] = await beyondThreshold(tx, [releaseId]);
      if (still) await pauseRollout(change, releaseId, reasonOf(still));
    });
  }
}

function reasonOf({ installs, failed, percent, minimum }: Installs): string {
  const share = ((failed / installs) * 100).toFixed(1);
  return `${failed} of ${installs} installs failed (${share} %): more than ${percent} % of at least ${minimum}.`;
}

async function beyondThreshold(db: Db, releaseIds: readonly string[]): Promise<Installs[]> {
  const { rows } = await sql<Installs>`
    select r.release_id as "releaseId", r.failure_percent as percent, r.failure_min_installs as minimum,
           count(*) as installs, count(*) filter (where d.install_failed) as failed
      from releases r
      join downloads d on d.release_id = r.release_id and d.installed_at >= r.failures_from
                      and d.offered_at is not null and d.fetched_at is not null
                      and (d.proven or not exists (
                            select from downloads p
                             where p.release_id = r.release_id and p.proven
                               and p.offered_at is not null and p.fetched_at is not null))
     where r.release_id = any(${[...releaseIds].toSorted()}::uuid[])
       and r.failure_percent is not null and r.paused_at is null and r.deleted_at is null
       and r.is_active and not r.is_draft
     group by r.release_id
    having count(*) >= r.failure_min_installs
       and count(*) filter (where d.install_failed) * 100.0 / count(*) > r.failure_percent
     order by r.release_id`.execute(db);
  return rows;
}
