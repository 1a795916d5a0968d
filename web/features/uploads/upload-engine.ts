import type { Release } from '../../../contract/releases.ts';
import { directUploadLimit, parallelChunks } from '../../../contract/uploads.ts';
import { ApiError } from '../../api-error.ts';
import { sendChunks, type Pool } from './chunk-queue.ts';
import type { HashFile } from './hash-file.ts';
import type { HashState } from './hash-stream.ts';
import type { BuildFields, NamedFile, PreparedUpload, Transport } from './upload-transport.ts';

/** Everything except the file that is needed to resume an upload after a reload. */
export type UploadRecord = {
  id: string;
  /** User who started it. */
  owner: string;
  fileName: string;
  fileSize: number;
  lastModified: number;
  /** The handle of the file, where the browser supports one. */
  handle: FileSystemFileHandle | null;
  fields: BuildFields;
  chunked: boolean;
  prepared: PreparedUpload | null;
  hash: HashState | null;
  sha512: string | null;
};

export type UploadPhase = 'hashing' | 'uploading' | 'finishing';

/** The signals and callbacks of a run, which may also come after its signal was aborted. */
export type EngineParts = {
  transport: Transport;
  hashFile: HashFile;
  pool: Pool;
  signal: AbortSignal;
  /** A pause: the chunks in progress are finished, and no others start. */
  hold: AbortSignal;
  /** Stores the record for a reload. */
  onRecord: (changes: Partial<UploadRecord>) => void;
  /** Bytes done in this phase. */
  onProgress: (phase: UploadPhase, done: number) => void;
  /** Bytes that the server keeps even if this run fails. */
  onStored: (bytes: number) => void;
  /** A notice for the user while the upload continues. */
  onNote: (text: string) => void;
};

type Run = EngineParts & { record: UploadRecord; file: NamedFile };

/** Files up to the limit are sent in one request, larger ones in chunks (spec part 2, section 4). */
export const goesInChunks = (fileSize: number): boolean => fileSize > directUploadLimit;

/**
 * Uploads `blob` as described by `record`, from where it was interrupted, and returns the release. Throws the error to
 * show, or the reason of `signal` or `hold`.
 */
export async function runUpload(record: UploadRecord, blob: Blob, parts: EngineParts): Promise<Release> {
  const run: Run = { ...parts, record, file: { blob, name: record.fileName } };
  const release = record.chunked ? undefined : await sendDirectly(run);
  return release ?? sendInChunks(run);
}

function keep(run: Run, changes: Partial<UploadRecord>): void {
  run.record = { ...run.record, ...changes };
  run.onRecord(changes);
}

/** Undefined when the server requires chunks instead. */
async function sendDirectly(run: Run): Promise<Release | undefined> {
  const { transport, file, signal } = run;
  const sha512 = await hash(run);
  run.onProgress('uploading', 0);
  try {
    return await transport.direct(file, run.record.fields, sha512, {
      signal,
      // with the last byte, the server may make the release whatever happens here
      onSent: (bytes) =>
        run.onProgress(bytes < file.blob.size ? 'uploading' : 'finishing', Math.min(bytes, file.blob.size)),
    });
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 413)) throw error;
    run.onNote(error.message);
    keep(run, { chunked: true });
    return undefined;
  }
}

async function sendInChunks(run: Run): Promise<Release> {
  const { transport, file, signal } = run;
  const stored = await storedChunks(run);
  const prepared = run.record.prepared ?? (await transport.prepare(file, run.record.fields, { signal }));
  if (!run.record.prepared) keep(run, { prepared });
  const sha512 = await hash(run);
  if (stored !== 'all') await sendMissing(run, prepared, stored);
  run.onProgress('finishing', file.blob.size);
  return transport.complete(prepared, run.record.fields, sha512, { signal });
}

/** What the server has stored of a started upload. One that it has dropped is started again. */
async function storedChunks(run: Run): Promise<ReadonlySet<number> | 'all'> {
  const { prepared } = run.record;
  if (!prepared) return new Set();
  try {
    const state = await run.transport.state(prepared.uploadId, { signal: run.signal });
    return state.status === 'completed' ? 'all' : new Set(state.received);
  } catch (error) {
    // a proxy may say 404 too, of an upload that is there
    if (!(error instanceof ApiError && error.code === 'NOT_FOUND')) throw error;
    keep(run, { prepared: null });
    return new Set();
  }
}

async function hash(run: Run): Promise<string> {
  const { record, file, signal } = run;
  if (record.sha512) return record.sha512;
  run.onProgress('hashing', record.hash?.offset ?? 0);
  const events = {
    onProgress: (hashed: number) => run.onProgress('hashing', hashed),
    onCheckpoint: (state: HashState) => keep(run, { hash: state }),
  };
  const sha512 = await run.hashFile(file.blob, record.hash, events, signal);
  keep(run, { sha512, hash: null });
  return sha512;
}

async function sendMissing(run: Run, prepared: PreparedUpload, stored: ReadonlySet<number>): Promise<void> {
  const { blob } = run.file;
  const { uploadId, chunkSize, totalChunks } = prepared;
  const sizeOf = (index: number) => Math.min(chunkSize, blob.size - index * chunkSize);
  const indexes = Array.from({ length: totalChunks }, (_, index) => index);
  const inProgress = new Map<number, number>();
  let done = bytesOf(stored, sizeOf);
  const notify = () =>
    run.onProgress('uploading', done + [...inProgress.values()].reduce((sum, bytes) => sum + bytes, 0));

  const send = async (index: number, signal: AbortSignal) => {
    signal.throwIfAborted();
    // it may have waited in the pool for a long time
    run.hold.throwIfAborted();
    const start = index * chunkSize;
    try {
      await run.transport.chunk(uploadId, index, blob.slice(start, start + chunkSize), {
        signal,
        onSent(bytes) {
          inProgress.set(index, Math.min(bytes, sizeOf(index)));
          notify();
        },
      });
      done += sizeOf(index);
      run.onStored(done);
    } finally {
      inProgress.delete(index);
      notify();
    }
  };

  run.onStored(done);
  notify();
  await sendChunks(
    indexes.filter((index) => !stored.has(index)),
    {
      totalChunks,
      parallel: parallelChunks,
      signal: run.signal,
      hold: run.hold,
      send: (index, signal) => run.pool(() => send(index, signal)),
    },
  );
}

const bytesOf = (stored: Iterable<number>, sizeOf: (index: number) => number): number =>
  [...stored].reduce((sum, index) => sum + sizeOf(index), 0);

/** How many bytes of the file the server has, by its own response. */
export const storedBytes = (
  prepared: PreparedUpload,
  fileSize: number,
  received: readonly number[],
): number =>
  bytesOf(received, (index) => Math.min(prepared.chunkSize, fileSize - index * prepared.chunkSize));
