/** The dialogs, without the questions about leaving one, and forms of pages that are open. */
const forms: object[] = [];

/** The one that was opened last, in which the user sends changes. */
export const topForm = (): object | undefined => forms.at(-1);

/** Those from which something was sent that is saved, or may be: they are left with other words. */
export const sentFrom = new WeakSet<object>();

/** Adds a form on top; returns a function that removes it, also when it is called twice. */
export function addForm(form: object): () => void {
  forms.push(form);
  return () => {
    const at = forms.indexOf(form);
    if (at >= 0) forms.splice(at, 1);
  };
}
