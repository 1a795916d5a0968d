import { useEffectEvent, useLayoutEffect } from 'react';
import { createStore, useStore } from './store.ts';

/** A dialog that is open, or whose code is being loaded. */
export type OpenDialog = {
  onEscape: () => void;
  /** Does what a single key means in the dialog; false where it means nothing. */
  press?: (key: string) => boolean;
};

const open: OpenDialog[] = [];
const count = createStore(0);

/** Whether a dialog is open; renders again when that changes. */
export const useIsDialogOpen = (): boolean => useStore(count) > 0;

export const isDialogOpen = (): boolean => open.length > 0;

/** The dialog that was opened last, which gets the input. */
export const topDialog = (): OpenDialog | undefined => open.at(-1);

/** Adds a dialog on top; returns a function that removes it. */
export function addDialog(dialog: OpenDialog): () => void {
  open.push(dialog);
  count.set(open.length);
  return () => {
    open.splice(open.indexOf(dialog), 1);
    count.set(open.length);
  };
}

/** Registers a dialog while the caller is mounted. Escape closes only the top dialog. */
export function useOpenDialog(onEscape: () => void, press: (key: string) => boolean = nothing): void {
  const escaped = useEffectEvent(onEscape);
  const pressed = useEffectEvent(press);
  useLayoutEffect(() => addDialog({ onEscape: escaped, press: pressed }), []);
}

const nothing = () => false;

/**
 * One listener for all: with one per dialog, the same key would also close the dialog below. A key that an input method
 * takes, as the Enter that accepts a word, reaches nobody: it would send the form.
 */
window.addEventListener(
  'keydown',
  (event) => {
    // Safari ends the composition before the key that accepts it, which has this code
    if (event.isComposing || event.keyCode === 229) return event.stopPropagation();
    if (event.key !== 'Escape' || closesSomethingElse(event.target)) return;
    const dialog = topDialog();
    if (!dialog) return;
    // what is below a dialog may still have the focus while it opens, and would close too
    if (event.target instanceof Element && !event.target.closest('[role="dialog"]')) event.stopPropagation();
    dialog.onEscape();
  },
  { capture: true },
);

/** A key that is held down was pressed for what opened the dialog, and its button must not be pressed unread. */
window.addEventListener(
  'keydown',
  (event) => {
    if (event.key !== 'Enter' || !event.repeat || !isDialogOpen()) return;
    if (!(event.target instanceof HTMLTextAreaElement)) event.preventDefault();
  },
  { capture: true },
);

/** A menu; and fields whose list of choices is open, which Mantine marks. */
const closesSomethingElse = (target: EventTarget | null) =>
  target instanceof Element &&
  (target.getAttribute('data-mantine-stop-propagation') === 'true' ||
    target.closest('[role="menu"]') !== null);
