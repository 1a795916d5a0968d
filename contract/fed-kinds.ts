import type { Platform } from './builds.ts';
import type { Release } from './releases.ts';

// Without schemas, because lists load it: see decision record 67.

/** The file kinds for updaters by platform: others are manual downloads. */
export const fedKinds: Record<Platform, readonly string[]> = {
  win32: ['exe', 'nupkg'],
  darwin: ['zip'],
  linux: ['appimage', 'deb', 'rpm'],
};

/** `nupkg`, the kind of a file as the service names it. */
export const kindOf = (fileName: string): string =>
  fileName.slice(fileName.lastIndexOf('.') + 1).toLowerCase();

/** Why no updater takes a file, in a sentence; undefined if one does. `isStored`: not on another server. */
export function unfedReason(platform: Platform, fileKind: string, isStored: boolean): string | undefined {
  if (!fedKinds[platform].includes(fileKind)) return `No updater of this platform takes a .${fileKind} file.`;
  return fileKind === 'nupkg' && !isStored
    ? 'Squirrel.Windows needs the SHA-1 of a package, which is not known of a file on another server.'
    : undefined;
}

/** The same of a release: only the address of a stored file contains the id. */
export const unfedReasonOf = ({
  id,
  platform,
  fileName,
  fileUrl,
}: Pick<Release, 'id' | 'platform' | 'fileName' | 'fileUrl'>): string | undefined =>
  unfedReason(platform, kindOf(fileName), fileUrl.includes(`/${id}/`));
