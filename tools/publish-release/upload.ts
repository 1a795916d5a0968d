import { createHash, randomUUID } from 'node:crypto';
import { open, type FileHandle } from 'node:fs/promises';
import { directForm } from '../../contract/direct-form.ts';
import type { Release } from '../../contract/releases.ts';
import { directUploadLimit, uploads } from '../../contract/uploads.ts';
import { callsOf, mostAttempts, pause, Refusal, whileAway } from './calls.ts';
import type { Calls, Sending, Waiting } from './calls.ts';
import { sendChunks } from './chunks.ts';
import type { Options } from './options.ts';

/** `onSent` gets the bytes sent so far, without those to be sent again; `onWait`, why a call is made again. */
type Watch = {
  onSent?: (sent: number, total: number) => void;
  onWait?: (line: string) => void;
} & Partial<Pick<Sending, 'signal' | 'pauseMs'>>;

/**
 * Uploads the file as a release: in one request up to 20 MB, else, or where that is too large, in chunks (spec part 2,
 * section 4). On failure, throws an error with a message for the user, and leaves nothing on the server, or says so.
 */
export async function publishRelease(options: Options, watch: Watch = {}): Promise<Release> {
  const file = await open(options.file).catch((error: NodeJS.ErrnoException) => {
    throw new Error(`${options.file} cannot be read: ${error.code}`, { cause: error });
  });
  try {
    const stats = await file.stat();
    if (!stats.isFile() || stats.size === 0) throw new Error(`${options.file} is not a file, or is empty.`);
    const sending = sendingOf(stats.size, watch);
    const calls = callsOf(options, sending);
    const whole =
      stats.size <= directUploadLimit ? await sendDirect(file, options, calls, sending) : undefined;
    return whole ?? (await sendChunked(file, stats.size, options, calls, sending));
  } catch (error) {
    if (watch.signal?.aborted && !(error instanceof Unclear))
      throw new Error('Upload cancelled', { cause: error });
    throw error;
  } finally {
    await file.close();
  }
}

function sendingOf(total: number, { onSent, onWait, signal, pauseMs = 3000 }: Watch): Sending {
  let sent = 0;
  return {
    signal: signal ?? new AbortController().signal,
    pauseMs,
    say: (line) => onWait?.(line),
    count(bytes) {
      sent += bytes;
      onSent?.(Math.min(sent, total), total);
    },
  };
}

/** Nobody can say yet whether there will be a release. */
class Unclear extends Error {
  constructor(cause: unknown) {
    const advice = 'look whether the release is there before you publish it again.';
    super(`${(cause as Error).message}\nThe server may have the whole file: ${advice}`, { cause });
  }
}

/** Undefined if a proxy on the way takes no request of this size (413). */
async function sendDirect(
  file: FileHandle,
  { fileName, fields }: Options,
  calls: Calls,
  sending: Sending,
): Promise<Release | undefined> {
  const bytes = await file.readFile();
  const sha512 = createHash('sha512').update(bytes).digest('base64');
  const form = directForm(new Blob([new Uint8Array(bytes)]), fileName, fields, sha512);
  return whileAway(async () => calls.form(uploads.direct, form), sending).catch((error: unknown) => {
    const { status, isSent } = error as Refusal;
    if (status === 413) return undefined;
    // a proxy that has given up, or the answer to a commit that the server itself has not heard of; a full disk (507) has no release
    const isUnanswered = status === undefined || (status >= 500 && status !== 507);
    throw isSent && isUnanswered ? new Unclear(error) : error;
  });
}

async function sendChunked(
  file: FileHandle,
  fileSize: number,
  { fileName, fields }: Options,
  calls: Calls,
  sending: Sending,
): Promise<Release> {
  const { version, channel, platform, architecture } = fields;
  const identity = { fileName, fileSize, version, channel, platform, architecture };
  // so that a repetition prepares no second upload
  const key = { 'idempotency-key': randomUUID() };
  const prepared = await whileAway(async () => calls.json(uploads.prepare, { body: identity }, key), sending);
  const { uploadId, fileKey, totalChunks } = prepared;
  const cancel = () => calls.cancel(uploadId);
  const sha512 = await sendChunks(file, fileSize, prepared, calls, sending).catch(async (error: unknown) => {
    await cancel();
    throw error;
  });
  const body = { uploadId, fileKey, totalChunks, sha512, ...fields };
  return complete(() => calls.json(uploads.complete, { body }), cancel, sending);
}

/**
 * Completes an upload, which may be repeated: its answer may be lost, as at a proxy that waits for a shorter time than
 * the server takes. Since the server has all bytes, the upload is cancelled only after a final refusal or the last
 * attempt; one that cannot be cancelled may still become a release.
 */
async function complete<T>(
  attempt: () => Promise<T>,
  cancel: () => Promise<boolean>,
  waiting: Waiting,
): Promise<T> {
  const { signal } = waiting;
  for (let attempts = 1; ; attempts++) {
    try {
      return await attempt();
    } catch (error) {
      const isFinal = error instanceof Refusal && error.isFinal;
      const isLast = signal.aborted || attempts === mostAttempts;
      if (isFinal || isLast) {
        // the server refused the only call: there is no other one that may still become a release
        const isRefused = isFinal && attempts === 1 && error.status !== 409;
        if ((await cancel()) || isRefused) throw error;
        if (isLast) throw new Unclear(error);
      }
      await pause(error, attempts, waiting);
    }
  }
}
