import type { Context } from '../../context.ts';
import type { Tx } from '../../db/client.ts';
import { transact } from '../../db/signals.ts';
import { isFailure, type Failure } from '../../failure.ts';

/** Carries a Failure out of a transaction, so that it rolls back. */
class RolledBack extends Error {
  readonly failure: Failure;
  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }
}

/** Runs `work` in a transaction; a Failure rolls back all that it did. For handlers that cannot be one `change`. */
export async function transactOrFail<T>(
  { db, signals }: Pick<Context, 'db' | 'signals'>,
  work: (tx: Tx) => Promise<T | Failure>,
): Promise<T | Failure> {
  try {
    return await transact(db, signals, async (tx) => {
      const result = await work(tx);
      if (isFailure(result)) throw new RolledBack(result);
      return result;
    });
  } catch (error) {
    if (error instanceof RolledBack) return error.failure;
    throw error;
  }
}
