import { ApiError } from '../../api-error.ts';

/** Runs at most so many jobs at a time; the others wait in the order in which they came. */
export type Pool = <T>(job: () => Promise<T>) => Promise<T>;

/** One pool for all uploads: more connections than that would only keep other screens waiting. */
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
  /** No chunk begins any more once this is aborted; those under way go to their end. */
  hold: AbortSignal;
};

/**
 * Sends the chunks `missing`, several at a time, and those that failed once more at the end. Throws
 * `Failed to upload chunk {n}/{total}` when one fails again, when the server refuses one for good, or when nothing
 * gets through any more; throws the reason of `signal` or `hold` when that is aborted. Nothing is under way after it ended.
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
  let hopeless: Failure | undefined;
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
        if (!isRefusal(reason) && failuresInARow < 2 * queue.parallel) continue;
        hopeless = { index, reason };
        stop.abort();
      }
    }
  };
  await Promise.all(Array.from({ length: queue.parallel }, worker));
  queue.signal.throwIfAborted();
  queue.hold.throwIfAborted();
  if (hopeless) throw chunkError(hopeless, queue.totalChunks);
  return failed;
}

/** What the server has decided does not change by being sent again. */
function isRefusal(reason: unknown): boolean {
  if (!(reason instanceof ApiError)) return false;
  const { status } = reason;
  return status === 507 || (status >= 400 && status < 500 && status !== 408 && status !== 429);
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
