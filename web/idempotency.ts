import { topForm } from './ui/open-forms.ts';

/** For each form, the keys of the requests that have not succeeded yet. Garbage-collected with the form. */
const waiting = new WeakMap<object, Map<string, string>>();

/**
 * The `Idempotency-Key` of a change. The same request from the same dialog or form of a page keeps its key until it
 * has succeeded, so that a retry after a lost response does not apply it twice. Anything else is a new request.
 */
export function idempotencyKey(request: string): { key: string; onSuccess: () => void } {
  const form = topForm();
  if (!form) return { key: randomKey(), onSuccess: () => {} };
  const keys = waiting.get(form) ?? new Map<string, string>();
  waiting.set(form, keys);
  const key = keys.get(request) ?? randomKey();
  keys.set(request, key);
  return { key, onSuccess: () => void keys.delete(request) };
}

/** Not `randomUUID`, which requires https. */
const randomKey = (): string => crypto.getRandomValues(new Uint32Array(4)).join('-');
