import type { Architecture, Platform } from '../../../contract/builds.ts';
import { acceptedExtensions } from '../../../contract/uploads.ts';

/** What a file name says about a build (spec part 2, section 2.2). Upper and lower case are alike. */

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
