import { flushSync } from 'react-dom';

/**
 * Adds to a list of fields in a form, or removes from it. Where the pressed button is gone then, the focus goes to the
 * last button of the list (`data-fields`) that is left, and not to the start of the dialog.
 */
export function changeInPlace(change: () => void): void {
  const list = document.activeElement?.closest('[data-fields]');
  flushSync(change);
  if (document.activeElement?.matches('button:enabled')) return;
  [...(list?.querySelectorAll<HTMLElement>('button:enabled') ?? [])].at(-1)?.focus();
}
