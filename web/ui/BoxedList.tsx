import type { ReactNode } from 'react';
import classes from './BoxedList.module.css';

/** A list of many records in a dialog, in a box that scrolls. */
export function BoxedList({ label, children }: { label: string; children: ReactNode }) {
  return (
    <ul className={classes.list} tabIndex={0} aria-label={label}>
      {children}
    </ul>
  );
}
