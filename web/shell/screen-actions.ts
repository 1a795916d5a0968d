/*
 * The command palette presses the buttons beside the title, as single keys press elements with `data-hotkey`: a screen
 * declares what can be done on it only where it renders it.
 */

/** Without those that create something, which the palette has on every screen. */
const pressable = 'button:not(:disabled, [aria-disabled="true"], [data-hotkey]), a[download]';

export type ScreenAction = { label: string; press: () => void };

/** What can be done on the screen now, by the names of its buttons. */
export const screenActions = (): ScreenAction[] =>
  [...document.querySelectorAll<HTMLElement>(`[data-screen-actions] :is(${pressable})`)].map((button) => ({
    label: button.ariaLabel ?? button.textContent,
    press: () => button.click(),
  }));
