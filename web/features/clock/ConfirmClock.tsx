import type { ClockState } from '../../../contract/clock.ts';
import { useConfirmedChange } from '../../confirmed-change.ts';
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx';
import { counted } from '../../ui/counted.ts';
import { momentText } from '../../ui/time.ts';
import { confirmClock } from './queries.ts';

/** Confirms that the clock is right, so that deletions resume. */
export default function ConfirmClock({ state, onClose }: { state: ClockState; onClose: () => void }) {
  const confirmed = useConfirmedChange({
    change: () => confirmClock(state.now),
    done: () => ({
      message: 'The clock is confirmed, and deletions resume',
      subject: { name: 'clock' },
    }),
    onClose,
  });
  return (
    <ConfirmDialog
      title="Confirm Clock"
      message={
        <>
          Is it {momentText(state.now)}? After a long downtime it may be; otherwise set the clock of the
          server, and deletions resume by themselves.
        </>
      }
      consequences={[
        `${state.releasesDue === 0 ? 'No release' : counted(state.releasesDue, 'release')} in the recycle bin would be permanently deleted within the hour.`,
        'Validations, events and audit entries older than they are kept would go too.',
      ]}
      confirmLabel="The Clock Is Right"
      {...confirmed}
    />
  );
}
