import { useLocation } from '@tanstack/react-router';
import { paths } from '../../paths.ts';
import { useAuth } from '../../session.tsx';
import { Notice } from '../../shell/Notice.tsx';
import { momentText } from '../../ui/time.ts';
import { useConfirmClock } from './ConfirmClockButton.tsx';

/**
 * Shown above every screen to users who can confirm the clock: deletions are paused until they do. Not on Today, which has
 * a line for it.
 */
export function ClockNotice() {
  const { hasPermission } = useAuth();
  const { clock, button, dialog } = useConfirmClock();
  const isToday = useLocation({ select: ({ pathname }) => pathname === paths.today });
  return (
    <>
      {clock?.newest && !isToday && hasPermission('audit', 'delete') && (
        <Notice tone="orange" action={button}>
          <strong>Permanent deletion is paused:</strong> the clock of the server says {momentText(clock.now)},
          and the database last saw {momentText(clock.newest)}. Set the clock right, or confirm it.
        </Notice>
      )}
      {dialog}
    </>
  );
}
