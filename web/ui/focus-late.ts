/**
 * Ref of a form that may appear after its dialog opened: focuses the element with `data-autofocus`, which Mantine does only
 * when the dialog opens. Only while the focus is on the page or around the form, where it goes when a skeleton is removed:
 * otherwise the user has moved it.
 */
export function focusLate(form: HTMLElement | null): void {
  if (form?.closest('[role="dialog"]') && document.activeElement?.contains(form)) {
    form.querySelector<HTMLElement>('[data-autofocus]')?.focus({ preventScroll: true });
  }
}
