import type { StorageConfig } from '../config.ts';
import { nameOf, notUnfinished, StorageDown, type Storage } from './storage.ts';

/**
 * Opens the configured storage, even if it is unavailable at present: licensing does not need it. The S3 client is
 * loaded only if it is used.
 */
export async function openStorage(config: StorageConfig): Promise<Storage> {
  const storage =
    config.kind === 'disk'
      ? await (await import('./disk.ts')).openDisk(config.folder)
      : (await import('./s3.ts')).openS3(config);
  return withStorageDown(storage, nameOf(config));
}

/** Converts every error of the storage to StorageDown, so that it is not mistaken for an error of the database. */
function withStorageDown(storage: Storage, name: string): Storage {
  const down = (error: unknown) => (error instanceof StorageDown ? error : new StorageDown(name, error));
  const call = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw down(error);
    }
  };
  /** A missing object, by default undefined, is reported only if the storage itself is available. */
  const found = <T>(work: () => Promise<T>, missing?: unknown): Promise<T> =>
    call(async () => {
      const value = await work();
      if (value === missing) await storage.check();
      return value;
    });
  /** Runs `work` with bytes whose own error is passed through. */
  const taking = async <T>(
    bytes: AsyncIterable<Buffer>,
    work: (bytes: AsyncIterable<Buffer>) => Promise<T>,
  ) => {
    let broken: { error: unknown } | undefined;
    async function* watched() {
      try {
        yield* bytes;
      } catch (error) {
        broken = { error };
        throw error;
      }
    }
    try {
      return await work(watched());
    } catch (error) {
      throw broken ? broken.error : down(error);
    }
  };
  const { fileOf, signedUrl } = storage;
  return {
    begin: (key, size) => call(() => storage.begin(key, size)),
    writePart: (unfinished, part, bytes, tag) =>
      taking(bytes, (watched) =>
        found(() => storage.writePart(unfinished, part, watched, tag), notUnfinished),
      ),
    finish: (unfinished, tags) => found(() => storage.finish(unfinished, tags), notUnfinished),
    abandon: (unfinished) => call(() => storage.abandon(unfinished)),
    ...(fileOf ? { fileOf: (unfinished) => found(() => fileOf(unfinished)) } : {}),
    put: (key, bytes) => taking(bytes, (watched) => storage.put(key, watched)),
    read: (key, range) => found(() => storage.read(key, range)),
    sizeOf: (key) => found(() => storage.sizeOf(key)),
    stampOf: (key) => found(() => storage.stampOf(key)),
    remove: (key) => call(() => storage.remove(key)),
    async *list() {
      try {
        yield* storage.list();
      } catch (error) {
        throw down(error);
      }
    },
    readNote: (note) => found(() => storage.readNote(note)),
    writeNote: (note, text) => call(() => storage.writeNote(note, text)),
    check: () => call(() => storage.check()),
    ...(signedUrl ? { signedUrl: (key, headers) => call(() => signedUrl(key, headers)) } : {}),
    close: () => storage.close(),
  };
}
