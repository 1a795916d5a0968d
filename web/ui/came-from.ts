import { useLocation } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { historyPlace } from './history-entry.ts';

type Visit = { path: string; title: string };

/** The screens of this tab by their place in the history; none from before a reload. */
const visits: (Visit | undefined)[] = [];

/**
 * Records that the user is on the screen with this title; undefined: that they are on none that leads back here. A screen
 * is mounted again for each path.
 */
export function useVisit(title: string | undefined): void {
  const [path] = useState(() => window.location.pathname);
  // also where a filter renders only a part of the screen again
  useLocation({ select: ({ href }) => href });
  useEffect(() => {
    // not while the next screen is loading
    if (window.location.pathname === path)
      visits[historyPlace()] = title === undefined ? undefined : { path, title };
  });
}

/** The next user did not come from the screens of this one, and may not see them. */
export const forgetVisits = (): void => void (visits.length = 0);

/** The screen from which the user came to this one, and the steps of the history to it (negative). */
export function cameFrom(): (Visit & { steps: number }) | undefined {
  const now = historyPlace();
  for (let at = now - 1; visits[at]; at--) {
    const visit = visits[at];
    if (visit && visit.path !== window.location.pathname) return { ...visit, steps: at - now };
  }
  return undefined;
}
