/**
 * Ref of a form that may appear in a dialog after it opened: focuses what has `data-autofocus`, which the library
 * looks for only when the dialog opens. A person who is elsewhere by then is left alone.
 */
export function focusLate(form: HTMLElement | null): void {
  const { activeElement, body } = document;
  if (form?.closest('[role="dialog"]') && activeElement === body) {
    form.querySelector<HTMLElement>('[data-autofocus]')?.focus({ preventScroll: true });
  }
}
