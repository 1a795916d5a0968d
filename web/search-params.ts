/*
 * Readers for `validateSearch`: the URL is untrusted input. Invalid values are dropped, so that a screen never fails
 * because of its URL.
 */

import { mostDaysBack } from '../contract/durations.ts';
import { isStorableText, isUuid } from '../contract/text.ts';

type Params = Record<string, unknown>;

/** A reader of search parameters that may each be missing; its result is their type. */
export const searchOf = <Search extends Record<string, string | number | undefined>>(
  read: (params: Params) => Search,
): ((params: Params) => Partial<Search>) => read;

/** Non-empty text that the calls of the service take, cut to `most` characters. */
export function textParam(params: Params, name: string, most = 200): string | undefined {
  const { [name]: given } = params;
  const text = typeof given === 'string' ? given.slice(0, most) : '';
  return text !== '' && isStorableText(text) ? text : undefined;
}

/** The id of a record. */
export function idParam(params: Params, name: string): string | undefined {
  const text = textParam(params, name);
  return text && isUuid(text) ? text : undefined;
}

/** The record of a dialog, which says where there is none. Dots alone would lead to another path of the service. */
export function recordParam(params: Params, name: string): string | undefined {
  const text = textParam(params, name);
  return text && /\w/.test(text) ? text : undefined;
}

/** A page from 2 to the last that the service can be asked for; the first page is omitted. */
export const pageParam = (params: Params, name = 'page', { pageSize, mostSkipped } = endless) =>
  wholeParam(params, name, 2, mostSkipped / pageSize + 1);

const endless = { pageSize: 1, mostSkipped: 99_999 };

/** A number of days to go back, as text. */
export const daysParam = (params: Params, name: string) =>
  wholeParam(params, name, 1, mostDaysBack)?.toString();

/** A whole number within these limits. */
export function wholeParam(params: Params, name: string, least: number, most: number): number | undefined {
  const number = Number(params[name]);
  return Number.isInteger(number) && number >= least && number <= most ? number : undefined;
}

/** One of the words that are known. */
export const wordParam = <const T extends string>(params: Params, name: string, known: readonly T[]) =>
  oneOf(known, textParam(params, name));

/** `value` when it is one of `known`. */
export function oneOf<const T extends string>(known: readonly T[], value: string | undefined): T | undefined {
  return known.find((one) => one === value);
}

export type SearchEffects = Partial<Record<'dialogs' | 'typed' | 'tabs', readonly string[]>> & {
  inRecord?: boolean;
};

/**
 * How a change of search parameters affects the page of the list and the history. `dialogs` are the parameters of the
 * open dialog, `typed` those that the user types, `tabs` those that replace the list; `inRecord`: the lists are parts of
 * the page of a record.
 *
 * Another filter or order starts at the first page again. Back undoes a filter and closes a dialog; single keystrokes,
 * a dialog opened from another, and closing a dialog add no history entry. Other rows are shown from the top of their
 * list; neither a dialog nor a list in a record moves what is around it.
 */
export function effectOf(
  now: Params,
  changes: Params,
  { dialogs = [], typed = ['search'], tabs = [], inRecord = false }: SearchEffects,
): { staysOnPage: boolean; replace: boolean; closes: boolean; resetScroll: boolean } {
  const changed = Object.keys(changes);
  const isOfDialogs = changed.every((name) => dialogs.includes(name));
  const wasOpen = dialogs.some((name) => now[name]);
  const opens = dialogs.some((name) => changes[name]);
  return {
    staysOnPage: isOfDialogs || changed.some((name) => name === 'page' || tabs.includes(name)),
    replace: (isOfDialogs && (wasOpen || !opens)) || changed.every((name) => typed.includes(name)),
    closes: isOfDialogs && !opens,
    resetScroll: !isOfDialogs && !inRecord,
  };
}
