import { channels, type Architecture, type Platform } from '../../../contract/releases.ts';
import type { Actor } from '../../caller.ts';
import type { Db } from '../../db/client.ts';
import type { LiveRelease } from '../releases/releases.ts';
import { kindOf } from './file-kind.ts';

export type FilePath = {
  platform: Platform;
  architecture: Architecture;
  version: string;
  fileName: string;
};

export type FoundFile =
  | { externalUrl: string }
  | {
      key: string;
      name: string;
      /** Bytes; the size of a block map only the storage knows. */
      size: number | undefined;
      etag: string;
      modifiedAt: string;
      isPublished: boolean;
    };

type Candidate = Pick<
  LiveRelease,
  | 'channel'
  | 'platform'
  | 'architecture'
  | 'version'
  | 'fileName'
  | 'fileKind'
  | 'fileSize'
  | 'sha512'
  | 'storageKey'
  | 'externalUrl'
  | 'blockmapKey'
  | 'createdAt'
  | 'isDraft'
  | 'isActive'
>;

const blockmapEnding = /\.blockmap$/;

/**
 * The file of an address. The kind of file is enough beside platform, architecture and version, for an updater makes
 * the address of an old block map from that of the new one. Drafts and what lies in the bin are for staff alone.
 */
export async function findFile(
  db: Db,
  live: readonly LiveRelease[],
  actor: Actor,
  path: FilePath,
): Promise<FoundFile | undefined> {
  const wantsBlockmap = blockmapEnding.test(path.fileName);
  const fileName = path.fileName.replace(blockmapEnding, '');
  const kind = kindOf(fileName);
  const isWanted = (r: Candidate) =>
    r.platform === path.platform &&
    r.architecture === path.architecture &&
    r.version === path.version &&
    r.fileKind === kind;
  const isStaff = actor.kind === 'staff';
  const found: Candidate[] = live.filter((r) => isWanted(r) && (isStaff || !r.isDraft));
  if (found.length === 0 && isStaff) found.push(...(await binned(db, path)).filter(isWanted));
  const [best] = found.toSorted((a, b) => rank(a, fileName) - rank(b, fileName));
  return best && toFile(best, wantsBlockmap);
}

/** One version may be out on several channels: what has the very name, then what the feeds offer first. */
const rank = (r: Candidate, fileName: string) =>
  (r.fileName === fileName ? 0 : 100) +
  (r.isDraft ? 20 : 0) +
  (r.isActive ? 0 : 10) +
  channels.indexOf(r.channel);

function toFile(release: Candidate, wantsBlockmap: boolean): FoundFile | undefined {
  const { storageKey, externalUrl, blockmapKey, sha512, fileName, fileSize } = release;
  const about = { modifiedAt: release.createdAt, isPublished: !release.isDraft };
  if (wantsBlockmap) {
    return blockmapKey
      ? {
          key: blockmapKey,
          name: `${fileName}.blockmap`,
          size: undefined,
          etag: `${sha512}.blockmap`,
          ...about,
        }
      : undefined;
  }
  if (externalUrl) return { externalUrl };
  return { key: storageKey!, name: fileName, size: fileSize, etag: sha512, ...about };
}

async function binned(db: Db, { platform, architecture, version }: FilePath): Promise<Candidate[]> {
  const rows = await db
    .selectFrom('releases')
    .selectAll()
    .where('platform', '=', platform)
    .where('architecture', '=', architecture)
    .where('version', '=', version)
    .where('deleted_at', 'is not', null)
    .orderBy('deleted_at', 'desc')
    .execute();
  return rows.map((row) => ({
    channel: row.channel,
    platform: row.platform,
    architecture: row.architecture,
    version: row.version,
    fileName: row.file_name,
    fileKind: row.file_kind,
    fileSize: row.file_size,
    sha512: row.sha512,
    storageKey: row.storage_key,
    externalUrl: row.external_url,
    blockmapKey: row.blockmap_key,
    createdAt: row.created_at.toISOString(),
    isDraft: true,
    isActive: false,
  }));
}
