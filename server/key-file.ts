import { randomUUID } from 'node:crypto';
import { link, mkdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { createPrivate, syncFolder } from './files.ts';

/**
 * Reads the file, or creates it with `make` if there is none. Only the account of the server may read it. Another
 * process that starts never reads half a key.
 */
export async function readOrMake(file: string, make: () => string): Promise<string> {
  await mkdir(path.dirname(file), { recursive: true });
  const draft = `${file}.${randomUUID()}`;
  try {
    const text = make();
    await createPrivate(draft, text);
    await link(draft, file);
    await syncFolder(path.dirname(file));
    return text;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return readFile(file, 'utf8');
  } finally {
    await rm(draft, { force: true });
  }
}
