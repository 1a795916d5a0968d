import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import {
  chmod,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  statfs,
  type FileHandle,
} from 'node:fs/promises';
import path from 'node:path';
import { hourMs } from '../../contract/durations.ts';
import { isMissing, missingAsUndefined, syncFolder, withFile, writeWhole } from '../files.ts';
import { fail, isFailure, type Failure } from '../failure.ts';
import { freeBuffers } from './free-buffers.ts';
import {
  isKey,
  notUnfinished,
  storageFull,
  type Storage,
  type StoredThing,
  type Unfinished,
} from './storage.ts';

/** Bytes buffered before a write: network reads are small, and each write takes a trip to the thread pool. */
const gatherBytes = 512 * 1024;
/** Bytes read ahead of a client. */
const readAhead = 512 * 1024;
/** What a chunked upload leaves of the disk, by default that of the database: the smaller of both. */
const keptFree = { bytes: 1e9, share: 0.05 };

const promisedToOthers = fail(
  'STORAGE_FULL',
  'The room that is left in the storage is promised to uploads that are under way. Try again once they have ended.',
);

/**
 * Binaries in a folder: complete ones under their key, others in `incoming/` until an atomic rename. Parts are written
 * at their offset in one file of the final size, so that nothing is copied at the end.
 */
export async function openDisk(folder: string): Promise<Storage> {
  const incoming = path.join(folder, 'incoming');
  const prepare = async () => {
    await mkdir(incoming, { recursive: true, mode: 0o750 });
    await closeToOthers(folder);
  };
  // An unavailable disk does not prevent the start; it is prepared once it is available.
  let isPrepared = await prepare().then(
    () => true,
    () => false,
  );
  const finalPath = (key: string) => path.join(folder, safeName(key));
  const partPath = ({ key, token }: Pick<Unfinished, 'key' | 'token'>) =>
    path.join(incoming, `${safeName(key)}~${safeName(token)}`);

  async function begin(key: string, size: number): Promise<Unfinished | Failure> {
    const unfinished = { key, size, token: randomUUID() };
    const file = partPath(unfinished);
    let begun: Unfinished | Failure = storageFull;
    try {
      begun = await fullAsValue(async () => {
        await withFile(file, 'wx', (handle) => handle.truncate(size));
        // looked at with the file in place, so that of two that begin at once the later one sees both
        const refused = await refusalOf(file, size);
        if (refused) return refused;
        await syncFolder(incoming);
        return unfinished;
      });
      return begun;
    } finally {
      if (isFailure(begun)) await rm(file, { force: true });
    }
  }

  async function refusalOf(file: string, size: number): Promise<Failure | undefined> {
    const promised = await promisedIn(incoming, (await stat(file)).mtimeMs);
    const { bavail, blocks, bsize } = await statfs(incoming);
    const free = bavail * bsize - Math.min(keptFree.bytes, blocks * bsize * keptFree.share);
    if (promised <= free) return undefined;
    return size > free ? storageFull : promisedToOthers;
  }

  /** One part after the other: the next one would take the time that this one sets for that of a write. */
  let asked: Promise<unknown> = Promise.resolve();
  function refusalToGoOn(file: FileHandle, unfinished: Unfinished): Promise<Failure | undefined> {
    const refusal = asked.then(() => askToGoOn(file, unfinished));
    asked = refusal.catch(() => undefined);
    return refusal;
  }

  /** What others no longer counted asks for its room again, before a byte is written into what is kept free. */
  async function askToGoOn(file: FileHandle, unfinished: Unfinished): Promise<Failure | undefined> {
    const { atime, mtime, size, blocks } = await file.stat();
    const now = new Date();
    if (Math.abs(now.getTime() - mtime.getTime()) < hourMs) return undefined;
    await file.utimes(now, now);
    const refused = await refusalOf(partPath(unfinished), size - blocks * 512);
    if (refused) await file.utimes(atime, mtime);
    return refused;
  }

  async function finish(unfinished: Unfinished): Promise<undefined | Failure> {
    const [from, to] = [partPath(unfinished), finalPath(unfinished.key)];
    return fullAsValue(async () => {
      try {
        await withFile(from, 'r+', (file) => file.sync());
        await rename(from, to);
      } catch (error) {
        if (!isMissing(error)) throw error;
        // An earlier call renamed the file, but the process ended before it could respond.
        if ((await sizeOf(to)) !== unfinished.size) return notUnfinished;
      }
      await syncFolder(folder);
      await syncFolder(incoming);
      return undefined;
    });
  }

  async function put(key: string, bytes: AsyncIterable<Buffer>): Promise<number | Failure> {
    const from = partPath({ key, token: randomUUID() });
    let written: number | Failure | undefined;
    try {
      written = await fullAsValue(() =>
        withFile(from, 'wx', async (file) => {
          const size = await writeAll(file, bytes, 0);
          await file.sync();
          return size;
        }),
      );
      if (isFailure(written)) return written;
      await rename(from, finalPath(key));
      await syncFolder(folder);
      return written;
    } finally {
      await rm(from, { force: true });
    }
  }

  return {
    begin,
    finish,
    put,
    writePart: (unfinished, { offset }, bytes, tag) =>
      fullAsValue(async () => {
        const file = await open(partPath(unfinished), 'r+').catch(missingAsUndefined);
        if (!file) return notUnfinished;
        try {
          const refused = await refusalToGoOn(file, unfinished);
          if (refused) return refused;
          await writeAll(file, bytes, offset);
          await file.datasync();
          return tag;
        } finally {
          await file.close();
        }
      }),
    abandon: (unfinished) => rm(partPath(unfinished), { force: true }),
    async fileOf(unfinished) {
      for (const file of [partPath(unfinished), finalPath(unfinished.key)])
        if ((await sizeOf(file)) !== undefined) return file;
      return undefined;
    },
    async read(key, range) {
      const file = await open(finalPath(key), 'r').catch(missingAsUndefined);
      return file && createReadStream('', { fd: file, highWaterMark: readAhead, ...range });
    },
    sizeOf: (key) => sizeOf(finalPath(key)),
    stampOf: (key) =>
      stat(finalPath(key)).then(({ size, mtimeMs }) => `${size} ${mtimeMs}`, missingAsUndefined),
    remove: (key) => rm(finalPath(key), { force: true }),
    list: () => list(folder, incoming),
    async readNote(name) {
      const text = await readFile(path.join(folder, name), 'utf8').catch(missingAsUndefined);
      return text?.trim() || undefined;
    },
    async writeNote(name, text) {
      const draft = path.join(incoming, `${name}~${randomUUID()}`);
      await writeWhole(path.join(folder, name), `${text.trim()}\n`, draft);
    },
    async check() {
      // a disk that was emptied or exchanged lacks it; the folder itself is not made again where it was moved away
      if (isPrepared) await orExists(mkdir(incoming, { mode: 0o750 }).then(() => closeToOthers(folder)));
      else await prepare();
      isPrepared = true;
      await checkWritable(path.join(incoming, '.check'));
    },
    close: () => undefined,
  };
}

const orExists = (made: Promise<void>) =>
  made.catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });

/** Tests with a write: a failed disk may still serve folders from its cache. A full disk counts as usable. */
async function checkWritable(file: string): Promise<void> {
  try {
    await fullAsValue(() => withFile(file, 'w', (handle) => handle.writeFile('.')));
  } finally {
    await rm(file, { force: true });
  }
}

/**
 * Earlier versions made the folder accessible to others; if it is not ours (a network share), or has a setgid bit that
 * systemd lets us change no mode of (`RestrictSUIDSGID=`), its owner decides.
 */
async function closeToOthers(folder: string): Promise<void> {
  const { mode } = await stat(folder);
  if (mode & 0o007)
    await chmod(folder, mode & 0o7770).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPERM') throw error;
    });
}

/**
 * Bytes that unfinished files have been promised and do not take yet. Those that nobody has written to within an hour of
 * `now`, by the clock of the file system, may have been given up: they would refuse all others for a day.
 */
async function promisedIn(incoming: string, now: number): Promise<number> {
  let promised = 0;
  for (const name of await readdir(incoming)) {
    const found = await stat(path.join(incoming, name)).catch(missingAsUndefined);
    if (found && Math.abs(now - found.mtimeMs) < hourMs)
      promised += Math.max(0, found.size - found.blocks * 512);
  }
  return promised;
}

async function* list(folder: string, incoming: string): AsyncIterable<StoredThing> {
  for (const name of (await readdir(folder)).filter(isKey)) {
    const found = await stat(path.join(folder, name)).catch(missingAsUndefined);
    if (found?.isFile()) yield { key: name, modifiedAt: found.mtime, unfinished: undefined };
  }
  for (const name of await readdir(incoming)) {
    const [key = '', token = '', ...rest] = name.split('~');
    if (!isKey(key) || !isKey(token) || rest.length > 0) continue;
    const found = await stat(path.join(incoming, name)).catch(missingAsUndefined);
    if (found?.isFile()) yield { key, modifiedAt: found.mtime, unfinished: { key, token, size: found.size } };
  }
}

/** Writes from `position` and returns how many bytes; if `bytes` fails, buffered data is not written. */
async function writeAll(file: FileHandle, bytes: AsyncIterable<Buffer>, position: number): Promise<number> {
  let at = position;
  let gathered: Buffer[] = [];
  let waiting = 0;
  const flush = async () => {
    const pieces = gathered;
    let rest = pieces;
    [gathered, waiting] = [[], 0];
    while (rest.length > 0) {
      const { bytesWritten } = await file.writev(rest, at);
      at += bytesWritten;
      rest = withoutFirst(rest, bytesWritten);
    }
    freeBuffers(pieces);
  };
  for await (const piece of bytes) {
    gathered.push(piece);
    waiting += piece.length;
    if (waiting >= gatherBytes) await flush();
  }
  await flush();
  return at - position;
}

/** A nearly full disk may accept only part of a write. */
function withoutFirst(pieces: Buffer[], count: number): Buffer[] {
  let skip = count;
  return pieces.flatMap((piece) => {
    const rest = piece.subarray(Math.min(skip, piece.length));
    skip -= piece.length - rest.length;
    return rest.length > 0 ? [rest] : [];
  });
}

/** Defense in depth: the service generates the keys, but no path may ever leave the folder. */
function safeName(name: string): string {
  if (!isKey(name) || name === 'incoming') throw new Error(`Not a storage key: ${name}`);
  return name;
}

async function fullAsValue<T>(work: () => Promise<T>): Promise<T | Failure> {
  try {
    return await work();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOSPC' || code === 'EDQUOT' || code === 'EFBIG') return storageFull;
    throw error;
  }
}

const sizeOf = (file: string) => stat(file).then((found) => found.size, missingAsUndefined);
