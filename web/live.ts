import { focusManager } from '@tanstack/react-query';

/** Polling interval of a live query in milliseconds, so that changes appear within half a minute. */
export const every = 15_000;

/** How long a page without keyboard or pointer input counts as in use, in milliseconds. */
const attendedFor = 15 * 60_000;

/**
 * Options of a query for data that changes without the user: rollouts, failures, figures, activations. It polls while
 * the page is in use, however fresh the cache is, and when the user returns. A screen that failed to load waits for
 * Retry instead: the button must not vanish under the pointer.
 */
export const live = {
  refetchInterval: ({ state }: { state: { status: string; data: unknown } }) =>
    state.status === 'error' && state.data === undefined ? (false as const) : every,
  refetchOnWindowFocus: 'always',
} as const;

type Pages = { state: { status: string; data: { pages: readonly unknown[] } | undefined } };

/** The same for pages that are added one after the other: each of them would be asked for again. */
export const liveFirstPage = {
  ...live,
  refetchInterval: (query: Pages) =>
    (query.state.data?.pages.length ?? 0) > 1 ? (false as const) : live.refetchInterval(query),
};

const signs = ['pointermove', 'pointerdown', 'keydown', 'wheel', 'touchstart'] as const;

/**
 * A page that is not in use does not poll, like one in the background: it would keep the session of a user who has left
 * alive.
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
    // initialized, because otherwise the first input on a page would count as a return and refetch everything
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
