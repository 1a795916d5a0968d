import type { Storage } from '../storage/storage.ts';

/** Storage keys of a release's file, and of its block map if there is one. */
export type Keys = { key: string; blockmapKey: string | null };

/** Changes whenever the bytes of the file or its block map may have. Undefined if the file is missing. */
export async function stampOf(storage: Storage, { key, blockmapKey }: Keys): Promise<string | undefined> {
  const [file, blockmap] = await Promise.all([
    storage.stampOf(key),
    blockmapKey === null ? undefined : storage.stampOf(blockmapKey),
  ]);
  if (file === undefined || blockmapKey === null) return file;
  return `${file} + ${blockmap ?? 'nothing'}`;
}
