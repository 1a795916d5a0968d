import { focusManager } from '@tanstack/react-query';

/** How often a live query asks again, in milliseconds: what happens by itself is seen within half a minute. */
export const every = 15_000;

/** How long a page without a key or pointer counts as attended, in milliseconds. */
const attendedFor = 15 * 60_000;

/**
 * Options of a query of what changes without the person: rollouts, failures, figures, activations. It asks again while
 * somebody is at the page, however fresh the cache is, and when they come back to it. A screen that could not be loaded
 * at all waits for Retry: the button must not vanish under the pointer.
 */
export const live = {
  refetchInterval: ({ state }: { state: { status: string; data: unknown } }) =>
    state.status === 'error' && state.data === undefined ? (false as const) : every,
  refetchOnWindowFocus: 'always',
} as const;

const signs = ['pointermove', 'pointerdown', 'keydown', 'wheel', 'touchstart'] as const;

/**
 * A page that nobody has touched for a while asks nothing by itself, like one in the background: else it would keep
 * the session of a person who has left their desk alive.
 */
export function watchAttendance(): void {
  focusManager.setEventListener((setFocused) => {
    let lastSign = Date.now();
    const decide = () =>
      setFocused(document.visibilityState === 'visible' && Date.now() - lastSign < attendedFor);
    const sign = () => {
      lastSign = Date.now();
      decide();
    };
    // known from the start: else the first touch of a page counted as coming back to it, and asked for everything anew
    decide();
    const timer = setInterval(decide, every);
    for (const name of signs) window.addEventListener(name, sign, { capture: true, passive: true });
    document.addEventListener('visibilitychange', sign);
    return () => {
      clearInterval(timer);
      for (const name of signs) window.removeEventListener(name, sign, { capture: true });
      document.removeEventListener('visibilitychange', sign);
    };
  });
}
