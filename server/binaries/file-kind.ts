import { storedExtensionOf } from '../../contract/uploads.ts';
import type { Findings, Wanted } from './inspect-worker.ts';

export type FileKind = 'exe' | 'dmg' | 'zip' | 'nupkg' | 'appimage' | 'deb' | 'rpm';

/** The kind that a file name says, in lower case without the dot; undefined for one that is not taken. */
export function kindOf(fileName: string): FileKind | undefined {
  return storedExtensionOf(fileName)?.slice(1).toLowerCase() as FileKind | undefined;
}

/** What the updaters of a kind need: Squirrel.Windows a SHA-1, electron-updater a block map (an AppImage has its own). */
export const wantedOf = (kind: FileKind): Wanted => ({
  sha1: kind === 'nupkg',
  blockmap: kind === 'exe' || kind === 'dmg' || kind === 'zip',
});

type Edges = Pick<Findings, 'head' | 'tail' | 'size'>;

const kinds: Record<FileKind, { what: string; is: (head: Buffer, tail: Buffer, size: number) => boolean }> = {
  exe: { what: 'a Windows program', is: isPortableExecutable },
  dmg: {
    what: 'a macOS disk image',
    is: (_, tail) => tail.length >= 512 && tail.subarray(-512).toString('latin1', 0, 4) === 'koly',
  },
  zip: { what: 'a whole ZIP archive', is: isZip },
  nupkg: { what: 'a whole NuGet package', is: isZip },
  appimage: {
    what: 'an AppImage',
    is: (head) =>
      startsWith(head, '\x7fELF') && ['AI\x01', 'AI\x02'].includes(head.toString('latin1', 8, 11)),
  },
  deb: { what: 'a Debian package', is: (head) => startsWith(head, '!<arch>\ndebian-binary') },
  rpm: { what: 'an RPM package', is: (head) => startsWith(head, '\xed\xab\xee\xdb') },
};

/** Why the bytes cannot be a file of this kind; undefined when they can. */
export function refuseKind(kind: FileKind, { head, tail, size }: Edges): string | undefined {
  const { what, is } = kinds[kind];
  if (is(Buffer.from(head), Buffer.from(tail), size)) return undefined;
  return `The content is not ${what}, as the name of the file says.`;
}

const startsWith = (bytes: Buffer, text: string) => bytes.toString('latin1', 0, text.length) === text;

/** `MZ`, and at the place that the header names, `PE`. */
function isPortableExecutable(head: Buffer): boolean {
  if (!startsWith(head, 'MZ') || head.length < 0x40) return false;
  const at = head.readUInt32LE(0x3c);
  return head.toString('latin1', at, at + 4) === 'PE\0\0';
}

/** A local header at the start and the directory at the end, whose place must lie within the file. */
function isZip(head: Buffer, tail: Buffer, size: number): boolean {
  const at = tail.lastIndexOf('PK\x05\x06', undefined, 'latin1');
  if (!startsWith(head, 'PK\x03\x04') || at < 0 || at + 22 > tail.length) return false;
  const [length, offset] = [tail.readUInt32LE(at + 12), tail.readUInt32LE(at + 16)];
  const isZip64 = offset === 0xffffffff || length === 0xffffffff;
  return isZip64 || offset + length <= size - (tail.length - at);
}
