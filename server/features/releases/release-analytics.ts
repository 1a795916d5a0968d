import { sql } from 'kysely';
import { dayMs, utcDay } from '../../../contract/durations.ts';
import type { ReleaseAnalytics } from '../../../contract/releases.ts';
import { compareVersions } from '../../../contract/versions.ts';
import type { Db } from '../../db/client.ts';
import { createCountCache } from '../../db/count-cache.ts';
import { heardOf } from '../../db/sql.ts';

/** The window of spec part 2, section 9: the current UTC day and those before it. */
const windowDays = 30;
const shownMachines = 10;

/**
 * Update checks by UTC day, downloads by release (newest version first), and the machines last active. In a large fleet,
 * the number of proven machines is up to a minute old.
 */
export function createReleaseAnalytics(db: Db) {
  const kept = createCountCache<Seen>(1, ({ all }) => all);
  return async (now: Date): Promise<ReleaseAnalytics> => {
    const today = Date.parse(utcDay(now));
    const from = new Date(today - (windowDays - 1) * dayMs);
    const [seen, updateTrends, releaseStats, machineActivity] = await Promise.all([
      kept(from.toISOString(), () => machinesSeen(db, from)),
      checksByDay(db, now),
      downloadsByRelease(db),
      lastActiveMachines(db),
    ]);
    return { provenMachines: seen.proven, updateTrends, releaseStats, machineActivity };
  };
}

type Seen = { all: number; proven: number };

/** Of machines whose last request was since then, the proven ones that ever asked a feed. Reads all: 0.2 s for a million. */
async function machinesSeen(db: Db, from: Date): Promise<Seen> {
  return db
    .selectFrom('machines')
    .select(({ fn }) => [
      fn.countAll<number>().as('all'),
      // the record of a machine that only validates begins with its first validation
      fn.count<number>('proven_at').filterWhere('total_checks', '>', 0).as('proven'),
    ])
    .where('last_seen', '>=', from)
    .executeTakeFirstOrThrow();
}

/** One point per day, including days without a check. */
async function checksByDay(db: Db, now: Date): Promise<ReleaseAnalytics['updateTrends']> {
  const today = utcDay(now);
  const { rows } = await sql<ReleaseAnalytics['updateTrends'][number]>`
    select to_char(day, 'YYYY-MM-DD') as date,
           coalesce(total_checks, 0) as "totalChecks",
           coalesce(unique_machines, 0) as "uniqueMachines"
      from generate_series(${today}::date - ${windowDays - 1}::int, ${today}::date, interval '1 day') as days (at)
     cross join lateral (select at::date as day) as d
      left join update_days using (day)
     order by day`.execute(db);
  return rows;
}

async function downloadsByRelease(db: Db): Promise<ReleaseAnalytics['releaseStats']> {
  const rows = await db
    .selectFrom('releases as r')
    .leftJoin('release_totals as t', 't.release_id', 'r.release_id')
    .where('r.deleted_at', 'is', null)
    .select(['r.release_id as id', 'r.version', 'r.channel', 'r.platform', 'r.architecture'])
    .select([
      'r.file_kind as fileKind',
      sql<number>`coalesce(t.downloads, 0)`.as('totalDownloads'),
      sql<number>`coalesce(t.completed_downloads, 0)`.as('completedDownloads'),
      sql<number>`coalesce(t.failed_downloads, 0)`.as('failedDownloads'),
      sql<number>`coalesce(t.unique_downloads, 0)`.as('uniqueDownloads'),
      sql<number>`coalesce(t.proven_downloads, 0)`.as('provenDownloads'),
    ])
    .orderBy('r.release_date', 'desc')
    .orderBy('r.release_id')
    .execute();
  return rows.toSorted((a, b) => compareVersions(b.version, a.version));
}

async function lastActiveMachines(db: Db): Promise<ReleaseAnalytics['machineActivity']> {
  const rows = await db
    .selectFrom('machines as m')
    .select(['display_id', 'platform', 'architecture', 'last_version', 'proven_at', 'total_events'])
    .select(heardOf.as('last_seen'))
    // machines that only validate have a record as well
    .where('total_events', '>', 0)
    .orderBy(heardOf, 'desc')
    .limit(shownMachines)
    .execute();
  return rows.map((row) => ({
    displayId: row.display_id,
    platform: row.platform,
    architecture: row.architecture,
    lastVersion: row.last_version,
    lastSeen: row.last_seen.toISOString(),
    provenAt: row.proven_at?.toISOString() ?? null,
    totalEvents: row.total_events,
  }));
}
