import { useEffect } from 'react';
import { getSession, sessionStore } from '../session-store.ts';

/** A record whose page was opened. */
export type RecentRecord = { to: string; label: string };

const most = 6;

// In memory: the next user could read storage.
let recent: readonly RecentRecord[] = [];
let owner = getSession()?.user.userId;

sessionStore.subscribe(() => {
  const user = getSession()?.user.userId;
  if (user === undefined || user === owner) return;
  recent = [];
  owner = user;
});

/** The records whose pages were opened last in this window, the latest first. */
export const recentRecords = (): readonly RecentRecord[] => recent;

/** Remembers that the page at `to` was opened, once it is known whose page it is. */
export function useRecentRecord(to: string, label: string | undefined): void {
  useEffect(() => {
    if (label) recent = [{ to, label }, ...recent.filter((one) => one.to !== to)].slice(0, most);
  }, [to, label]);
}
