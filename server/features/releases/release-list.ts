import { sql } from 'kysely';
import { architectures, platforms } from '../../../contract/list-words.ts';
import type { Release, releases as calls } from '../../../contract/releases.ts';
import { byWidth, compareVersions } from '../../../contract/versions.ts';
import type { RouteAnswer, RouteInput } from '../../../contract/route.ts';
import type { Db } from '../../db/client.ts';
import { contains, anyOf } from '../../db/sql.ts';
import type { Failure } from '../../failure.ts';
import { inTrash, notFound } from './release-change.ts';
import { releasesNeedingAttention } from './release-attention.ts';
import { selectReleases, toRelease } from './release-row.ts';

type ListQuery = RouteInput<typeof calls.list>['query'];
type Filter = Omit<ListQuery, 'limit' | 'offset' | 'attention'>;

/** One release that is not in the recycle bin. */
export async function getRelease(db: Db, releaseId: string): Promise<Release | Failure> {
  const row = await selectReleases(db).where('r.release_id', '=', releaseId).executeTakeFirst();
  if (!row) return notFound;
  return row.deleted_at ? inTrash : toRelease(row);
}

/**
 * Releases under a filter, newest version first, then by platform; a page of them or (without `limit`) all. The totals
 * ignore the filter where the spec requires it (part 2, section 2.1).
 */
export async function listReleases(
  db: Db,
  now: Date,
  { limit, offset = 0, attention, ...filter }: ListQuery,
): Promise<RouteAnswer<typeof calls.list>> {
  const only = attention && (await releasesNeedingAttention(db, now))[attention].map((release) => release.id);
  const [found, totals] = await Promise.all([findInOrder(db, filter, only), countAll(db)]);
  const page = found.slice(offset, limit === undefined ? undefined : offset + limit).map((r) => r.release_id);
  const rows = await selectReleases(db).where('r.release_id', '=', anyOf(page)).execute();
  const byId = new Map(rows.map((row) => [row.release_id, toRelease(row)]));
  return {
    data: page.flatMap((id) => byId.get(id) ?? []),
    meta: {
      total: found.length,
      limit: limit ?? null,
      offset,
      ...totals,
      uniqueVersions: new Set(found.map((r) => r.version)).size,
      storageBytes: found.reduce((sum, r) => sum + r.file_size, 0),
    },
  };
}

/** Only the columns for order and totals: SQL cannot sort versions, and notes are long. */
async function findInOrder(db: Db, filter: Filter, only: string[] | undefined) {
  const rows = await filtered(db, filter)
    .$call((q) => (only ? q.where('release_id', '=', anyOf(only)) : q))
    .select(['release_id', 'version', 'platform', 'architecture', 'channel', 'file_size'])
    .orderBy('release_id')
    .execute();
  const versions = [...new Set(rows.map((row) => row.version))].toSorted(
    (a, b) => compareVersions(b, a) || (a < b ? -1 : 1),
  );
  const rank = new Map(versions.map((version, index) => [version, index]));
  return rows.toSorted(
    (a, b) =>
      (rank.get(a.version) ?? 0) - (rank.get(b.version) ?? 0) ||
      platforms.indexOf(a.platform) - platforms.indexOf(b.platform) ||
      architectures.indexOf(a.architecture) - architectures.indexOf(b.architecture) ||
      byWidth(a.channel, b.channel),
  );
}

function filtered(db: Db, { search, platform, channel, architecture, showInactive, paused }: Filter) {
  let query = db.selectFrom('releases').where('deleted_at', 'is', null);
  if (platform) query = query.where('platform', '=', platform);
  if (channel) query = query.where('channel', '=', channel);
  if (architecture) query = query.where('architecture', '=', architecture);
  if (showInactive === false) query = query.where('is_active', '=', true);
  if (paused !== undefined) query = query.where('paused_at', paused ? 'is not' : 'is', null);
  if (search) {
    query = query.where(contains(sql`version || E'\n' || coalesce(release_notes, '')`, search));
  }
  return query;
}

async function countAll(db: Db): Promise<{ totalReleases: number; activeReleases: number }> {
  return db
    .selectFrom('releases')
    .where('deleted_at', 'is', null)
    .select((eb) => [
      eb.fn.countAll<number>().as('totalReleases'),
      eb.fn.countAll<number>().filterWhere('is_active', '=', true).as('activeReleases'),
    ])
    .executeTakeFirstOrThrow();
}
