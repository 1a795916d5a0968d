import { ApiError } from '../../api-error.ts';
import { isFinal } from './upload-errors.ts';

/** Limits the number of concurrent jobs; the others wait in first-in, first-out order. */
export type Pool = <T>(job: () => Promise<T>) => Promise<T>;

/** One pool for all uploads: more connections would only block other screens. */
export function createPool(size: number): Pool {
  let free = size;
  const waiting: (() => void)[] = [];
  return async (job) => {
    if (free > 0) free--;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await job();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free++;
    }
  };
}

type Queue = {
  totalChunks: number;
  parallel: number;
  send: (index: number, signal: AbortSignal) => Promise<void>;
  signal: AbortSignal;
  /** No chunk starts after this is aborted; those in progress are finished. */
  hold: AbortSignal;
};

/**
 * Sends the chunks `missing`, several in parallel, and retries failed ones once at the end. Throws `Failed to upload
 * chunk {n}/{total}` when a retry fails, when the server rejects a chunk permanently, or when all requests fail; throws
 * the reason of `signal` or `hold` when that is aborted. No request is in progress after it has settled.
 */
export async function sendChunks(missing: readonly number[], queue: Queue): Promise<void> {
  const failed = await sendRound(missing, queue);
  const [again] = await sendRound(
    failed.map(({ index }) => index),
    queue,
  );
  if (again) throw chunkError(again, queue.totalChunks);
}

type Failure = { index: number; reason: unknown };

async function sendRound(indexes: readonly number[], queue: Queue): Promise<Failure[]> {
  const stop = new AbortController();
  const signal = AbortSignal.any([queue.signal, stop.signal]);
  const waiting = [...indexes];
  const failed: Failure[] = [];
  let permanent: Failure | undefined;
  let failuresInARow = 0;

  const worker = async () => {
    for (let index = waiting.shift(); index !== undefined; index = waiting.shift()) {
      if (signal.aborted || queue.hold.aborted) return;
      try {
        await queue.send(index, signal);
        failuresInARow = 0;
      } catch (reason) {
        if (signal.aborted || queue.hold.aborted) return;
        failed.push({ index, reason });
        failuresInARow++;
        if (!isFinal(reason) && failuresInARow < 2 * queue.parallel) continue;
        permanent = { index, reason };
        stop.abort();
      }
    }
  };
  await Promise.all(Array.from({ length: queue.parallel }, worker));
  queue.signal.throwIfAborted();
  queue.hold.throwIfAborted();
  if (permanent) throw chunkError(permanent, queue.totalChunks);
  return failed;
}

function chunkError({ index, reason }: Failure, totalChunks: number): ApiError {
  const message = `Failed to upload chunk ${index + 1}/${totalChunks}`;
  if (!(reason instanceof ApiError)) return new ApiError(0, message);
  const { status, sentence, code, details, requestId } = reason;
  return new ApiError(status, sentence ? `${message}\n${sentence}` : message, {
    ...(code && { code }),
    ...(requestId && { requestId }),
    details: [...details],
  });
}
