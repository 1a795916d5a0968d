import type { Architecture, Platform } from '../../../contract/builds.ts';
import { acceptedExtensions } from '../../../contract/file-names.ts';
import { isVersion } from '../../../contract/versions.ts';

/** What a file name says about a build (spec part 2, section 2.2). Case-insensitive. */

export const isAccepted = (fileName: string): boolean => extensionOf(fileName) !== undefined;

export const platformOf = (fileName: string): Platform => {
  const extension = extensionOf(fileName);
  return extension === '.dmg' || extension === '.zip' ? 'darwin' : 'win32';
};

export function architectureOf(fileName: string): Architecture {
  const name = fileName.toLowerCase();
  const has = (mark: string) => name.includes(mark);
  if (has('arm64') || has('aarch64')) return 'arm64';
  if (has('ia32') || has('i386') || (has('x86') && !has('x86_64'))) return 'ia32';
  return 'x64';
}

const extensionOf = (fileName: string) =>
  acceptedExtensions.find((extension) => fileName.toLowerCase().endsWith(extension));

const versionForm =
  /(?:^|[^a-z0-9]|(?<![a-z])v)(\d+\.\d+\.\d+(?:-(?:alpha|beta|rc|pre|preview|dev|next|canary|nightly)(?:[.-]?\d+)*)?)/i;

/**
 * The version in a file name, or undefined. Squirrel.Windows writes prereleases without the dot of their version:
 * `App-1.2.0-beta3-full.nupkg` is 1.2.0-beta.3.
 */
export function versionOf(fileName: string): string | undefined {
  const found = versionForm.exec(fileName)?.[1];
  if (found === undefined || !isVersion(found)) return undefined;
  return extensionOf(fileName) === '.nupkg' ? found.replace(/([a-z])(\d+)$/i, '$1.$2') : found;
}

/** Whether a version is the one in the file name; file names have no build metadata. */
export const isVersionOf = (version: string, inName: string): boolean => plain(version) === plain(inName);

const plain = (version: string) =>
  version
    .replace(/\+.*$/, '')
    .toLowerCase()
    .replace(/-.*$/, (tag) => tag.replaceAll(/[.-]/g, ''));
