import { randomUUID } from 'node:crypto';
import nodeFs, { constants } from 'node:fs';
import { dirname, join } from 'node:path';

/** What writing needs of `node:fs`; tests replace it. */
export type Disk = Pick<
  typeof nodeFs,
  | 'closeSync'
  | 'fsyncSync'
  | 'mkdirSync'
  | 'openSync'
  | 'readdirSync'
  | 'renameSync'
  | 'rmSync'
  | 'statSync'
  | 'writeFileSync'
>;

/** What taking a name needs of `node:fs`. */
export type Naming = Pick<typeof nodeFs, 'copyFileSync' | 'linkSync'>;

const draftEnd = '.new';
/** What is older than this was left by a process that was killed. */
const abandonedMs = 120_000;

/**
 * Replaces a file, or leaves it as it was: after a crash or a power failure it has the old text or the new one. The
 * text is on the disk when this returns. Synchronous, because a program that quits no longer waits for anything.
 * `move` brings the draft to its place; without success, nothing is left of it. Throws.
 */
export function writeDurably(
  file: string,
  text: string,
  disk: Disk = nodeFs,
  move: (draft: string, file: string) => void = disk.renameSync,
): void {
  const folder = dirname(file);
  disk.mkdirSync(folder, { recursive: true, mode: 0o700 });
  const draft = draftOf(file);
  try {
    const handle = disk.openSync(draft, 'wx', 0o600);
    try {
      disk.writeFileSync(handle, text);
      disk.fsyncSync(handle);
    } finally {
      disk.closeSync(handle);
    }
    move(draft, file);
  } finally {
    quietly(() => disk.rmSync(draft, { force: true }));
  }
  // a new name lasts only when the folder is on the disk too; Windows cannot open folders, and needs no such step
  quietly(() => {
    const handle = disk.openSync(folder, 'r');
    try {
      disk.fsyncSync(handle);
    } finally {
      disk.closeSync(handle);
    }
  });
}

/** A name beside a file that no other process has, and that is swept when it was left. */
export const draftOf = (file: string) => `${file}.${randomUUID()}${draftEnd}`;

/** Gives a draft a name that no file may have yet. Some file systems have no links. */
export function takeName(files: Naming, draft: string, file: string): void {
  try {
    files.linkSync(draft, file);
  } catch {
    files.copyFileSync(draft, file, constants.COPYFILE_EXCL);
  }
}

/** Removes the drafts of processes that were killed. */
export function removeAbandonedDrafts(folder: string, disk: Disk = nodeFs): void {
  quietly(() => {
    for (const name of disk.readdirSync(folder)) {
      const file = join(folder, name);
      if (name.endsWith(draftEnd) && isAbandoned(file, disk)) disk.rmSync(file, { force: true });
    }
  });
}

/** Whether a file has been left; false if there is none, or it cannot be seen. */
export function isAbandoned(file: string, disk: Disk = nodeFs): boolean {
  try {
    return Math.abs(Date.now() - disk.statSync(file).mtimeMs) > abandonedMs;
  } catch {
    return false;
  }
}

/** For steps without which everything holds all the same. */
function quietly(step: () => void): void {
  try {
    step();
  } catch {
    // what matters has been done, or its own error is on the way
  }
}
