import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { missingAsUndefined } from '../../server/files.ts';
import { readOrMake } from '../../server/key-file.ts';
import { keyFiles } from '../../server/features/keys/local-keys.ts';
import type { Archive, ArchiveWriter } from './archive.ts';

/** Files in the data directory to back up in addition to database and binaries, by folder in the archive. */
const kinds = {
  keys: /^(?:signing-key\.pem|next-signing-key\.pem|(?:next-)?secrets-key|retired-keys\/[^/\\]*\.pem)$/,
  journal: /^[a-z-]+-[0-9a-f-]{36}\.json$/,
};
type Kind = keyof typeof kinds;

const rootOf = (kind: Kind, dataDir: string) => (kind === 'keys' ? dataDir : path.join(dataDir, 'journal'));

/** Adds the files of a kind and returns their names. */
export async function addFiles(kind: Kind, dataDir: string, archive: ArchiveWriter): Promise<string[]> {
  const root = rootOf(kind, dataDir);
  const retired = path.relative(dataDir, keyFiles(dataDir).retired);
  const names = await namesIn(root);
  if (kind === 'keys')
    names.push(...(await namesIn(path.join(root, retired))).map((name) => `${retired}/${name}`));
  const added: string[] = [];
  for (const name of names.filter((one) => kinds[kind].test(one)).toSorted()) {
    // a journal file is removed once its records are in the database
    const bytes = await readFile(path.join(root, name)).catch(missingAsUndefined);
    if (!bytes) continue;
    await archive.add(`${kind}/${name}`, bytes);
    added.push(name);
  }
  return added;
}

const namesIn = async (folder: string) => (await readdir(folder).catch(missingAsUndefined)) ?? [];

/** Writes the files of a kind into the data directory. */
export async function restoreFiles(kind: Kind, dataDir: string, archive: Archive): Promise<void> {
  for (const entry of archive.namesIn(kind)) {
    const name = entry.slice(kind.length + 1);
    if (!kinds[kind].test(name)) throw new Error(`The archive has an unexpected file: ${entry}`);
    const text = (await archive.read(entry)).toString('utf8');
    await readOrMake(path.join(rootOf(kind, dataDir), name), () => text);
  }
}
