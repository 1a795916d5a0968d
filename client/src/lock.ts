import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { attempt, contentOf, draftOf, isAbandoned, openNew, takeName, type Files } from './durable.ts';

/** Locks that this process could not remove after its work, such as while a virus scanner held them. */
const unremoved = new Set<string>();

/** Whether nobody else works in the folder, or somebody does all the while, or it takes no lock (read-only). */
export type Lock = 'mine' | 'taken' | 'none';

/** Runs work with a lock file, which names its owner; waits for it at most `waitMs`, and then works anyway. */
export async function withLock<T>(
  file: string,
  files: Files,
  waitMs: number,
  work: (lock: Lock) => Promise<T>,
): Promise<T> {
  const end = performance.now() + waitMs;
  const owner = `${process.pid} ${randomUUID()}`;
  let lock = take(file, files, owner);
  while (lock === 'taken' && performance.now() < end) {
    if (!removeAbandonedLock(file, files)) await sleep(20 + Math.random() * 30);
    lock = take(file, files, owner);
  }
  if (lock === 'taken' && isLeft(file, files)) lock = 'none';
  try {
    return await work(lock);
  } finally {
    if (lock === 'mine') release(file, files, owner);
  }
}

function take(file: string, files: Files, owner: string): Lock {
  try {
    const handle = openNew(file, files);
    // on a full disk the lock holds all the same
    attempt(() => files.writeFileSync(handle, owner));
    // where this fails, as on a share, the file is there all the same
    attempt(() => files.closeSync(handle));
    return 'mine';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EEXIST' ? 'taken' : 'none';
  }
}

/** Not the lock of another process, which took it over while this one slept. */
function release(file: string, files: Files, owner: string): void {
  const found = contentOf(file, files);
  if (found !== undefined && found !== '' && found !== owner) return;
  if (!attempt(() => files.rmSync(file, { force: true }))) unremoved.add(owner);
}

/**
 * Removes a lock whose owner was killed. Another process may have replaced it since the look at it, so it is moved away
 * first and looked at again. False if there is nothing to remove, or it cannot be.
 */
function removeAbandonedLock(file: string, files: Files): boolean {
  // like a draft, so that it is swept if this process is killed now
  const moved = draftOf(file);
  if (!isLeft(file, files) || !attempt(() => files.renameSync(file, moved))) return false;
  const isStillLeft = isLeft(moved, files);
  if (!isStillLeft) attempt(() => takeName(files, moved, file));
  attempt(() => files.rmSync(moved, { force: true }));
  return isStillLeft;
}

function isLeft(file: string, files: Files): boolean {
  const content = contentOf(file, files) ?? '';
  const owner = Number(content.split(' ')[0]);
  return (owner > 0 && !isRunning(owner)) || unremoved.has(content) || isAbandoned(file, files);
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
