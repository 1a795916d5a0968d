import { StatusBadge } from '../../ui/StatusBadge.tsx';
import { usageOf } from './seat-usage.ts';
import classes from './SeatUsage.module.css';

/** Seats in use as a bar and as numbers, in the colors of spec part 1, section 2. */
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
