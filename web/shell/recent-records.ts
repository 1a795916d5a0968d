import { useMatch } from '@tanstack/react-router';
import { useEffect } from 'react';
import type { Needs } from '../../contract/permissions.ts';
import { getSession, sessionStore } from '../session-store.ts';
import { forgetVisits } from '../ui/came-from.ts';

/** A record whose page was opened, and what its page needs: a role, or the preview of one, may lack it by now. */
type RecentRecord = { to: string; label: string; needs: Needs };

const most = 6;

// In memory: the next user could read storage.
let recent: readonly RecentRecord[] = [];
let owner = getSession()?.user.userId;

sessionStore.subscribe(() => {
  const user = getSession()?.user.userId;
  if (user === undefined || user === owner) return;
  recent = [];
  forgetVisits();
  owner = user;
});

/** The records whose pages were opened last in this window, the latest first. */
export const recentRecords = (): readonly RecentRecord[] => recent;

/** Remembers that this page was opened, once it is known whose page it is. */
export function useRecentRecord(label: string | undefined): void {
  // not the location, which is the next one while this page is still shown
  const { pathname: to, staticData } = useMatch({ strict: false });
  const { needs } = staticData;
  useEffect(() => {
    if (label) recent = [{ to, label, needs }, ...recent.filter((one) => one.to !== to)].slice(0, most);
  }, [to, label, needs]);
}
