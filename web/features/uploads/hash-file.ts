import { ApiError } from '../../api-error.ts';
import type { HashEvents, HashState } from './hash-stream.ts';
import type { HashOrder, HashReport } from './hash-worker.ts';

export type HashFile = (
  file: Blob,
  from: HashState | null,
  on: HashEvents,
  signal: AbortSignal,
) => Promise<string>;

/** SHA-512 of a file in base64, computed in a worker, so that the page stays responsive. */
export const hashFile: HashFile = (file, from, on, signal) =>
  new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const worker = new Worker(new URL('./hash-worker.ts', import.meta.url), { type: 'module' });
    const end = () => {
      worker.terminate();
      signal.removeEventListener('abort', onAbort);
    };
    const fail = (error: unknown) => {
      end();
      reject(error);
    };
    const onAbort = () => fail(signal.reason);
    signal.addEventListener('abort', onAbort);
    // without a message, the worker could not be loaded
    worker.addEventListener('error', ({ message }) =>
      fail(message ? new Error(message) : new ApiError(0, 'Network error during upload')),
    );
    worker.addEventListener('message', ({ data }: MessageEvent<HashReport>) => {
      if (data.kind === 'progress') on.onProgress(data.hashed);
      else if (data.kind === 'checkpoint') on.onCheckpoint(data.state);
      else if (data.kind === 'failed') fail(new Error(data.message));
      else {
        end();
        resolve(data.sha512);
      }
    });
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- workers have no target origin
    worker.postMessage({ file, from } satisfies HashOrder);
  });
