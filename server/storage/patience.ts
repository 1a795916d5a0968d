/** How long a storage may leave us waiting: with it, a call that meets a hung one is answered within ten seconds. */
export const answerWithinMs = 8000;

/** A storage that was asked did not answer in time. */
export class NoAnswer extends Error {
  constructor(ms: number) {
    super(`It did not answer within ${ms / 1000} seconds`);
  }
}

/**
 * Counts the time in which somebody else is waited for, and only that: `wait` begins anew, `rest` stops. When it lasts
 * longer than `ms`, or `giveUp` is called, `givenUp` rejects and the signal is aborted.
 */
export function createPatience(ms: number) {
  const abort = new AbortController();
  let reject: (error: Error) => void;
  const givenUp = new Promise<never>((_, rejectIt) => (reject = rejectIt));
  // that nobody waits any more is no error
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

/** What `work` gives, or NoAnswer where that takes longer than `ms`; its signal is aborted then. */
export async function within<T>(ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const { signal, givenUp, wait, rest } = createPatience(ms);
  wait();
  try {
    return await Promise.race([work(signal), givenUp]);
  } finally {
    rest();
  }
}
