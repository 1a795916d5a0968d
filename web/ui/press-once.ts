import type { KeyboardEvent, MouseEvent, PointerEvent } from 'react';

/** What the button that was pressed last stood for then. */
let pressed: { button: Element; byKey: boolean; run: () => void } | undefined;

/**
 * Props of a button that changes something at once, or becomes another one: neither a double click nor a held key does it
 * again. Data that arrives between the press and the click may give the button another meaning, such as the next license,
 * or Resume where it was Pause: it does what it stood for when it was pressed.
 */
export const pressOnce = (run: () => void) => {
  const press = (event: PointerEvent | KeyboardEvent, byKey: boolean) => {
    pressed = { button: event.currentTarget, byKey, run };
  };
  return {
    onPointerDown: (event: PointerEvent) => press(event, false),
    onKeyDown: (event: KeyboardEvent) => {
      // Other keys, such as Tab, press no button: a screen reader may click it later without a key.
      if (event.key !== 'Enter' && event.key !== ' ') pressed = undefined;
      else if (event.repeat) event.preventDefault();
      else press(event, true);
    },
    onClick: (event: MouseEvent) => {
      if (event.detail > 1) return;
      const byKey = event.detail === 0;
      const isOfPress = pressed?.button === event.currentTarget && pressed.byKey === byKey;
      const meant = isOfPress ? pressed?.run : run;
      pressed = undefined;
      meant?.();
    },
  };
};
