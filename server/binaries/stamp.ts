import type { Storage } from '../storage/storage.ts';

/** The file of a release, and the block map beside it where there is one. */
export type Keys = { key: string; blockmapKey: string | null };

/** What the storage says of a file and of its block map. Undefined when the file is missing. */
export async function stampOf(storage: Storage, { key, blockmapKey }: Keys): Promise<string | undefined> {
  const [file, blockmap] = await Promise.all([
    storage.stampOf(key),
    blockmapKey === null ? undefined : storage.stampOf(blockmapKey),
  ]);
  if (file === undefined || blockmapKey === null) return file;
  return `${file} + ${blockmap ?? 'nothing'}`;
}
