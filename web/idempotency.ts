import { sentFrom, topForm } from './ui/open-forms.ts';

/** For each form, the keys of the requests that have not succeeded yet. Garbage-collected with the form. */
const waiting = new WeakMap<object, Map<string, string>>();

/**
 * The `Idempotency-Key` of a change. The same request from the same dialog or form of a page keeps its key until it
 * has succeeded, so that a retry after a lost response does not apply it twice. Anything else is a new request. `onSent`:
 * the change was made (`done`), or no answer came and it may have been. `form`: that which sends it, where it may not be the
 * one on top any more.
 */
export function idempotencyKey(
  request: string,
  form = topForm(),
): { key: string; onSent: (done?: true) => void } {
  if (!form) return { key: randomKey(), onSent: () => {} };
  const keys = waiting.get(form) ?? new Map<string, string>();
  waiting.set(form, keys);
  const key = keys.get(request) ?? randomKey();
  keys.set(request, key);
  const onSent = (done?: true) => {
    sentFrom.add(form);
    if (done) keys.delete(request);
  };
  return { key, onSent };
}

/** Not `randomUUID`, which requires https. */
const randomKey = (): string => crypto.getRandomValues(new Uint32Array(4)).join('-');
