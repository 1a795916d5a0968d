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
    // of the press: the control may move away before the mouse is released
    const onPress = (event: MouseEvent) => {
      if (event.detail === 1) first = controlOf(event);
    };
    const onClick = (event: MouseEvent) => {
      const control = controlOf(event);
      // 0: a key, or the click that a label hands on to its field
      if (event.detail < 2 || !first || !control || control === first) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      // whoever goes on means it
      first = control;
    };
    document.addEventListener('mousedown', onPress, { capture: true });
    document.addEventListener('click', onClick, { capture: true });
    return () => {
      document.removeEventListener('mousedown', onPress, { capture: true });
      document.removeEventListener('click', onClick, { capture: true });
    };
  }, []);
}
