import { sql, type RawBuilder } from 'kysely';
import { compareVersions, reaches } from '../../../contract/versions.ts';
import { channels } from '../../../contract/list-words.ts';
import type { Db } from '../../db/client.ts';
import { onlyRow } from '../../invariants.ts';
import { inFeed, type ReleaseRow } from '../releases/index.ts';
import type { Previous } from './guard.ts';

type Installs = {
  installs: number;
  failed: number;
  everFailed: number;
  provenOnly: boolean;
  claimed: { installs: number; failed: number };
};

/** The table `known`: whether a machine that was offered a release and fetched it has proven itself. */
export const provenKnown = (releaseId: string): RawBuilder<unknown> => sql`
  known as materialized (
    select exists (select from downloads
                    where release_id = ${releaseId} and proven
                      and offered_at is not null and fetched_at is not null) as proven)`;

/**
 * The last outcome of each machine that installed a release since `from`. A report counts only if the service itself
 * offered the machine the release and sent it the file: reports alone can be forged. Once such a machine has proven
 * itself, only machines that did count; `claimed` are the others then.
 */
export async function countInstalls(db: Db, releaseId: string, from: Date): Promise<Installs> {
  return onlyRow(
    await sql<Installs>`
      with ${provenKnown(releaseId)}
      select count(d.release_id) filter (where d.proven or not k.proven) as installs,
             count(*) filter (where d.install_failed and (d.proven or not k.proven)) as failed,
             count(*) filter (where (d.install_failed or d.ever_failed) and (d.proven or not k.proven)) as "everFailed",
             k.proven as "provenOnly",
             json_build_object(
               'installs', count(*) filter (where k.proven and not d.proven),
               'failed', count(*) filter (where k.proven and not d.proven and d.install_failed)) as claimed
        from known k
        left join downloads d
          on d.release_id = ${releaseId} and d.installed_at >= ${from}
         and d.offered_at is not null and d.fetched_at is not null
       group by k.proven`.execute(db),
  );
}

type Build = Pick<ReleaseRow, 'version' | 'channel' | 'platform' | 'architecture' | 'file_kind'>;

/**
 * The newest older release of the same platform, architecture and kind of file that all machines of the channel are
 * offered, with its installs since it was published; null without one. One that was paused is no measure for its fix.
 */
export async function previousRelease(db: Db, release: Build): Promise<Previous | null> {
  const { platform, architecture, file_kind } = release;
  const offered = { ...inFeed, paused_at: null, damaged_at: null, rollout_percentage: 100 };
  const wider = channels.filter((channel) => reaches(channel, release.channel));
  const rows = await db
    .selectFrom('releases')
    .select(['release_id', 'version', 'release_date'])
    .where((eb) => eb.and({ ...offered, platform, architecture, file_kind }))
    .where('channel', 'in', wider)
    // no machine is offered such a package (`lacksSha1`)
    .where((eb) => eb.or([eb('file_kind', '<>', 'nupkg'), eb('sha1', 'is not', null)]))
    .execute();
  const [previous] = rows
    .filter(({ version }) => compareVersions(version, release.version) < 0)
    .toSorted((a, b) => compareVersions(b.version, a.version));
  if (!previous) return null;
  const { installs, everFailed } = await countInstalls(db, previous.release_id, previous.release_date);
  return { version: previous.version, installs, failed: everFailed };
}
