import { isStorableText } from './text.ts';

export const acceptedExtensions = ['.exe', '.dmg', '.zip', '.nupkg'] as const;

/** Accepted extensions: those of the spec, offered by the console, and Linux packages, sent by build pipelines. */
export const storedExtensions = [...acceptedExtensions, '.AppImage', '.deb', '.rpm'] as const;

/** The extension of a file name in any case; undefined when it is not accepted. */
export const storedExtensionOf = (fileName: string) =>
  storedExtensions.find((extension) => fileName.toLowerCase().endsWith(extension.toLowerCase()));

export const longestFileName = 200;

/** Whether a file of this name may be a release: its kind decides which updaters take it. */
export const isFileName = (name: string): boolean =>
  name.length <= longestFileName &&
  !/^\.|[\\/]/.test(name) &&
  storedExtensionOf(name) !== undefined &&
  isStorableText(name);

/** The name of the file at an address: its last segment, decoded. */
export function fileNameAt({ pathname }: URL): string {
  const segment = pathname.slice(pathname.lastIndexOf('/') + 1);
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
