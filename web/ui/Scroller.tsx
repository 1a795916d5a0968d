import type { ReactNode } from 'react';
import classes from './Scroller.module.css';

/** Scrolls content that is longer than the window, with the scrollbar at the edge and above the build number. */
export function Scroller({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div className={classes.scroller} tabIndex={0} role="region" aria-label={label}>
      {children}
    </div>
  );
}
