import type { Tone } from './StatusBadge.tsx';
import classes from './ShareBar.module.css';

/** A percentage as a small bar; its number is next to it. */
export function ShareBar({ percent, tone }: { percent: number; tone: Exclude<Tone, 'neutral' | 'violet'> }) {
  return (
    <span className={classes.track} aria-hidden>
      <span
        className={classes.filled}
        style={{
          width: `${Math.min(100, percent)}%`,
          minWidth: percent > 0 ? 2 : 0,
          color: `var(--ui-${tone}-solid)`,
        }}
      />
    </span>
  );
}
