import { storedExtensionOf } from '../../contract/uploads.ts';
import type { Findings, Wanted } from './inspect-worker.ts';
import { present } from '../invariants.ts';

export type FileKind = 'exe' | 'dmg' | 'zip' | 'nupkg' | 'appimage' | 'deb' | 'rpm';

/** The kind of a file by its extension, in any case; undefined if that is not accepted. */
export function kindOf(fileName: string): FileKind | undefined {
  return storedExtensionOf(fileName)?.slice(1).toLowerCase() as FileKind | undefined;
}

/** The kind of a file that was accepted, so that its extension is known. */
export const acceptedKindOf = (fileName: string): FileKind =>
  present(kindOf(fileName), 'the extension was checked when the file was accepted');

/** What the updaters need: Squirrel.Windows a SHA-1, electron-updater a block map (an AppImage contains its own). */
export const wantedOf = (kind: FileKind): Wanted => ({
  sha1: kind === 'nupkg',
  blockmap: kind === 'exe' || kind === 'dmg' || kind === 'zip',
});

type Edges = Pick<Findings, 'head' | 'tail' | 'size'>;

const kinds: Record<
  FileKind,
  { label: string; matches: (head: Buffer, tail: Buffer, size: number) => boolean }
> = {
  exe: { label: 'a Windows program', matches: isPortableExecutable },
  dmg: {
    label: 'a macOS disk image',
    matches: (_, tail) => tail.length >= 512 && tail.subarray(-512).toString('latin1', 0, 4) === 'koly',
  },
  zip: { label: 'a whole ZIP archive', matches: isZip },
  nupkg: { label: 'a whole NuGet package', matches: isZip },
  appimage: {
    label: 'an AppImage',
    matches: (head) =>
      startsWith(head, '\x7fELF') && ['AI\x01', 'AI\x02'].includes(head.toString('latin1', 8, 11)),
  },
  deb: { label: 'a Debian package', matches: (head) => startsWith(head, '!<arch>\ndebian-binary') },
  rpm: { label: 'an RPM package', matches: (head) => startsWith(head, '\xed\xab\xee\xdb') },
};

/** Why the content is not a file of this kind; undefined if it is. */
export function refuseKind(kind: FileKind, { head, tail, size }: Edges): string | undefined {
  const { label, matches } = kinds[kind];
  if (matches(Buffer.from(head), Buffer.from(tail), size)) return undefined;
  return `The content is not ${label}, as the name of the file says.`;
}

const startsWith = (bytes: Buffer, text: string) => bytes.toString('latin1', 0, text.length) === text;

/** `MZ`, and `PE` at the offset in the header. */
function isPortableExecutable(head: Buffer): boolean {
  if (!startsWith(head, 'MZ') || head.length < 0x40) return false;
  const at = head.readUInt32LE(0x3c);
  return head.toString('latin1', at, at + 4) === 'PE\0\0';
}

/** A local header at the start, and at the end a central directory whose offset lies within the file. */
function isZip(head: Buffer, tail: Buffer, size: number): boolean {
  const at = tail.lastIndexOf('PK\x05\x06', undefined, 'latin1');
  if (!startsWith(head, 'PK\x03\x04') || at < 0 || at + 22 > tail.length) return false;
  const [length, offset] = [tail.readUInt32LE(at + 12), tail.readUInt32LE(at + 16)];
  const isZip64 = offset === 0xffffffff || length === 0xffffffff;
  return isZip64 || offset + length <= size - (tail.length - at);
}
