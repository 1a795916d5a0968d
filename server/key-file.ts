import { randomUUID } from 'node:crypto';
import { link, mkdir, open, readFile, unlink } from 'node:fs/promises';
import path from 'node:path';

/** What the file holds; written with `make` when there is none. Only the account of the server may read it. */
export async function readOrMake(file: string, make: () => string): Promise<string> {
  await mkdir(path.dirname(file), { recursive: true });
  return (await createOnce(file, make())) ?? readFile(file, 'utf8');
}

/**
 * Writes the file unless there is one; undefined when there is. It appears under its name whole or not at all:
 * another process that starts at this moment must never read half a key.
 */
async function createOnce(file: string, text: string): Promise<string | undefined> {
  const draft = `${file}.${randomUUID()}`;
  const handle = await open(draft, 'wx', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
    await link(draft, file);
    await syncFolder(path.dirname(file));
    return text;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return undefined;
    throw error;
  } finally {
    await handle.close();
    await unlink(draft);
  }
}

/** A new name is on disk only when its folder is: the database must not name a key that a power cut takes away. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
