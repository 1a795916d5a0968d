import { randomUUID } from 'node:crypto';
import { link, mkdir, open, readFile, unlink } from 'node:fs/promises';
import path from 'node:path';

/** Reads the file, or creates it with `make` if there is none. Only the account of the server may read it. */
export async function readOrMake(file: string, make: () => string): Promise<string> {
  await mkdir(path.dirname(file), { recursive: true });
  return (await createOnce(file, make())) ?? readFile(file, 'utf8');
}

/** Creates the file atomically, so that another starting process never reads half a key; undefined if it exists. */
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

/** A new name is durable only after a sync of its folder: a power failure must not remove a key that is in use. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
