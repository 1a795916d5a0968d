let typed = '';
let stop: (() => void) | undefined;

/** How long keys are held while the code of the palette loads, in milliseconds. Those held reach it later, too. */
const patience = 15_000;

const elsewhere = ['pointerdown', 'focusin'] as const;

/**
 * Holds keys back until the field of the palette has loaded, unless the user goes elsewhere meanwhile, or gives it up by
 * Escape.
 */
export function keepEarlyKeys(giveUp: () => void): void {
  if (stop) return;
  typed = '';
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Escape') {
      end();
      giveUp();
    } else if (event.key.length === 1) typed += event.key;
    else if (event.key === 'Enter') typed += '\n';
    else if (event.key === 'Backspace') typed = typed.slice(0, -1);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const end = () => {
    clearTimeout(timer);
    window.removeEventListener('keydown', onKeyDown, { capture: true });
    for (const event of elsewhere) window.removeEventListener(event, end, { capture: true });
    stop = undefined;
  };
  window.addEventListener('keydown', onKeyDown, { capture: true });
  for (const event of elsewhere) window.addEventListener(event, end, { capture: true });
  const timer = setTimeout(end, patience);
  stop = end;
}

/** Returns the typed text, with a line break for Enter, and stops holding keys. */
export function takeEarlyKeys(): string {
  const text = typed;
  typed = '';
  stop?.();
  return text;
}
