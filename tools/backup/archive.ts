import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { CannotStart } from '../../server/cannot-start.ts';
import { formatOf, manifestName, manifestOf, sumName, type Manifest } from './manifest.ts';
import { blockBytes, headerOf, paddingOf, readHeader } from './tar.ts';

const firstName = 'lanyard-backup.txt';
const firstText =
  'A backup of Lanyard, with its keys. npm run restore -- FILE puts it into an empty DATA_DIR.\n';

type Entries = Manifest['entries'];

/** An archive that is being written. It has its name only when it is whole. */
export type ArchiveWriter = {
  /** What was written so far. */
  bytes(): number;
  add(name: string, bytes: Buffer | string): Promise<void>;
  /** Throws where the stream does not bring as many bytes as it should. */
  addStream(name: string, size: number, bytes: AsyncIterable<Buffer>): Promise<void>;
  /** Writes the manifest, and gives the file its name. */
  finish(about: Omit<Manifest, 'entries' | 'format'>): Promise<void>;
  /** Removes what was written. */
  abandon(): Promise<void>;
};

/** Begins an archive in `<file>.part`, which only this account may read. Throws CannotStart where there is a file already. */
export async function createArchive(file: string, now: Date): Promise<ArchiveWriter> {
  const part = `${file}.part`;
  for (const [taken, reason] of [
    [file, 'It is not written over: name another file.'],
    [part, 'Another backup writes it, or one was broken off: remove it then.'],
  ])
    if (await stat(taken!).catch(() => undefined))
      throw new CannotStart(`${taken} is there already. ${reason}`);
  const handle = await open(part, 'wx', 0o600).catch((error: Error) => {
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
    await write(headerOf(name, size, now));
    let brought = 0;
    for await (const piece of bytes) {
      brought += piece.length;
      hash.update(piece);
      await write(piece);
    }
    if (brought !== size) throw new Error(`${name} has ${brought} bytes, not ${size}`);
    await write(Buffer.alloc(paddingOf(size)));
    entries[name] = { size, sha256: hash.digest('hex') };
  }

  const add = (name: string, content: Buffer | string) => {
    const bytes = Buffer.from(content as string);
    return addStream(name, bytes.length, Readable.from([bytes]) as AsyncIterable<Buffer>);
  };

  await add(firstName, firstText);
  return {
    bytes: () => at,
    add,
    addStream,
    async finish(about) {
      const manifest: Manifest = { format: formatOf, ...about, entries: { ...entries } };
      const text = JSON.stringify(manifest, undefined, 1);
      await add(manifestName, text);
      await add(sumName, `${entries[manifestName]!.sha256}\n`);
      await write(Buffer.alloc(2 * blockBytes));
      await handle.sync();
      await handle.close();
      await rename(part, file);
      await syncFolder(path.dirname(file));
    },
    async abandon() {
      await handle.close().catch(() => undefined);
      await rm(part, { force: true });
    },
  };
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  await handle.sync();
  await handle.close();
}

/** A whole archive. */
export type Archive = {
  manifest: Manifest;
  /** The names of a folder, sorted. */
  namesIn(folder: string): string[];
  read(name: string): Promise<Buffer>;
  stream(name: string): Readable;
};

/**
 * Opens an archive and compares every byte with the hashes in it. Throws CannotStart, with a sentence, for a file that
 * is none, is cut off, is damaged, or was made by a newer version. `onBytes` hears how many bytes were compared.
 */
export async function openArchive(file: string, onBytes: (bytes: number) => void): Promise<Archive> {
  const handle = await open(file, 'r').catch((error: Error) => {
    throw new CannotStart(`The backup cannot be read: ${error.message}`, { cause: error });
  });
  try {
    const places = await findEntries(handle, file);
    const manifest = await readManifest(handle, places, file);
    const stream = (name: string): Readable => {
      const { start, size } = places.get(name)!;
      return size === 0 ? Readable.from([]) : createReadStream(file, { start, end: start + size - 1 });
    };
    await compare(manifest.entries, places, { file, stream, onBytes });
    const names = [...places.keys()].toSorted();
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

type Places = Map<string, { start: number; size: number }>;

async function findEntries(handle: FileHandle, file: string): Promise<Places> {
  const { size: whole } = await handle.stat();
  const places: Places = new Map();
  for (let at = 0; ;) {
    const block = await readBytes(handle, at, blockBytes);
    const header = readHeader(block);
    if (places.size === 0 && header?.name !== firstName)
      throw new CannotStart(`${file} is no backup that npm run backup made.`);
    if (places.has(sumName) && block.length === blockBytes && block.every((byte) => byte === 0))
      return places;
    const start = at + blockBytes;
    if (block.length < blockBytes || (header && start + header.size > whole))
      throw new CannotStart(`${file} is cut off: its end is missing. Take another backup.`);
    if (!header) throw damaged(file, `byte ${at}`);
    places.set(header.name, { start, size: header.size });
    at = start + header.size + paddingOf(header.size);
  }
}

async function readBytes(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, position);
  return buffer.subarray(0, bytesRead);
}

async function readManifest(handle: FileHandle, places: Places, file: string): Promise<Manifest> {
  const read = async (name: string) => {
    const { start, size } = places.get(name) ?? { start: 0, size: 0 };
    return readBytes(handle, start, size);
  };
  const bytes = await read(manifestName);
  const sum = (await read(sumName)).toString('latin1').trim();
  if (createHash('sha256').update(bytes).digest('hex') !== sum) throw damaged(file, manifestName);
  return manifestOf(bytes.toString('utf8'), file);
}

async function compare(
  entries: Entries,
  places: Places,
  {
    file,
    stream,
    onBytes,
  }: { file: string; stream: (name: string) => Readable; onBytes: (n: number) => void },
): Promise<void> {
  for (const [name, { size, sha256 }] of Object.entries(entries)) {
    if (places.get(name)?.size !== size) throw damaged(file, name);
    const hash = createHash('sha256');
    for await (const piece of stream(name) as AsyncIterable<Buffer>) {
      hash.update(piece);
      onBytes(piece.length);
    }
    if (hash.digest('hex') !== sha256) throw damaged(file, name);
  }
}

const damaged = (file: string, where: string) =>
  new CannotStart(
    `${file} is damaged at ${where}: its bytes are not those of the backup. Take another backup.`,
  );
