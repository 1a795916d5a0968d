import { createHash } from 'node:crypto';
import { open, type FileHandle } from 'node:fs/promises';
import { directForm } from '../../contract/direct-form.ts';
import type { Release } from '../../contract/releases.ts';
import { directUploadLimit, uploads } from '../../contract/uploads.ts';
import { callsOf, Refusal, type Calls, type Sending } from './calls.ts';
import { sendChunks } from './chunks.ts';
import type { Options } from './options.ts';

/** `onSent` gets the bytes sent so far, without those to be sent again. */
type Watch = { onSent?: (sent: number, total: number) => void; signal?: AbortSignal };

/**
 * Uploads the file as a release: in one request up to 20 MB, else, or where that is too large, in chunks (spec part 2,
 * section 4). On failure, throws an error with a message for the user, and leaves nothing on the server.
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
    const whole = stats.size <= directUploadLimit ? await sendDirect(file, options, calls) : undefined;
    return whole ?? (await sendChunked(file, stats.size, options, calls, sending));
  } catch (error) {
    if (watch.signal?.aborted) throw new Error('Upload cancelled', { cause: error });
    throw error;
  } finally {
    await file.close();
  }
}

function sendingOf(total: number, { onSent, signal = new AbortController().signal }: Watch): Sending {
  let sent = 0;
  return {
    signal,
    count(bytes) {
      sent += bytes;
      onSent?.(Math.min(sent, total), total);
    },
  };
}

/** Undefined if a proxy on the way takes no request of this size (413). */
async function sendDirect(
  file: FileHandle,
  { fileName, fields }: Options,
  calls: Calls,
): Promise<Release | undefined> {
  const bytes = await file.readFile();
  const sha512 = createHash('sha512').update(bytes).digest('base64');
  const form = directForm(new Blob([new Uint8Array(bytes)]), fileName, fields, sha512);
  return calls.form(uploads.direct, form).catch((error: unknown) => {
    if (!(error instanceof Refusal) || error.status !== 413) throw error;
    return undefined;
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
  const prepared = await calls.json(uploads.prepare, {
    body: { fileName, fileSize, version, channel, platform, architecture },
  });
  const { uploadId, fileKey, totalChunks } = prepared;
  try {
    const sha512 = await sendChunks(file, fileSize, prepared, calls, sending);
    const body = { uploadId, fileKey, totalChunks, sha512, ...fields };
    return await withRetry(() => calls.json(uploads.complete, { body }), sending.signal);
  } catch (error) {
    await calls.cancel(uploadId);
    throw error;
  }
}

/** Retries once, which is safe for the completion of an upload, in case the response was lost. */
async function withRetry<T>(attempt: () => Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    return await attempt();
  } catch (error) {
    if (signal.aborted || (error instanceof Refusal && error.isFinal)) throw error;
    return attempt();
  }
}
