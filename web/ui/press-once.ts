import type { KeyboardEvent, MouseEvent } from 'react';

/** Props of a button that changes something at once: neither a double click nor a held key does it again. */
export const pressOnce = (run: () => void) => ({
  onKeyDown: (event: KeyboardEvent) => event.repeat && event.preventDefault(),
  onClick: (event: MouseEvent) => event.detail < 2 && run(),
});
