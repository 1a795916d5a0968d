import { statfs } from 'node:fs/promises';
import type { Config } from '../../config.ts';

type Room = { usedPercent: number; bytesLeft: number };

/** A disk is nearly full from this use on, unless it has this many bytes left. */
const fullFromPercent = 90;
const plenty = 20 * 1024 ** 3;

/** The room of the fullest disk that the service writes to, if it is nearly full. A database elsewhere is not seen. */
export async function lackingRoom({ dataDir, storage }: Pick<Config, 'dataDir' | 'storage'>) {
  const folders = [dataDir, ...(storage.kind === 'disk' ? [storage.folder] : [])];
  const found = await Promise.all(folders.map((folder) => statfs(folder).catch(() => undefined)));
  const full = found.flatMap((disk) => (disk ? [roomOf(disk)] : [])).filter(isNearlyFull);
  return full.toSorted((a, b) => a.bytesLeft - b.bytesLeft).at(0);
}

/** As `df` says it: blocks that only root may use count neither as used nor as left. */
export function roomOf(disk: { blocks: number; bfree: number; bavail: number; bsize: number }): Room {
  const used = disk.blocks - disk.bfree;
  const usable = used + disk.bavail;
  return {
    usedPercent: usable === 0 ? 0 : Math.ceil((100 * used) / usable),
    bytesLeft: disk.bavail * disk.bsize,
  };
}

export const isNearlyFull = ({ usedPercent, bytesLeft }: Room): boolean =>
  usedPercent >= fullFromPercent && bytesLeft < plenty;
