import { storedExtensionOf } from './file-names.ts';

export type FileKind = 'exe' | 'dmg' | 'zip' | 'nupkg' | 'appimage' | 'deb' | 'rpm';

/** The kind of a file by its extension, in any case; undefined if that is not accepted. */
export const kindOf = (fileName: string): FileKind | undefined =>
  storedExtensionOf(fileName)?.slice(1).toLowerCase() as FileKind | undefined;

/** How much of the start and of the end of a file says what it is, in bytes: the end of a ZIP may hold a comment of 64 KiB. */
export const edgeBytes = 66 * 1024;

type Edges = { head: Uint8Array; tail: Uint8Array; size: number };

const kinds: Record<FileKind, { label: string; matches: (edges: Edges) => boolean }> = {
  exe: { label: 'a Windows program', matches: isPortableExecutable },
  dmg: {
    label: 'a macOS disk image',
    matches: ({ tail }) => tail.length >= 512 && startsWith(tail.subarray(-512), 'koly'),
  },
  zip: { label: 'a whole ZIP archive', matches: isZip },
  nupkg: { label: 'a whole NuGet package', matches: isZip },
  appimage: {
    label: 'an AppImage',
    matches: ({ head }) =>
      startsWith(head, '\x7fELF') && ['AI\x01', 'AI\x02'].some((mark) => startsWith(head.subarray(8), mark)),
  },
  deb: { label: 'a Debian package', matches: ({ head }) => startsWith(head, '!<arch>\ndebian-binary') },
  rpm: { label: 'an RPM package', matches: ({ head }) => startsWith(head, '\xed\xab\xee\xdb') },
};

/** Why the content is not a file of this kind; undefined if it is. `head` and `tail` have at most `edgeBytes`. */
export function refuseKind(kind: FileKind, edges: Edges): string | undefined {
  const { label, matches } = kinds[kind];
  return matches(edges) ? undefined : `The content is not ${label}, as the name of the file says.`;
}

/** Whether the bytes begin with this text of Latin-1 characters. */
function startsWith(bytes: Uint8Array, text: string): boolean {
  return String.fromCharCode(...bytes.subarray(0, text.length)) === text;
}

const uint32At = (bytes: Uint8Array, at: number): number =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(at, true);

/** `MZ`, and `PE` at the offset in the header. */
function isPortableExecutable({ head }: Edges): boolean {
  return (
    startsWith(head, 'MZ') && head.length >= 0x40 && startsWith(head.subarray(uint32At(head, 0x3c)), 'PE\0\0')
  );
}

/** A local header at the start, and at the end a central directory whose offset lies within the file. */
function isZip({ head, tail, size }: Edges): boolean {
  const at = lastIndexOf(tail, 'PK\x05\x06');
  if (!startsWith(head, 'PK\x03\x04') || at < 0 || at + 22 > tail.length) return false;
  const [length, offset] = [uint32At(tail, at + 12), uint32At(tail, at + 16)];
  const isZip64 = offset === 0xffffffff || length === 0xffffffff;
  return isZip64 || offset + length <= size - (tail.length - at);
}

function lastIndexOf(bytes: Uint8Array, text: string): number {
  let at = bytes.length - text.length;
  while (at >= 0 && !startsWith(bytes.subarray(at, at + text.length), text)) at--;
  return at;
}
