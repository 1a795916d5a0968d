import { useLayoutEffect, useRef } from 'react';

/** A dialog that is open, or whose code is being loaded. */
export type OpenDialog = { onEscape: () => void };

const open: OpenDialog[] = [];

export const isDialogOpen = (): boolean => open.length > 0;

/** The dialog that takes the input: the one that was opened last. */
export const topDialog = (): OpenDialog | undefined => open.at(-1);

/** Puts a dialog on top of the others; gives back how to take it away. */
export function addDialog(dialog: OpenDialog): () => void {
  open.push(dialog);
  return () => void open.splice(open.indexOf(dialog), 1);
}

/** Counts as open from the first to the last render of the caller. Escape goes to the top dialog alone. */
export function useOpenDialog(onEscape: () => void): void {
  const latest = useRef(onEscape);
  useLayoutEffect(() => {
    latest.current = onEscape;
  });
  useLayoutEffect(() => addDialog({ onEscape: () => latest.current() }), []);
}

/** One listener for all: with one in each dialog, the dialog below closes as well when it has come to the top. */
window.addEventListener(
  'keydown',
  (event) => {
    if (event.key !== 'Escape' || event.isComposing || closesSomethingElse(event.target)) return;
    topDialog()?.onEscape();
  },
  { capture: true },
);

/** The library marks fields whose list of choices is open. */
const closesSomethingElse = (target: EventTarget | null) =>
  target instanceof Element && target.getAttribute('data-mantine-stop-propagation') === 'true';
