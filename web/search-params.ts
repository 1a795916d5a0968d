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

/** A page from 2 on; the first one needs no mention. */
export function pageParam(params: Params): number | undefined {
  const page = Number(params['page']);
  return Number.isInteger(page) && page > 1 && page <= 100_000 ? page : undefined;
}

/** `value` when it is one of `known`. */
export function oneOf<const T extends string>(known: readonly T[], value: string | undefined): T | undefined {
  return known.find((one) => one === value);
}
