/*
 * Readers for `validateSearch`: what stands in the address bar is text that anyone may have typed. What makes no
 * sense is dropped, so that a screen never fails because of its address.
 */

type Params = Record<string, unknown>;

/** Text that is not empty. */
export function textParam(params: Params, name: string): string | undefined {
  const value = params[name];
  const text = typeof value === 'number' ? String(value) : value;
  return typeof text === 'string' && text !== '' ? text.slice(0, 200) : undefined;
}

const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** The id of a record. */
export function idParam(params: Params, name: string): string | undefined {
  const text = textParam(params, name);
  return text && uuid.test(text) ? text : undefined;
}

/** A page from 2 on; the first one needs no mention. */
export function pageParam(params: Params): number | undefined {
  const page = Number(params['page']);
  return Number.isInteger(page) && page > 1 && page <= 100_000 ? page : undefined;
}

/** `value` when it is one of `known`. */
export function oneOf<const T extends string>(known: readonly T[], value: string | undefined): T | undefined {
  return known.find((one) => one === value);
}

export type SearchEffects = Partial<Record<'dialogs' | 'typed' | 'tabs', readonly string[]>>;

/**
 * What a change of the address does to the page of the list and to the history. `dialogs` are the parameters that say
 * which dialog is open, `typed` those that a person types, `tabs` those that show something else than the list.
 *
 * Another filter or order starts at the first page again. Back undoes a choice and closes a dialog; it follows no
 * typing letter by letter, goes not through the dialogs that one dialog led to, and opens none again that was closed.
 */
export function effectOf(
  now: Params,
  changes: Params,
  { dialogs = [], typed = ['search'], tabs = [] }: SearchEffects,
): { staysOnPage: boolean; replace: boolean } {
  const changed = Object.keys(changes);
  const isOfDialogs = changed.every((name) => dialogs.includes(name));
  const wasOpen = dialogs.some((name) => now[name]);
  const opens = dialogs.some((name) => changes[name]);
  return {
    staysOnPage: isOfDialogs || changed.some((name) => name === 'page' || tabs.includes(name)),
    replace: (isOfDialogs && (wasOpen || !opens)) || changed.every((name) => typed.includes(name)),
  };
}
