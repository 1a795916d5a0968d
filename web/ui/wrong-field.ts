/**
 * Focuses the first field of the form that has an error, and scrolls to it: in a long form, or on a phone, it may be far
 * above the button that was pressed. The errors must be rendered.
 */
export function focusWrongField(form: HTMLElement): void {
  const wrong = form.querySelector<HTMLElement>('[aria-invalid="true"], [data-wrong]');
  const field = wrong?.matches('[data-wrong]')
    ? wrong.querySelector<HTMLElement>(':is(button, input:not([type="file"])):enabled')
    : wrong;
  field?.focus({ preventScroll: true });
  field?.scrollIntoView({ block: 'center' });
}
