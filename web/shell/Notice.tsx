import type { ReactNode } from 'react';
import classes from './Notices.module.css';

/** One line above every screen: what it says, and what leads out of it. */
export function Notice(props: {
  tone: 'amber' | 'orange' | 'violet';
  children: ReactNode;
  action: ReactNode;
}) {
  return (
    <div role="status" className={classes.notice} data-tone={props.tone}>
      <span className={classes.text}>{props.children}</span>
      {props.action}
    </div>
  );
}
