import { useLayoutEffect, type ReactNode } from 'react';
import { createStore } from '../ui/store.ts';
import { toneColors } from '../ui/StatusBadge.tsx';
import classes from './Notices.module.css';

/** How many notices there are: each decides itself whether it is shown. */
export const noticeCount = createStore(0);

/**
 * One line above every screen: a message and its actions. Only the message is announced. Without `role="status"`, which
 * Orca reads as the status bar of the window: the first one of the page for each.
 */
export function Notice(props: {
  tone: 'amber' | 'orange' | 'violet';
  children: ReactNode;
  action: ReactNode;
}) {
  useLayoutEffect(() => {
    noticeCount.set(noticeCount.get() + 1);
    return () => noticeCount.set(noticeCount.get() - 1);
  }, []);
  return (
    <div data-notice className={classes.notice} style={toneColors(props.tone)}>
      <span className={classes.text} aria-live="polite" aria-atomic>
        {props.children}
      </span>
      {props.action}
    </div>
  );
}
