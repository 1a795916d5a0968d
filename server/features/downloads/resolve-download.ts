import { reportedAs } from '../../../contract/versions.ts';
import { channels } from '../../../contract/list-words.ts';
import { isOffered } from '../../../contract/release-state.ts';
import type { Actor } from '../../caller.ts';
import { isSameLine, type LiveRelease, type Releases } from '../releases/index.ts';
import { kindOf } from '../../../contract/file-content.ts';
import type { StoredFile } from './stored-file.ts';
import { present } from '../../invariants.ts';

export type FilePath = { releaseId: string; version: string; fileName: string };

export type ResolvedFile = {
  /** The release of the file; `isBlockmap` for its block map. */
  release: { id: string; version: string };
  isBlockmap: boolean;
} & (
  | { externalUrl: string }
  | {
      key: string;
      name: string;
      /** Bytes; undefined for a block map, whose size only the storage knows. */
      size: number | undefined;
      etag: string;
      modifiedAt: string;
      isPublished: boolean;
      /** The hash data of the file, also used to check its block map. */
      stored: StoredFile;
    }
);

const blockmapEnding = /\.blockmap$/;

/**
 * Finds the file of a URL, by the release id. A different version next to that id is a URL that an updater derived for
 * the block map of its current version; then the id only determines the release line. Drafts and deleted releases are
 * available to staff only, as are the programs of withdrawn or paused releases: a machine that was offered one earlier
 * must not download it now. Their block maps remain available, since machines that run them need them to update.
 */
export function resolveDownload(
  { live, trashed }: Releases,
  actor: Actor,
  { releaseId, version, fileName }: FilePath,
): ResolvedFile | undefined {
  const isStaff = actor.kind === 'staff';
  const named = [...live, ...(isStaff ? trashed : [])].find((r) => r.id === releaseId);
  const wantsBlockmap = blockmapEnding.test(fileName);
  if (!named || named.fileKind !== kindOf(fileName.replace(blockmapEnding, ''))) return undefined;
  const found =
    // Squirrel.Windows retries failed requests in lower case.
    named.version.toLowerCase() === version.toLowerCase()
      ? named
      : wantsBlockmap
        ? findVersion(live, named, version)
        : undefined;
  return found && (isStaff || isForMachines(found, wantsBlockmap)) ? toFile(found, wantsBlockmap) : undefined;
}

/**
 * Another version in the line of a release. The updater's channel is unknown; with the wrong block map, its hash check
 * fails and it downloads the whole file.
 */
function findVersion(
  live: readonly LiveRelease[],
  of: LiveRelease,
  version: string,
): LiveRelease | undefined {
  const rank = (r: LiveRelease) =>
    (r.version === version ? 0 : 20) +
    (r.isDraft ? 40 : 0) +
    (r.channel === of.channel ? 0 : 1 + channels.indexOf(r.channel));
  return live
    .filter((r) => reportedAs(r.version).includes(version) && isSameLine(r, of))
    .toSorted((a, b) => rank(a) - rank(b))[0];
}

const isForMachines = (release: LiveRelease, isBlockmap: boolean): boolean =>
  isBlockmap ? !release.isDraft : isOffered(release);

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
