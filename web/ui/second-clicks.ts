import { useEffect } from 'react';

/** The control that a click presses; that of a label is its field. */
function controlOf({ target }: MouseEvent): Element | null {
  const found =
    target instanceof Element
      ? target.closest('a, button, label, input, select, textarea, [role="option"], [role="menuitem"]')
      : null;
  return found instanceof HTMLLabelElement ? (found.control ?? found) : found;
}

/**
 * While mounted, a double click presses only the control that got its first click. The page may have moved since: a list
 * grows above the button that adds to it, and what is there now was not meant.
 */
export function useSecondClicks(): void {
  useEffect(() => {
    let first: Element | null = null;
    const onClick = (event: MouseEvent) => {
      // a key, or the click that a label hands on to its field
      if (event.detail === 0) return;
      const control = controlOf(event);
      if (event.detail === 1) first = control;
      else if (control && control !== first) {
        event.preventDefault();
        event.stopImmediatePropagation();
      }
    };
    document.addEventListener('click', onClick, { capture: true });
    return () => document.removeEventListener('click', onClick, { capture: true });
  }, []);
}
