import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { CannotStart } from '../../server/cannot-start.ts';
import { syncFolder } from '../../server/files.ts';
import { formatVersion, manifestName, manifestOf, sumName, type Manifest } from './manifest.ts';
import { blockBytes, headerOf, paddingOf, readHeader } from './tar.ts';
import { present } from '../../server/invariants.ts';

const firstName = 'lanyard-backup.txt';
const firstText =
  'A backup of Lanyard, with its keys. npm run restore -- FILE restores it into an empty DATA_DIR.\n';

type Entries = Manifest['entries'];

/** What is archived cannot be read. The archive itself is as before, and takes more. */
export class SourceFailed extends Error {
  constructor(cause: unknown) {
    super((cause as Error).message, { cause });
    this.name = 'SourceFailed';
  }
}

async function* ofSource(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  try {
    yield* bytes;
  } catch (error) {
    throw new SourceFailed(error);
  }
}

/** An archive that is being written. It gets its final name when it is complete. */
export type ArchiveWriter = {
  /** Bytes written so far. */
  bytes(): number;
  add(name: string, bytes: Buffer | string): Promise<void>;
  /** Throws SourceFailed, and leaves nothing of it, if the stream fails or does not have exactly `size` bytes. */
  addStream(name: string, size: number, bytes: AsyncIterable<Buffer>): Promise<void>;
  /** Writes the manifest, and renames the file to its final name. */
  finish(about: Omit<Manifest, 'entries' | 'format'>): Promise<void>;
  /** Removes the incomplete file. */
  abandon(): Promise<void>;
};

/** Creates `<file>.part`, readable by this account only. Throws CannotStart if either file exists. */
export async function createArchive(file: string, now: Date): Promise<ArchiveWriter> {
  const part = `${file}.part`;
  for (const [existing, advice] of [
    [file, 'Choose another file name.'],
    [part, 'Another backup is writing it. If a backup was interrupted, remove it.'],
  ] as const)
    if (await stat(existing).catch(() => undefined))
      throw new CannotStart(`${existing} already exists. ${advice}`);
  // appended to, so that writing goes on at the end after a part was taken back
  const handle = await open(part, 'ax', 0o600).catch((error: Error) => {
    throw new CannotStart(`The backup cannot be written: ${error.message}`, { cause: error });
  });
  const entries: Entries = {};
  let at = 0;

  async function write(bytes: Buffer): Promise<void> {
    await handle.writeFile(bytes);
    at += bytes.length;
  }

  async function addStream(name: string, size: number, bytes: AsyncIterable<Buffer>): Promise<void> {
    const hash = createHash('sha256');
    const start = at;
    await write(headerOf(name, size, now));
    let received = 0;
    try {
      for await (const piece of ofSource(bytes)) {
        received += piece.length;
        hash.update(piece);
        await write(piece);
      }
      if (received !== size) throw new SourceFailed(new Error(`${name} has ${received} bytes, not ${size}`));
    } catch (error) {
      if (error instanceof SourceFailed) {
        await handle.truncate(start);
        at = start;
      }
      throw error;
    }
    await write(Buffer.alloc(paddingOf(size)));
    entries[name] = { size, sha256: hash.digest('hex') };
  }

  const add = (name: string, content: Buffer | string) => {
    const bytes = Buffer.from(content as string);
    return addStream(name, bytes.length, Readable.from([bytes]) as AsyncIterable<Buffer>);
  };

  const abandon = async () => {
    await handle.close().catch(() => undefined);
    await rm(part, { force: true });
  };

  await add(firstName, firstText).catch(async (error: unknown) => {
    await abandon();
    throw error;
  });
  return {
    bytes: () => at,
    add,
    addStream,
    async finish(about) {
      const manifest: Manifest = { format: formatVersion, ...about, entries: { ...entries } };
      const text = JSON.stringify(manifest, undefined, 1);
      await add(manifestName, text);
      await add(sumName, `${present(entries[manifestName], 'it was just added').sha256}\n`);
      await write(Buffer.alloc(2 * blockBytes));
      await handle.sync();
      await handle.close();
      await rename(part, file);
      await syncFolder(path.dirname(file));
    },
    abandon,
  };
}

/** An archive whose hashes were verified. */
export type Archive = {
  manifest: Manifest;
  /** The sorted names of the entries in a folder. */
  namesIn(folder: string): string[];
  read(name: string): Promise<Buffer>;
  stream(name: string): Readable;
};

/**
 * Opens an archive and verifies all hashes in it. Throws CannotStart if the file is not an archive, is truncated, is
 * damaged, or was made by a newer version. `onBytes` is called with the number of bytes verified since its last call.
 */
export async function openArchive(file: string, onBytes: (bytes: number) => void): Promise<Archive> {
  const handle = await open(file, 'r').catch((error: Error) => {
    throw new CannotStart(`The backup cannot be read: ${error.message}`, { cause: error });
  });
  try {
    const entryOffsets = await findEntries(handle, file);
    const manifest = await readManifest(handle, entryOffsets, file);
    const stream = (name: string): Readable => {
      const { start, size } = present(entryOffsets.get(name), 'names come from the archive or its manifest');
      return size === 0 ? Readable.from([]) : createReadStream(file, { start, end: start + size - 1 });
    };
    await verifyHashes(manifest.entries, entryOffsets, { file, stream, onBytes });
    const names = [...entryOffsets.keys()].toSorted();
    return {
      manifest,
      namesIn: (folder) => names.filter((name) => name.startsWith(`${folder}/`)),
      read: async (name) => Buffer.concat((await stream(name).toArray()) as Buffer[]),
      stream,
    };
  } finally {
    await handle.close();
  }
}

type EntryOffsets = Map<string, { start: number; size: number }>;

async function findEntries(handle: FileHandle, file: string): Promise<EntryOffsets> {
  const { size: fileSize } = await handle.stat();
  const entryOffsets: EntryOffsets = new Map();
  for (let at = 0; ;) {
    const block = await readBytes(handle, at, blockBytes);
    const header = readHeader(block);
    if (entryOffsets.size === 0 && header?.name !== firstName)
      throw new CannotStart(`${file} is not a backup made by npm run backup.`);
    if (entryOffsets.has(sumName) && block.length === blockBytes && block.every((byte) => byte === 0))
      return entryOffsets;
    const start = at + blockBytes;
    if (block.length < blockBytes || (header && start + header.size > fileSize))
      throw new CannotStart(`${file} is truncated: its end is missing. Use another backup.`);
    if (!header) throw damaged(file, `byte ${at}`);
    entryOffsets.set(header.name, { start, size: header.size });
    at = start + header.size + paddingOf(header.size);
  }
}

async function readBytes(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, position);
  return buffer.subarray(0, bytesRead);
}

async function readManifest(handle: FileHandle, entryOffsets: EntryOffsets, file: string): Promise<Manifest> {
  const read = async (name: string) => {
    const { start, size } = entryOffsets.get(name) ?? { start: 0, size: 0 };
    return readBytes(handle, start, size);
  };
  const bytes = await read(manifestName);
  const sum = (await read(sumName)).toString('latin1').trim();
  if (createHash('sha256').update(bytes).digest('hex') !== sum) throw damaged(file, manifestName);
  return manifestOf(bytes.toString('utf8'), file);
}

async function verifyHashes(
  entries: Entries,
  entryOffsets: EntryOffsets,
  {
    file,
    stream,
    onBytes,
  }: { file: string; stream: (name: string) => Readable; onBytes: (n: number) => void },
): Promise<void> {
  for (const [name, { size, sha256 }] of Object.entries(entries)) {
    if (entryOffsets.get(name)?.size !== size) throw damaged(file, name);
    const hash = createHash('sha256');
    for await (const piece of stream(name) as AsyncIterable<Buffer>) {
      hash.update(piece);
      onBytes(piece.length);
    }
    if (hash.digest('hex') !== sha256) throw damaged(file, name);
  }
}

const damaged = (file: string, where: string) =>
  new CannotStart(`${file} is damaged at ${where}: its hash does not match. Use another backup.`);
