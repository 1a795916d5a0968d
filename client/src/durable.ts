import { randomUUID } from 'node:crypto';
import nodeFs, { constants } from 'node:fs';
import { dirname, join } from 'node:path';

/** What the client needs of `node:fs`; tests replace it. */
export type Files = Pick<
  typeof nodeFs,
  | 'chmodSync'
  | 'closeSync'
  | 'copyFileSync'
  | 'fchmodSync'
  | 'fsyncSync'
  | 'linkSync'
  | 'mkdirSync'
  | 'openSync'
  | 'readdirSync'
  | 'readFileSync'
  | 'renameSync'
  | 'rmSync'
  | 'statSync'
  | 'writeFileSync'
>;

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
  files: Files = nodeFs,
  move: (draft: string, file: string) => void = files.renameSync,
): void {
  const folder = dirname(file);
  const draft = draftOf(file);
  try {
    const handle = openNew(draft, files);
    try {
      files.writeFileSync(handle, text);
      files.fsyncSync(handle);
    } finally {
      files.closeSync(handle);
    }
    move(draft, file);
  } finally {
    attempt(() => files.rmSync(draft, { force: true }));
  }
  // a new name lasts only when the folder is on the disk too; Windows cannot open folders, and needs no such step
  attempt(() => {
    const handle = files.openSync(folder, 'r');
    try {
      files.fsyncSync(handle);
    } finally {
      files.closeSync(handle);
    }
  });
}

/**
 * Opens a file that must not exist yet, and makes its folder if there is none. Both are for this account alone, except in
 * a folder that was made for a group: that of several accounts which share the computer.
 */
export function openNew(file: string, files: Files): number {
  const folder = dirname(file);
  const made = files.mkdirSync(folder, { recursive: true, mode: 0o700 });
  // afterwards, since the umask of the account takes rights away
  if (made !== undefined && isOfGroup(dirname(made), files)) attempt(() => files.chmodSync(made, 0o2770));
  const handle = files.openSync(file, 'wx', 0o600);
  if (isOfGroup(folder, files)) attempt(() => files.fchmodSync(handle, 0o660));
  return handle;
}

/** Whether the group of a folder may write, and what is made in it is of that group: no folder gets this by itself. */
function isOfGroup(folder: string, files: Files): boolean {
  const groupBits = 0o2020;
  try {
    return (files.statSync(folder).mode & groupBits) === groupBits;
  } catch {
    return false;
  }
}

/** A name beside a file that no other process has, and that is swept when it was left. */
export const draftOf = (file: string) => `${file}.${randomUUID()}${draftEnd}`;

/** Gives a draft a name that no file may have yet. Some file systems have no links. */
export function takeName(files: Files, draft: string, file: string): void {
  try {
    files.linkSync(draft, file);
  } catch {
    files.copyFileSync(draft, file, constants.COPYFILE_EXCL);
  }
}

/** Removes the drafts of processes that were killed. */
export function removeAbandonedDrafts(folder: string, files: Files = nodeFs): void {
  attempt(() => {
    for (const name of files.readdirSync(folder)) {
      const file = join(folder, name);
      if (name.endsWith(draftEnd) && isAbandoned(file, files)) files.rmSync(file, { force: true });
    }
  });
}

/** Whether a file has been left; false if there is none, or it cannot be seen. */
export function isAbandoned(file: string, files: Files = nodeFs): boolean {
  try {
    return Math.abs(Date.now() - files.statSync(file).mtimeMs) > abandonedMs;
  } catch {
    return false;
  }
}

/** The text of a file; undefined if there is none or it cannot be read. */
export function contentOf(file: string, files: Files = nodeFs): string | undefined {
  try {
    return files.readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

/** Whether a step succeeds that may fail: everything holds without it, or the caller goes by the answer. */
export function attempt(step: () => void): boolean {
  try {
    step();
    return true;
  } catch {
    return false;
  }
}
