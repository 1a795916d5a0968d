import { statfs } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../../config.ts';

type Room = { usedPercent: number; bytesLeft: number };

/** A disk is nearly full from this use on, unless it has this many bytes left. */
const fullFromPercent = 90;
const plenty = 20 * 1024 ** 3;

/** How long a disk may take to answer before the last known state counts. */
const patienceMs = 300;

/**
 * Finds the room of the fullest disk that the service writes to, if it is nearly full. A database elsewhere is not seen.
 */
export function createRoomCheck({ dataDir, storage }: Pick<Config, 'dataDir' | 'storage'>) {
  const folders = [dataDir, ...(storage.kind === 'disk' ? [storage.folder] : [])];
  let last: Room | undefined;
  let looking: Promise<Room | undefined> | undefined;

  async function look(): Promise<Room | undefined> {
    const full: Room[] = [];
    for (const folder of folders) {
      const disk = await statfs(folder).catch(() => undefined);
      if (disk && isNearlyFull(roomOf(disk))) full.push(roomOf(disk));
    }
    last = full.toSorted((a, b) => a.bytesLeft - b.bytesLeft).at(0);
    return last;
  }

  // One disk at a time, for all callers: each that hangs blocks a thread.
  return (): Promise<Room | undefined> => {
    looking ??= look().finally(() => (looking = undefined));
    return Promise.race([looking, sleep(patienceMs, undefined, { ref: false }).then(() => last)]);
  };
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
