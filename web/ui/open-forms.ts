import { createStore, type Store } from './store.ts';

/** Asks whether to leave, and goes on where that is so. */
type Ask = (go: () => void) => void;

/** The dialogs, without the questions about leaving one, and forms of pages that are open. */
const forms: { form: object; hasInput: () => boolean; ask: Ask }[] = [];
const closed = createStore(0);

/** The one that was opened last, in which the user sends changes. */
export const topForm = (): object | undefined => forms.at(-1)?.form;

/** Whether one has what its user would lose. */
export const isInputOpen = (): boolean => forms.some(({ hasInput }) => hasInput());

/** Goes on once the one on top that has what its user would lose was asked about, if there is one. */
export const leaveForms: Ask = (go) => {
  const asked = forms.findLast(({ hasInput }) => hasInput());
  if (asked) asked.ask(go);
  else go();
};

/** How many were closed. */
export const closedForms: Store<number> = closed;

/** Those from which something was sent that is saved, or may be: they are left with other words. */
export const sentFrom = new WeakSet<object>();

/** Which form is the one of that name before, opened again with its input: set by who keeps that. */
export const formsAgain = {
  of: (_name: string): object | undefined => undefined,
  closed: (_name: string, _form: object): void => undefined,
};

/** Adds a form on top; returns a function that removes it. */
export function addForm(form: object, hasInput = () => false, ask: Ask = (go) => go()): () => void {
  const opened = { form, hasInput, ask };
  forms.push(opened);
  return () => {
    forms.splice(forms.indexOf(opened), 1);
    closed.set(closed.get() + 1);
  };
}
