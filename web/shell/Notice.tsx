import type { ReactNode } from 'react';
import { toneColors } from '../ui/StatusBadge.tsx';
import classes from './Notices.module.css';

/** One line above every screen: a message and its actions. */
export function Notice(props: {
  tone: 'amber' | 'orange' | 'violet';
  children: ReactNode;
  action: ReactNode;
}) {
  return (
    <div role="status" className={classes.notice} style={toneColors(props.tone)}>
      <span className={classes.text}>{props.children}</span>
      {props.action}
    </div>
  );
}
