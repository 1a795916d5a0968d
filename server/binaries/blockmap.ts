import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { inflateRawSync } from 'node:zlib';
import type { Failure } from '../failure.ts';
import type { Storage } from '../storage/storage.ts';
import type { Findings } from './inspect-worker.ts';
import { blockmapKeyOf } from './storage-key.ts';

/** Stores the block map next to the file, if there is one. */
export async function storeBlockmap(
  storage: Storage,
  fileKey: string,
  { blockmap }: Findings,
): Promise<Failure | undefined> {
  if (!blockmap) return undefined;
  const stored = await storage.put(blockmapKeyOf(fileKey), Readable.from([Buffer.from(blockmap)]));
  return typeof stored === 'number' ? undefined : stored;
}

/** Limits for untrusted input, far above the block map of the largest AppImage. */
const maxBytes = { packed: 4 * 1024 * 1024, unpacked: 16 * 1024 * 1024 };
/** Lists and objects of a block map; there are five. Parsing 16 MB of brackets would take seconds and a gigabyte. */
const mostLists = 10;

/**
 * Size in bytes of the block map that electron-builder appends to an AppImage, followed by that size in four bytes. Null
 * if there is none that matches the file. electron-updater uses no other block map for an AppImage.
 */
export async function embeddedBlockmapSize(
  storage: Storage,
  key: string,
  { size, tail }: { size: number; tail: Uint8Array },
): Promise<number | null> {
  if (tail.length < 4) return null;
  const length = Buffer.from(tail).readUInt32BE(tail.length - 4);
  const start = size - 4 - length;
  if (length === 0 || length > maxBytes.packed || start <= 0) return null;
  const bytes = await storage.read(key, { start, end: size - 5 });
  if (!bytes) throw new Error(`${key} is not in the storage`);
  return isBlockmap(await buffer(bytes), start) ? length : null;
}

/** Whether `packed` is the deflated block map of a file of `size` bytes. */
function isBlockmap(packed: Buffer, size: number): boolean {
  try {
    // some 35 bytes for each block, which are of 8 KB or more
    const maxOutputLength = Math.min(maxBytes.unpacked, 1024 + Math.ceil(size / 64));
    const text = inflateRawSync(packed, { maxOutputLength }).toString();
    if (text.split(/[[{]/, mostLists + 2).length > mostLists + 1) return false;
    const { files } = JSON.parse(text) as { files: [{ sizes: number[] }] };
    return files[0].sizes.reduce((sum, bytes) => sum + bytes, 0) === size;
  } catch {
    return false;
  }
}
