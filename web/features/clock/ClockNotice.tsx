import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { lazy } from 'react';
import type { ClockState } from '../../../contract/clock.ts';
import { useKept } from '../../kept-work.ts';
import { useAuth } from '../../session.tsx';
import { Notice } from '../../shell/Notice.tsx';
import { noticesQuery } from '../../shell/notices-query.ts';
import { LazyDialogs } from '../../ui/LazyDialogs.tsx';
import { momentText } from '../../ui/time.ts';

const ConfirmClock = lazy(() => import('./ConfirmClock.tsx'));

/** Shown above every screen to users who can confirm the clock: deletions are paused until they do. */
export function ClockNotice() {
  const { hasPermission } = useAuth();
  const { data } = useQuery(noticesQuery);
  const clock = hasPermission('audit', 'delete') ? data?.clock : null;
  const [asked, setAsked] = useKept<ClockState>('open: confirm clock');
  return (
    <>
      {clock?.newest && (
        <Notice
          tone="orange"
          action={
            <Button variant="default" size="compact-xs" onClick={() => setAsked(clock)}>
              Confirm clock
            </Button>
          }
        >
          <strong>Permanent deletion is paused:</strong> the clock of the server says {momentText(clock.now)},
          and the database last saw {momentText(clock.newest)}. Set the clock right, or confirm it.
        </Notice>
      )}
      <LazyDialogs>{asked && <ConfirmClock state={asked} onClose={() => setAsked(undefined)} />}</LazyDialogs>
    </>
  );
}
