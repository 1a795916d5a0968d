import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import type { UploadState } from '../../contract/uploads.ts';
import { parallelChunks } from '../../contract/uploads.ts';
import { Refusal, whileAway, type Calls, type Sending } from './calls.ts';

type Prepared = Pick<UploadState, 'uploadId' | 'chunkSize' | 'totalChunks'>;

/**
 * Sends the file in chunks, six at a time, and failed ones again at the end, each up to `mostAttempts` times while server
 * or storage is away. Returns its SHA-512 in base64, computed while the file is read.
 */
export async function sendChunks(
  file: FileHandle,
  fileSize: number,
  { uploadId, chunkSize, totalChunks }: Prepared,
  calls: Calls,
  sending: Sending,
): Promise<string> {
  const hash = createHash('sha512');
  const read = (index: number) => readPart(file, index * chunkSize, fileSize, chunkSize);
  let reading: Promise<unknown> = Promise.resolve();
  const readInOrder = (index: number) => {
    const bytes = reading.then(() => read(index));
    reading = bytes.then((part) => hash.update(part));
    // whoever waits for the bytes is told
    reading.catch(() => undefined);
    return bytes;
  };
  const send = (index: number, bytes: Buffer) => calls.chunk(uploadId, index, bytes);

  const failed = await inParallel(totalChunks, sending.signal, async (index) =>
    send(index, await readInOrder(index)),
  );
  for (const index of failed) {
    sending.signal.throwIfAborted();
    try {
      await whileAway(async () => send(index, await read(index)), sending);
    } catch (error) {
      const message = `Failed to upload chunk ${index + 1}/${totalChunks}`;
      throw new Error(`${message}\n${(error as Error).message}`, { cause: error });
    }
  }
  return hash.digest('base64');
}

/** Runs the jobs by number, several at a time, and returns those to retry. A final refusal stops all. */
async function inParallel(
  count: number,
  signal: AbortSignal,
  job: (index: number) => Promise<void>,
): Promise<number[]> {
  const failed: number[] = [];
  let next = 0;
  let finalError: unknown;
  const worker = async () => {
    while (next < count && finalError === undefined && !signal.aborted) {
      const index = next++;
      try {
        await job(index);
      } catch (error) {
        if (error instanceof Refusal && !error.isFinal) failed.push(index);
        else finalError ??= error;
      }
    }
  };
  await Promise.all(Array.from({ length: parallelChunks }, worker));
  if (finalError !== undefined) throw finalError as Error;
  signal.throwIfAborted();
  return failed;
}

async function readPart(file: FileHandle, from: number, fileSize: number, chunkSize: number) {
  const bytes = Buffer.alloc(Math.min(chunkSize, fileSize - from));
  let filled = 0;
  while (filled < bytes.length) {
    const { bytesRead } = await file.read(bytes, filled, bytes.length - filled, from + filled);
    if (bytesRead === 0) throw new Error('The file was truncated while it was read.');
    filled += bytesRead;
  }
  return bytes;
}
