let typed = '';
let stop: (() => void) | undefined;

/** The code of the palette may take this long to come, in milliseconds; afterwards keys are nobody's again. */
const patience = 5000;

/** What is typed from now on waits for the field of the palette, which comes later, and does nothing else. */
export function keepEarlyKeys(): void {
  if (stop) return;
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key.length === 1) typed += event.key;
    else if (event.key === 'Backspace') typed = typed.slice(0, -1);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  window.addEventListener('keydown', onKeyDown, { capture: true });
  const timer = setTimeout(takeEarlyKeys, patience);
  stop = () => {
    clearTimeout(timer);
    window.removeEventListener('keydown', onKeyDown, { capture: true });
  };
}

/** Hands over what was typed, and lets keys go where they belong. */
export function takeEarlyKeys(): string {
  const text = typed;
  typed = '';
  stop?.();
  stop = undefined;
  return text;
}
