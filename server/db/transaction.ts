import { isFailure, type Failure } from '../failure.ts';
import type { Db, Tx } from './client.ts';
import { transact, type Signals } from './signals.ts';

/** Carries a Failure out of a transaction, so that it rolls back. */
class RolledBack extends Error {
  readonly failure: Failure;
  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }
}

/** Runs `work` as `transact` does; a Failure that it returns rolls back all that it did. */
export async function transactOrFail<T>(
  { db, signals }: { db: Db; signals?: Pick<Signals, 'drop'> },
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
