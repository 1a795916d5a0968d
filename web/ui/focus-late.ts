/**
 * Ref of a form that may appear after its dialog opened: focuses the element with `data-autofocus`, which Mantine does only
 * when the dialog opens. Does nothing if the user has moved the focus meanwhile.
 */
export function focusLate(form: HTMLElement | null): void {
  const { activeElement, body } = document;
  if (form?.closest('[role="dialog"]') && activeElement === body) {
    form.querySelector<HTMLElement>('[data-autofocus]')?.focus({ preventScroll: true });
  }
}
