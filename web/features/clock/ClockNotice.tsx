import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { lazy } from 'react';
import type { ClockState } from '../../../contract/clock.ts';
import { useKept } from '../../kept-work.ts';
import { useAuth } from '../../session.tsx';
import { Notice } from '../../shell/Notice.tsx';
import { LazyDialogs } from '../../ui/LazyDialogs.tsx';
import { momentText } from '../../ui/time.ts';
import { clockQuery } from './queries.ts';

const ConfirmClock = lazy(() => import('./ConfirmClock.tsx'));

/** Shown above every screen to users who can confirm the clock: deletions are paused until they do. */
export default function ClockNotice() {
  const { hasPermission } = useAuth();
  const { data } = useQuery({ ...clockQuery, enabled: hasPermission('audit', 'delete') });
  const [asked, setAsked] = useKept<ClockState>('open: confirm clock');
  return (
    <>
      {data?.newest && (
        <Notice
          tone="orange"
          action={
            <Button variant="default" size="compact-xs" onClick={() => setAsked(data)}>
              Confirm clock
            </Button>
          }
        >
          <strong>Permanent deletion is paused:</strong> the clock of the server says {momentText(data.now)},
          and the database last saw {momentText(data.newest)}. Set the clock right, or confirm it.
        </Notice>
      )}
      <LazyDialogs>{asked && <ConfirmClock state={asked} onClose={() => setAsked(undefined)} />}</LazyDialogs>
    </>
  );
}
