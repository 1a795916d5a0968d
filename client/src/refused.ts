import { messages } from './messages.ts';
import type { Parts } from './parts.ts';
import type { Refused } from './types.ts';

export function refused(code: string, message: string, problem?: string): Refused {
  return { ok: false, code, message, ...(problem === undefined ? {} : { problem }) };
}

export const noKey = (problem: string): Refused =>
  refused('NO_MACHINE_KEY', messages.NO_MACHINE_KEY, problem);

/**
 * Runs work that must not meet a check on its way: the check would keep an answer that this work ends. A folder that
 * takes no lock is read-only, where nothing is kept anyway.
 */
export function unlessBusy<T>({ store, timeoutMs }: Parts, work: () => Promise<T | Refused>) {
  const busy = refused('BUSY', 'Another window of this program is asking the server. Try again.');
  return store.lock(timeoutMs, async (lock) => (lock === 'taken' ? busy : work()));
}
