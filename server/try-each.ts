import { isDatabaseUnreachable } from './db/client.ts';

/**
 * Does `work` for each item: one that fails holds up no other. Throws the first error at the end, so that a job counts as
 * failed; at once where the database cannot be reached, or what `onError` throws.
 */
export async function tryEach<T>(
  items: Iterable<T> | AsyncIterable<T>,
  work: (item: T) => Promise<unknown>,
  onError: (error: unknown, item: T) => unknown,
): Promise<void> {
  const errors: unknown[] = [];
  for await (const item of items) {
    try {
      await work(item);
    } catch (error) {
      if (isDatabaseUnreachable(error)) throw error;
      await onError(error, item);
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
}
