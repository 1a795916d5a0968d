import { useCallback, useDeferredValue, type ReactNode } from 'react';
import { isDialogOpen } from '../ui/open-dialogs.ts';
import { headingId } from '../ui/heading-id.ts';
import classes from './Layout.module.css';

/**
 * The content of one screen, with a key of its own. It is rendered after the one before has left, in between of what else
 * happens: both at once hold the page for 100 ms.
 *
 * It gets the focus once its heading is there, for the Tab key and for screen readers, which then say its name. They say
 * nothing of an element that had the focus before, so each screen is another one. The first of a page, where Tab begins at
 * the top, does not, and none below a dialog.
 */
export function Screen({ isFirst, children }: { isFirst: boolean; children: ReactNode }) {
  const isNext = useDeferredValue(true, false);
  const focus = useCallback(
    (content: HTMLElement | null) => {
      if (!isFirst && !isDialogOpen()) content?.focus({ preventScroll: true });
    },
    [isFirst],
  );
  // two elements: the first holds the focus meanwhile, which would go to the document, and its title would be said
  const Content = isNext ? 'main' : 'div';
  return (
    <Content
      ref={focus}
      id={isNext ? 'main' : undefined}
      tabIndex={-1}
      aria-labelledby={isNext ? headingId : undefined}
      className={classes.main}
    >
      {isNext && children}
    </Content>
  );
}
