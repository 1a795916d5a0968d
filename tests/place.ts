import { chmod, mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { opened } from './opened.ts';

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

/** An empty folder, which other accounts may enter, such as that of PostgreSQL, until the end of the test or file. */
export async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(await placeOfRun(), 'lanyard-test-'));
  await chmod(folder, 0o755);
  // a look at a storage there, which is still under way, writes a file
  opened.add(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}
