import { createStore, type Store } from './store.ts';

type Check = () => boolean;

/** Of the dialogs and forms of pages that are open: whether they have what their user would lose. */
const checks = new Set<Check>();
const closed = createStore(0);

/** How many were closed. */
export const closedForms: Store<number> = closed;

export const isInputOpen = (): boolean => [...checks].some((hasInput) => hasInput());

/** Adds a form; returns a function that removes it. */
export function addInput(hasInput: Check): () => void {
  checks.add(hasInput);
  return () => {
    checks.delete(hasInput);
    closed.set(closed.get() + 1);
  };
}
