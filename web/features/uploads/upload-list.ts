import { parallelChunks } from '../../../contract/uploads.ts';
import type { Release } from '../../../contract/releases.ts';
import { ApiError, messageOf } from '../../api-error.ts';
import { createPool } from './chunk-queue.ts';
import type { HashFile } from './hash-file.ts';
import { createTransferMeter, unknownPace, type Pace } from './transfer-meter.ts';
import { canContinue, isLost, isRefusal } from './upload-errors.ts';
import {
  goesInChunks,
  runUpload,
  storedBytes,
  type UploadPhase,
  type UploadRecord,
} from './upload-engine.ts';
import { fileOf, isReadable, isSameFile, type ChosenFile } from './upload-file.ts';
import type { UploadRecords } from './upload-records.ts';
import type { BuildFields, Transport } from './upload-transport.ts';

/**
 * `pausing`: the requests in progress are finished. `waiting`: the connection is lost, and the upload resumes by
 * itself. `needs-file`: after a reload, or because the file on this computer changed.
 */
export type UploadStatus =
  'running' | 'pausing' | 'paused' | 'waiting' | 'needs-file' | 'failed' | 'cancelled' | 'done';

/** An upload as the screen shows it. */
export type Upload = Pick<UploadRecord, 'id' | 'owner' | 'fileName' | 'fileSize' | 'fields'> & {
  status: UploadStatus;
  phase: UploadPhase;
  /** Bytes done in this phase. */
  done: number;
  pace: Pace;
  /** Why it stopped. */
  message: string | null;
  /** A notice for the user. */
  note: string | null;
  /** The release, once the upload is done. */
  releaseId: string | null;
  /** The file can be read again after the user grants a permission; else it must be selected again. */
  hasHandle: boolean;
};

export type UploadListParts = {
  transport: Transport;
  hashFile: HashFile;
  records: UploadRecords;
  /** Claims the upload `id` for this page; null when another tab has it. */
  claim: (id: string) => Promise<(() => void) | null>;
  now: () => number;
  onChange: (uploads: readonly Upload[]) => void;
  onDone: (upload: Upload, release: Release) => void;
};

type Entry = {
  record: UploadRecord;
  file: File | null;
  upload: Upload;
  stop: AbortController;
  hold: AbortController;
  /** Bytes that the server keeps. */
  stored: number;
  meter: ReturnType<typeof createTransferMeter>;
  /** Attempts without progress since the connection was lost. */
  attempts: number;
  /** How often the storage lost its chunks. */
  lost: number;
  timer: ReturnType<typeof setTimeout> | undefined;
  /** Gives the claim up. */
  unlock: (() => void) | undefined;
  notifiedAt: number;
};

const firstWait = 2000;
const longestWait = 60_000;
/** A storage that loses an upload again and again would be sent gigabytes for ever. */
const mostLost = 2;
const notifyInterval = 200;
const fileChanged =
  'The file has changed or can no longer be read. Choose it again if it is unchanged, or cancel this upload and start another.';
const mayBeMade = 'The server may have made the release already: look for it before you upload it again.';

/** The uploads of this page: starts, pauses, resumes and cancels them, and reports their progress. */
export function createUploadList(parts: UploadListParts) {
  const { transport, records } = parts;
  const entries = new Map<string, Entry>();
  const claimed = new Set<string>();
  const pool = createPool(parallelChunks);

  const notify = () => parts.onChange([...entries.values()].map((entry) => entry.upload));

  function update(entry: Entry, changes: Partial<Upload>): void {
    entry.upload = { ...entry.upload, ...changes };
    entry.notifiedAt = parts.now();
    notify();
  }

  function keep(entry: Entry, changes: Partial<UploadRecord>): void {
    entry.record = { ...entry.record, ...changes };
    void records.save(entry.record);
  }

  function add(record: UploadRecord, file: File | null, status: UploadStatus): Entry {
    const { id, owner, fileName, fileSize, fields, sha512, handle, hash } = record;
    const entry: Entry = {
      record,
      file,
      stop: new AbortController(),
      hold: new AbortController(),
      stored: 0,
      meter: createTransferMeter(),
      attempts: 0,
      lost: 0,
      timer: undefined,
      unlock: undefined,
      notifiedAt: 0,
      upload: {
        id,
        owner,
        fileName,
        fileSize,
        fields,
        status,
        phase: sha512 ? 'uploading' : 'hashing',
        done: sha512 ? 0 : (hash?.offset ?? 0),
        pace: unknownPace,
        message: null,
        note: null,
        releaseId: null,
        hasHandle: handle !== null,
      },
    };
    claimed.add(id);
    entries.set(id, entry);
    notify();
    return entry;
  }

  /**
   * Starts an upload, and returns its id. `corrected`: the stopped one that these fields are a correction of, which goes
   * on with what the server has of its file.
   */
  function start(
    { file, handle }: ChosenFile,
    fields: BuildFields,
    owner: string,
    corrected?: string,
  ): string {
    const stopped = corrected === undefined ? undefined : entries.get(corrected);
    if (stopped && !isOver(stopped) && isSameFile(file, stopped.record)) {
      keep(stopped, { fields });
      update(stopped, { fields });
      void run(stopped, file);
      return stopped.record.id;
    }
    if (stopped) dismiss(stopped.record.id);
    // not randomUUID, which requires https
    const id = crypto.getRandomValues(new Uint32Array(4)).join('-');
    const record: UploadRecord = {
      id,
      owner,
      handle,
      fields,
      fileName: file.name,
      fileSize: file.size,
      lastModified: file.lastModified,
      chunked: goesInChunks(file.size),
      prepared: null,
      hash: null,
      sha512: null,
    };
    const entry = add(record, file, 'running');
    void records.save(record);
    void parts.claim(id).then((unlock) => (entry.unlock = unlock ?? undefined));
    void run(entry, file);
    return id;
  }

  async function run(entry: Entry, file: File): Promise<void> {
    halt(entry);
    const stop = (entry.stop = new AbortController());
    const hold = (entry.hold = new AbortController());
    const ifRunning =
      <Args extends unknown[]>(tell: (...args: Args) => void) =>
      (...args: Args) => {
        if (!stop.signal.aborted) tell(...args);
      };
    entry.file = file;
    entry.meter.reset();
    update(entry, { status: 'running', message: null, note: null, pace: unknownPace });
    try {
      const release = await runUpload(entry.record, file, {
        transport,
        pool,
        signal: stop.signal,
        hold: hold.signal,
        hashFile: parts.hashFile,
        onRecord: ifRunning((changes) => keep(entry, changes)),
        onNote: ifRunning((note) => update(entry, { note })),
        onStored: ifRunning((bytes) => {
          entry.stored = bytes;
        }),
        onProgress: ifRunning((phase, done) => progress(entry, phase, done)),
      });
      if (!stop.signal.aborted) finish(entry, release);
    } catch (error) {
      if (stop.signal.aborted) return;
      if (hold.signal.aborted) stopNow(entry, null);
      else await fail(entry, file, error);
    }
  }

  function progress(entry: Entry, phase: UploadPhase, done: number): void {
    const { upload, record } = entry;
    const began = upload.phase !== phase;
    if (began) entry.meter.reset();
    if (phase === upload.phase && done > upload.done) entry.attempts = 0;
    // Stored immediately for the computation, but published at intervals for the screen.
    entry.upload = { ...upload, phase, done };
    const at = parts.now();
    if (!began && at - entry.notifiedAt < notifyInterval && done < record.fileSize) return;
    update(entry, { pace: entry.meter.pace(at, done, record.fileSize) });
  }

  function finish(entry: Entry, release: Release): void {
    update(entry, {
      status: 'done',
      done: entry.record.fileSize,
      pace: unknownPace,
      message: null,
      releaseId: release.id,
    });
    forget(entry);
    parts.onDone(entry.upload, release);
  }

  async function fail(entry: Entry, file: File, error: unknown): Promise<void> {
    const message = messageOf(error, 'Upload failed');
    const { signal } = entry.stop;
    const readable = await isReadable(file);
    if (signal.aborted) return;
    const still = { ...standstill(entry), message };
    // it was refused: nothing becomes a release
    if (still.phase === 'finishing' && !canContinue(error)) still.phase = 'uploading';
    if (!readable) {
      update(entry, { ...still, status: 'needs-file', message: fileChanged });
    } else if (error instanceof ApiError && error.status === 401) {
      update(entry, { ...still, status: 'paused' });
    } else if (entry.record.chunked && canContinue(error) && !(isLost(error) && ++entry.lost > mostLost)) {
      update(entry, { ...still, status: 'waiting' });
      const wait = Math.min(longestWait, firstWait * 2 ** entry.attempts++);
      entry.timer = setTimeout(() => void run(entry, file), wait);
    } else {
      // a reload would only ask for a file that the server does not accept
      if (isRefusal(error)) void records.remove(entry.record.id);
      const note = still.phase === 'finishing' ? mayBeMade : entry.upload.note;
      update(entry, { ...still, status: 'failed', note });
    }
  }

  /** Partially sent chunks are sent again, so they do not count. */
  const standstill = ({ upload, stored }: Entry) => ({
    pace: unknownPace,
    phase: upload.phase,
    done: upload.phase === 'uploading' ? stored : upload.done,
  });

  /** Aborts the requests in progress, without a notification. */
  function halt(entry: Entry): void {
    clearTimeout(entry.timer);
    entry.stop.abort();
  }

  /** Nothing can be resumed. */
  function forget(entry: Entry): void {
    void records.remove(entry.record.id);
    entry.unlock?.();
    entry.file = null;
  }

  /**
   * The chunks in progress are finished, so that nothing is sent twice. A second call, one with a `message`, or one
   * outside of the chunk phase stops immediately.
   */
  function pause(id: string, message: string | null = null): void {
    const entry = entries.get(id);
    if (!entry || !['running', 'pausing', 'waiting'].includes(entry.upload.status)) return;
    const { status, phase } = entry.upload;
    if (message === null && status === 'running' && phase === 'uploading' && entry.record.chunked) {
      update(entry, { status: 'pausing', pace: unknownPace });
      entry.hold.abort();
    } else stopNow(entry, message);
  }

  function stopNow(entry: Entry, message: string | null): void {
    halt(entry);
    update(entry, { ...standstill(entry), status: 'paused', message });
  }

  /** Resumes, with a file that was selected again if it is the same. Call it from a click handler. */
  async function resume(id: string, chosen?: ChosenFile): Promise<void> {
    const entry = entries.get(id);
    if (!entry || ['running', 'pausing', 'done', 'cancelled'].includes(entry.upload.status)) return;
    const lost = entry.upload.status === 'needs-file';
    const file = chosen?.file ?? (entry.file && !lost ? entry.file : await fileOf(entry.record.handle, true));
    if (file && isSameFile(file, entry.record)) {
      if (chosen?.handle) keep(entry, { handle: chosen.handle });
      void run(entry, file);
      return;
    }
    const name = entry.record.fileName;
    const message = file
      ? `This is not the file that the upload started with. Choose the same, unchanged ${name}, or cancel this upload and start another.`
      : `Choose ${name} again to continue.`;
    update(entry, { status: 'needs-file', message, hasHandle: false });
  }

  function cancel(id: string): void {
    const entry = entries.get(id);
    if (!entry || isOver(entry)) return;
    halt(entry);
    const message = 'Upload cancelled';
    const asFar = entry.upload.phase === 'finishing' ? `${message}. ${mayBeMade}` : message;
    update(entry, { status: 'cancelled', pace: unknownPace, message: asFar });
    forget(entry);
    const { prepared } = entry.record;
    // If this call fails, the server removes the upload by itself later, unless it has made the release.
    if (prepared)
      transport.cancel(prepared.uploadId).then(
        () => update(entry, { message }),
        (error) => {
          const late = messageOf(error);
          if (error instanceof ApiError && error.status === 409) update(entry, { message: late });
          console.warn(late);
        },
      );
  }

  /** Removes it from the screen, and cancels it if it is in progress. */
  function dismiss(id: string): void {
    cancel(id);
    entries.delete(id);
    notify();
  }

  let restoring = Promise.resolve();

  /** Restores the uploads that `owner` left in this browser; concurrent calls wait for the same restore. */
  function restore(owner: string): Promise<void> {
    restoring = restoring.then(() => restoreAll(owner));
    return restoring;
  }

  async function restoreAll(owner: string): Promise<void> {
    const left = (await records.all()).filter((r) => r.owner === owner && !claimed.has(r.id));
    for (const { id } of left) claimed.add(id);
    await Promise.all(left.map(restoreUpload));
    notify();
  }

  async function restoreUpload(record: UploadRecord): Promise<void> {
    const unlock = await parts.claim(record.id);
    if (!unlock) return void claimed.delete(record.id);
    const entry = add(record, null, 'needs-file');
    entry.unlock = unlock;
    const file = await fileOf(record.handle, false);
    if (file && isSameFile(file, record)) void run(entry, file);
    else await learnState(entry);
  }

  /** The progress so far, for a user who has to select the file again; and whether a permission is enough. */
  async function learnState(entry: Entry): Promise<void> {
    const { prepared, fileSize, sha512, fields } = entry.record;
    if (!prepared) return;
    const signal = AbortSignal.timeout(30_000);
    try {
      const state = await transport.state(prepared.uploadId, { signal });
      if (entry.upload.status !== 'needs-file') return;
      if (state.status === 'completed' && sha512)
        return finish(entry, await transport.complete(prepared, fields, sha512, { signal }));
      entry.stored = storedBytes(prepared, fileSize, state.received);
      if (sha512) update(entry, { done: entry.stored });
    } catch (error) {
      console.warn(messageOf(error));
    }
  }

  /** The connection is back, so retries start immediately. */
  function retryWaiting(): void {
    for (const entry of entries.values())
      if (entry.upload.status === 'waiting' && entry.file) void run(entry, entry.file);
  }

  const pauseAll = (message: string) => [...entries.keys()].forEach((id) => pause(id, message));

  return { start, pause, resume, cancel, dismiss, restore, retryWaiting, pauseAll };
}

const isOver = ({ upload }: Entry): boolean => ['done', 'cancelled'].includes(upload.status);
