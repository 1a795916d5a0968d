import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { inflateRawSync } from 'node:zlib';
import type { Failure } from '../failure.ts';
import type { Storage } from '../storage/storage.ts';
import type { Findings } from './inspect-worker.ts';
import { blockmapKeyOf } from './storage-key.ts';

/** Stores the block map beside the file, where the kind of file has one. */
export async function storeBlockmap(
  storage: Storage,
  fileKey: string,
  { blockmap }: Findings,
): Promise<Failure | undefined> {
  if (!blockmap) return undefined;
  const stored = await storage.put(blockmapKeyOf(fileKey), Readable.from([Buffer.from(blockmap)]));
  return typeof stored === 'number' ? undefined : stored;
}

/** Far above that of the largest AppImage; what anybody may send is not unpacked without a limit. */
const most = { packed: 4 * 1024 * 1024, unpacked: 16 * 1024 * 1024 };

/**
 * Bytes of the block map that electron-builder puts at the end of an AppImage, before four bytes that say how long it
 * is; null where there is none that fits the file. electron-updater knows no other for this kind.
 */
export async function embeddedBlockmapSize(
  storage: Storage,
  key: string,
  { size, tail }: { size: number; tail: Uint8Array },
): Promise<number | null> {
  if (tail.length < 4) return null;
  const length = Buffer.from(tail).readUInt32BE(tail.length - 4);
  const start = size - 4 - length;
  if (length === 0 || length > most.packed || start <= 0) return null;
  const bytes = await storage.read(key, { start, end: size - 5 });
  if (!bytes) throw new Error(`${key} is not in the storage`);
  return isBlockmap(await buffer(bytes), start) ? length : null;
}

/** Whether these are the deflated block map of a file of `size` bytes. */
function isBlockmap(packed: Buffer, size: number): boolean {
  try {
    const text = inflateRawSync(packed, { maxOutputLength: most.unpacked }).toString();
    const { files } = JSON.parse(text) as { files: [{ sizes: number[] }] };
    return files[0].sizes.reduce((sum, bytes) => sum + bytes, 0) === size;
  } catch {
    return false;
  }
}
