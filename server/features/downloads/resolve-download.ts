import { channels } from '../../../contract/versions.ts';
import type { Actor } from '../../caller.ts';
import type { Db } from '../../db/client.ts';
import { selectReleases, toLiveRelease, type LiveRelease } from '../releases/index.ts';
import { kindOf } from '../../binaries/file-kind.ts';
import type { StoredFile } from './stored-file.ts';
import { present } from '../../invariants.ts';

export type FilePath = { releaseId: string; version: string; fileName: string };

export type ResolvedFile = {
  /** Whose file it is; `isBlockmap` when it is only the map of it. */
  release: { id: string; version: string };
  isBlockmap: boolean;
} & (
  | { externalUrl: string }
  | {
      key: string;
      name: string;
      /** Bytes; the size of a block map only the storage knows. */
      size: number | undefined;
      etag: string;
      modifiedAt: string;
      isPublished: boolean;
      /** What the bytes are checked by, those of a block map too. */
      stored: StoredFile;
    }
);

const blockmapEnding = /\.blockmap$/;

/**
 * The file of an address: that of the release whose id stands there, whatever else is out under its version and its
 * name. Another version beside that id is the address that an updater made up for the block map of what it runs; then
 * the release says only of which line. Drafts and what lies in the bin are for staff alone. So is the program of a
 * release that was withdrawn or is paused: a machine that was told of it before must not fetch it now. Its block map
 * stays, from which those that run it find their way off.
 */
export async function resolveDownload(
  db: Db,
  live: readonly LiveRelease[],
  actor: Actor,
  { releaseId, version, fileName }: FilePath,
): Promise<ResolvedFile | undefined> {
  const isStaff = actor.kind === 'staff';
  const named = live.find((r) => r.id === releaseId) ?? (isStaff ? await binned(db, releaseId) : undefined);
  const wantsBlockmap = blockmapEnding.test(fileName);
  if (!named || named.fileKind !== kindOf(fileName.replace(blockmapEnding, ''))) return undefined;
  const found =
    // Squirrel.Windows repeats a request that failed in lower case
    named.version.toLowerCase() === version.toLowerCase()
      ? named
      : wantsBlockmap
        ? findVersion(live, named, version)
        : undefined;
  return found && (isStaff || isForMachines(found, wantsBlockmap)) ? toFile(found, wantsBlockmap) : undefined;
}

/**
 * Another version in the line of a release. Which of several channels the updater had it from, nobody knows; with the
 * wrong block map it notices by the hash, and fetches the whole file.
 */
function findVersion(
  live: readonly LiveRelease[],
  of: LiveRelease,
  version: string,
): LiveRelease | undefined {
  const rank = (r: LiveRelease) =>
    (r.isDraft ? 20 : 0) + (r.channel === of.channel ? 0 : 1 + channels.indexOf(r.channel));
  return live
    .filter(
      (r) =>
        r.version === version &&
        r.platform === of.platform &&
        r.architecture === of.architecture &&
        r.fileKind === of.fileKind,
    )
    .toSorted((a, b) => rank(a) - rank(b))[0];
}

const isForMachines = ({ isDraft, isActive, pausedAt }: LiveRelease, isBlockmap: boolean): boolean =>
  !isDraft && (isBlockmap || (isActive && pausedAt === null));

function toFile(release: LiveRelease, isBlockmap: boolean): ResolvedFile | undefined {
  const { id, version, externalUrl, blockmapKey, sha512, fileName, fileSize } = release;
  const of = { release: { id, version }, isBlockmap };
  if (externalUrl) return isBlockmap ? undefined : { ...of, externalUrl };
  const key = present(release.storageKey, 'a release without an external URL has a file');
  const { storageStamp: stamp, damagedAt } = release;
  const stored = { releaseId: id, key, blockmapKey, sha512, stamp, isDamaged: damagedAt !== null };
  const about = {
    ...of,
    stored,
    modifiedAt: release.createdAt,
    isPublished: !release.isDraft && !release.deletedAt,
  };
  if (!isBlockmap) return { key, name: fileName, size: fileSize, etag: sha512, ...about };
  if (!blockmapKey) return undefined;
  const name = `${fileName}.blockmap`;
  return { key: blockmapKey, name, size: undefined, etag: `${sha512}.blockmap`, ...about };
}

async function binned(db: Db, releaseId: string): Promise<LiveRelease | undefined> {
  const row = await selectReleases(db)
    .where('r.release_id', '=', releaseId)
    .where('r.deleted_at', 'is not', null)
    .executeTakeFirst();
  return row && toLiveRelease(row);
}
