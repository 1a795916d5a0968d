import { statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';

const memory = '/dev/shm';
const enoughBytes = 3 * 1024 ** 3;

/**
 * The folder of a temporary database: in memory where there is room. A database has 300 files, and ext4 searches all
 * files deleted in the last minute for each new one: a server on a new database took 0.3 s longer.
 */
export async function placeOfRun(): Promise<string> {
  const { bavail, bsize } = await statfs(memory).catch(() => ({ bavail: 0, bsize: 0 }));
  return bavail * bsize > enoughBytes ? memory : tmpdir();
}
