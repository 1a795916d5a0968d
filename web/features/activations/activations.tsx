import { lazy } from 'react';
import { StatusBadge } from '../../ui/StatusBadge.tsx';
import { usageOf } from './seat-usage.ts';
import classes from './SeatUsage.module.css';

/** Main module of the feature: what other screens show of the machines of a license. */

/** `License Activations`; the screen that opens it says for which license. */
export const ActivationsModal = lazy(() => import('./ActivationsModal.tsx'));

/** Seats in use as a bar and in numbers, in the colors of spec part 1, section 2. */
export function SeatUsage({ used, max }: { used: number; max: number }) {
  const usage = usageOf(used, max);
  return (
    <span className={classes.usage} data-usage={usage}>
      <span className={classes.track} aria-hidden>
        <span className={classes.filled} style={{ width: `${Math.min(100, (used / max) * 100)}%` }} />
      </span>
      <span>
        {used}/{max}
      </span>
      {usage === 'full' && <StatusBadge tone="red">Full</StatusBadge>}
    </span>
  );
}
