import { open, rename, rm, type FileHandle } from 'node:fs/promises';
import path from 'node:path';

/** Opens the file, runs `work`, and closes it. A file created by this has `mode`. An error of a full disk names the file. */
export async function withFile<T>(
  file: string,
  flags: string,
  work: (handle: FileHandle) => Promise<T>,
  mode = 0o640,
): Promise<T> {
  const handle = await open(file, flags, mode);
  try {
    return await work(handle);
  } catch (error) {
    const { code, path: named } = error as NodeJS.ErrnoException;
    if (code === 'ENOSPC' && !named && error instanceof Error)
      Object.assign(error, { path: file, message: `${error.message} '${file}'` });
    throw error;
  } finally {
    await handle.close();
  }
}

/** A new name is durable only after its folder is synced; Windows cannot open a folder. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform !== 'win32') await withFile(folder, 'r', (handle) => handle.sync());
}

/** Creates the file, which only this account may read, and has its content on the disk. */
export const createPrivate = (file: string, text: string): Promise<void> =>
  withFile(
    file,
    'wx',
    async (handle) => {
      await handle.writeFile(text);
      await handle.sync();
    },
    0o600,
  );

/** Writes the file atomically, even if the machine crashes; `draft` is its name until it is complete. */
export async function writeWhole(file: string, text: string, draft: string): Promise<void> {
  try {
    await withFile(draft, 'w', async (handle) => {
      await handle.writeFile(text);
      await handle.sync();
    });
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  await syncFolder(path.dirname(file));
}

/** Whether a call failed because its file does not exist. */
export const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

/** For `catch`: undefined where the file does not exist. */
export function missingAsUndefined(error: unknown): undefined {
  if (!isMissing(error)) throw error;
}
