import nodeFs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { contentOf, removeAbandonedDrafts, takeName, writeDurably, type Files } from './durable.ts';
import { machineHash } from './license-file.ts';
import { withLock, type Lock } from './lock.ts';

/** Files of the client in one folder. Nothing throws: what cannot be done is told as a problem, in words for a log. */
export type Store = {
  folder: string;
  /** The content of a file; undefined if there is none or it cannot be read. */
  read(name: string): Promise<string | undefined>;
  /** Whether there is a file, even if it cannot be read at the moment. */
  has(name: string): Promise<boolean>;
  /** Replaces a file: after a crash it has the old or the new content. Returns the problem, if there is one. */
  write(name: string, content: string): Promise<string | undefined>;
  /** Like `write`, for a file that must not exist yet; the first of several processes makes it. */
  create(name: string, content: string): Promise<'created' | 'exists' | { problem: string }>;
  remove(name: string): Promise<string | undefined>;
  /** Runs work while no other process or call does; after `waitMs`, or in a read-only folder, anyway. */
  lock<T>(waitMs: number, work: (lock: Lock) => Promise<T>): Promise<T>;
};

/** A virus scanner on Windows may hold a file for a moment. */
const held = new Set(['EPERM', 'EBUSY', 'EACCES']);

/** The files in `folder`, which is created when something is written. */
export function createStore(folder: string, files: Files = nodeFs): Store {
  const at = (name: string) => path.join(folder, name);
  let isSwept = false;

  function place(name: string, content: string, move?: (draft: string, file: string) => void): void {
    writeDurably(at(name), content, files, move);
    if (!isSwept) removeAbandonedDrafts(folder, files);
    isSwept = true;
  }

  async function replace(name: string, content: string): Promise<void> {
    for (let tries = 0; ; tries++)
      try {
        return place(name, content);
      } catch (error) {
        if (process.platform !== 'win32' || tries === 10 || !held.has(codeOf(error))) throw error;
        await sleep(20 * tries);
      }
  }

  async function tryTo(work: () => void | Promise<void>): Promise<string | undefined> {
    try {
      await work();
      return undefined;
    } catch (error) {
      return problemOf(folder, error);
    }
  }

  return {
    folder,
    read: async (name) => contentOf(at(name), files),
    async has(name) {
      try {
        return files.statSync(at(name)).isFile();
      } catch (error) {
        return !['ENOENT', 'ENOTDIR'].includes(codeOf(error));
      }
    },
    write: (name, content) => tryTo(() => replace(name, content)),
    async create(name, content) {
      let exists = false;
      const problem = await tryTo(() =>
        place(name, content, (draft, file) => {
          try {
            takeName(files, draft, file);
          } catch (error) {
            if (codeOf(error) !== 'EEXIST') throw error;
            exists = true;
          }
        }),
      );
      if (problem !== undefined) return { problem };
      return exists ? 'exists' : 'created';
    },
    remove: (name) => tryTo(() => files.rmSync(at(name), { force: true })),
    lock: (waitMs, work) => withLock(at('lock'), files, waitMs, work),
  };
}

/**
 * The files of one machine in a folder, with the machine in their names: a folder that comes from a disk image, or follows
 * a person to another computer, has those of several.
 */
export function filesOfMachine(store: Store, machineId: () => Promise<string>): Store {
  const own = async (file: string) => {
    const { name, ext } = path.parse(file);
    return `${name}-${machineHash(await machineId()).slice(0, 16)}${ext}`;
  };
  return {
    ...store,
    read: async (name) => store.read(await own(name)),
    has: async (name) => store.has(await own(name)),
    write: async (name, content) => store.write(await own(name), content),
    create: async (name, content) => store.create(await own(name), content),
    remove: async (name) => store.remove(await own(name)),
  };
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
