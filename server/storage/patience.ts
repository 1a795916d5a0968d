/** The timeout of storage requests, chosen so that calls respond within ten seconds if the storage hangs. */
export const answerWithinMs = 8000;

/** The storage did not respond in time. */
export class NoAnswer extends Error {
  constructor(ms: number) {
    super(`It did not answer within ${ms / 1000} seconds`);
  }
}

/**
 * A timeout that counts only the time spent waiting for the storage: `wait` restarts the timer, `rest` stops it. After
 * `ms`, or a call of `giveUp`, `givenUp` rejects and the signal is aborted.
 */
export function createPatience(ms: number) {
  const abort = new AbortController();
  let reject: (error: Error) => void;
  const givenUp = new Promise<never>((_, rejectIt) => (reject = rejectIt));
  // Without a handler, the rejection would be unhandled when the caller has finished.
  givenUp.catch(() => undefined);
  const giveUp = (error: Error) => {
    reject(error);
    abort.abort(error);
  };
  let timer: NodeJS.Timeout | undefined;
  const rest = () => clearTimeout(timer);
  return {
    signal: abort.signal,
    givenUp,
    giveUp,
    wait: () => {
      rest();
      timer = setTimeout(() => giveUp(new NoAnswer(ms)), ms);
    },
    rest,
  };
}
export type Patience = ReturnType<typeof createPatience>;

/** The result of `work`; after `ms` its signal is aborted and NoAnswer is thrown. */
export async function within<T>(ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const { signal, givenUp, wait, rest } = createPatience(ms);
  wait();
  try {
    return await Promise.race([work(signal), givenUp]);
  } finally {
    rest();
  }
}
