import type { KeyHelp } from './row-actions.ts';

/** A list on the screen that takes keys. */
export type KeyList = {
  label: string;
  element: HTMLElement;
  /** Does what the key means in the list; false where it means nothing. */
  press: (key: string) => boolean;
  /** Its keys now: those of its rows depend on what may be done with them. */
  help: () => KeyHelp[];
};

const lists = new Set<KeyList>();
let used: KeyList | undefined;

/** Registers a list while it is on the screen; returns a function that removes it. */
export function addKeyList(list: KeyList): () => void {
  lists.add(list);
  return () => void lists.delete(list);
}

/** Sends a key to the list with the focus, else to the one used last, else to the first on the screen. */
export function pressInList(key: string): boolean {
  const all = inDocumentOrder();
  const focused = all.find(({ element }) => element.contains(document.activeElement));
  const list = focused ?? all.find((one) => one === used) ?? all[0];
  if (!list?.press(key)) return false;
  used = list;
  return true;
}

/** The lists on the screen with their keys, for the help. */
export const listHelp = (): { label: string; keys: KeyHelp[] }[] =>
  inDocumentOrder().map(({ label, help }) => ({ label, keys: help() }));

const inDocumentOrder = (): KeyList[] =>
  [...lists].toSorted((a, b) =>
    a.element.compareDocumentPosition(b.element) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1,
  );
