import { randomUUID } from 'node:crypto';
import nodeFs, { constants } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** What the store needs of `node:fs/promises`. */
export type Files = Pick<
  typeof nodeFs.promises,
  'copyFile' | 'link' | 'mkdir' | 'open' | 'readdir' | 'readFile' | 'rename' | 'rm' | 'stat'
>;

/** Files of the client in one folder. Nothing throws: what cannot be done is told as a problem, in words for a log. */
export type Store = {
  folder: string;
  /** The content of a file; undefined if there is none or it cannot be read. */
  read(name: string): Promise<string | undefined>;
  /** Replaces a file: after a crash it has the old or the new content. Returns the problem, if there is one. */
  write(name: string, content: string): Promise<string | undefined>;
  /** Like `write`, for a file that must not exist yet; the first of several processes makes it. */
  create(name: string, content: string): Promise<'created' | 'exists' | { problem: string }>;
  remove(name: string): Promise<string | undefined>;
  /** Runs work while no other process or call does; after `waitMs`, or in a read-only folder, anyway: `alone` is false. */
  lock<T>(waitMs: number, work: (alone: boolean) => Promise<T>): Promise<T>;
};

const draftEnd = '.new';
/** A lock or draft older than this was left by a process that was killed. */
const abandonedMs = 120_000;
/** A virus scanner on Windows may hold a file for a moment. */
const held = new Set(['EPERM', 'EBUSY', 'EACCES']);

/** The files in `folder`, which is created when something is written. */
export function createStore(folder: string, files: Files = nodeFs.promises): Store {
  const at = (name: string) => path.join(folder, name);
  let isSwept = false;

  /** Writes a file under a name of its own and moves it into place by `place`; without success, nothing is left. */
  async function place(name: string, content: string, move: (draft: string) => Promise<void>): Promise<void> {
    await files.mkdir(folder, { recursive: true, mode: 0o700 });
    if (!isSwept) await sweep();
    isSwept = true;
    const draft = at(`${name}.${randomUUID()}${draftEnd}`);
    try {
      const handle = await files.open(draft, 'wx', 0o600);
      try {
        await handle.writeFile(content);
        await handle.sync();
      } finally {
        await handle.close();
      }
      await move(draft);
    } finally {
      await files.rm(draft, { force: true }).catch(() => undefined);
    }
    await syncFolder();
  }

  /** A new name lasts only when the folder is on the disk too. Windows cannot open folders, and needs no such step. */
  async function syncFolder(): Promise<void> {
    const handle = await files.open(folder, 'r').catch(() => undefined);
    await handle?.sync().catch(() => undefined);
    await handle?.close();
  }

  async function sweep(): Promise<void> {
    for (const name of await files.readdir(folder))
      if (name.endsWith(draftEnd) && (await isAbandoned(name))) await files.rm(at(name), { force: true });
  }

  async function isAbandoned(name: string): Promise<boolean> {
    const state = await files.stat(at(name)).catch(() => undefined);
    return state !== undefined && Math.abs(Date.now() - state.mtimeMs) > abandonedMs;
  }

  async function isLockAbandoned(): Promise<boolean> {
    const owner = Number(await files.readFile(at('lock'), 'utf8').catch(() => ''));
    return (owner > 0 && !isRunning(owner)) || isAbandoned('lock');
  }

  async function rename(from: string, to: string): Promise<void> {
    for (let tries = 0; ; tries++)
      try {
        return await files.rename(from, to);
      } catch (error) {
        if (process.platform !== 'win32' || tries === 10 || !held.has(codeOf(error))) throw error;
        await sleep(20 * tries);
      }
  }

  async function tryTo(work: () => Promise<void>): Promise<string | undefined> {
    try {
      await work();
      return undefined;
    } catch (error) {
      return problemOf(folder, error);
    }
  }

  return {
    folder,
    read: (name) => files.readFile(at(name), 'utf8').catch(() => undefined),
    write: (name, content) => tryTo(() => place(name, content, (draft) => rename(draft, at(name)))),
    async create(name, content) {
      let exists = false;
      const problem = await tryTo(() =>
        place(name, content, async (draft) => {
          try {
            // some file systems have no links
            await files
              .link(draft, at(name))
              .catch(() => files.copyFile(draft, at(name), constants.COPYFILE_EXCL));
          } catch (error) {
            if (codeOf(error) !== 'EEXIST') throw error;
            exists = true;
          }
        }),
      );
      if (problem !== undefined) return { problem };
      return exists ? 'exists' : 'created';
    },
    remove: (name) => tryTo(() => files.rm(at(name), { force: true })),
    async lock(waitMs, work) {
      const end = performance.now() + waitMs;
      for (;;) {
        const made = await takeLock(files, at('lock'));
        if (made === 'taken' && performance.now() < end) {
          if (await isLockAbandoned()) await files.rm(at('lock'), { force: true }).catch(() => undefined);
          else await sleep(20 + Math.random() * 30);
          continue;
        }
        try {
          return await work(made === 'mine');
        } finally {
          if (made === 'mine') await files.rm(at('lock'), { force: true }).catch(() => undefined);
        }
      }
    },
  };
}

async function takeLock(files: Files, lock: string): Promise<'mine' | 'taken' | 'none'> {
  try {
    await files.mkdir(path.dirname(lock), { recursive: true, mode: 0o700 });
    const handle = await files.open(lock, 'wx', 0o600);
    // on a full disk the lock holds all the same
    await handle.writeFile(String(process.pid)).catch(() => undefined);
    await handle.close();
    return 'mine';
  } catch (error) {
    return codeOf(error) === 'EEXIST' ? 'taken' : 'none';
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) !== 'ESRCH';
  }
}

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? '';

function problemOf(folder: string, error: unknown): string {
  const said: Record<string, string> = {
    EACCES: 'may not be written',
    ENOSPC: 'cannot be written: the disk is full',
    EPERM: 'may not be written',
    EROFS: 'is read-only',
  };
  return `The folder ${folder} ${said[codeOf(error)] ?? `cannot be written: ${(error as Error).message}`}.`;
}
