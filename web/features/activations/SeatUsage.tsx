import { countText } from '../../ui/numbers.ts';
import { ShareBar } from '../../ui/ShareBar.tsx';
import { StatusBadge } from '../../ui/StatusBadge.tsx';
import { usageOf } from './seat-usage.ts';
import classes from './SeatUsage.module.css';

const tones = { normal: 'teal', high: 'amber', full: 'red' } as const;

/** Seats in use as a bar and as numbers, in the colors of spec part 1, section 2. */
export function SeatUsage({ used, max }: { used: number; max: number }) {
  const usage = usageOf(used, max);
  return (
    <span className={classes.usage} data-usage={usage}>
      <ShareBar percent={(used / max) * 100} tone={tones[usage]} />
      <span>
        {countText(used)}/{countText(max)}
      </span>
      {usage === 'full' && <StatusBadge tone="red">Full</StatusBadge>}
    </span>
  );
}
