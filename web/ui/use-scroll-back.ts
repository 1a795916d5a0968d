import { useElementScrollRestoration } from '@tanstack/react-router';
import { useLayoutEffect, useState, type RefObject } from 'react';

/**
 * Whether the user has come back to a list that they scrolled, by Back or a reload: it is scrolled there again. The router
 * does so once, when the screen is rendered, which is before the rows are there.
 *
 * @param label Names the list, as in the attribute of the box that scrolls.
 * @param rows What is in that box.
 */
export function useScrollBack(label: string, rows: RefObject<HTMLElement | null>): boolean {
  const list = useElementScrollRestoration({ id: label });
  // on a phone the page scrolls
  const page = useElementScrollRestoration({ getElement: () => window });
  const [back] = useState({ list, page });
  useLayoutEffect(() => {
    const { scrollX = 0, scrollY = 0 } = back.list ?? {};
    if (scrollX > 0 || scrollY > 0)
      rows.current?.closest('[data-scroll-restoration-id]')?.scrollTo(scrollX, scrollY);
    if (back.page?.scrollY) window.scrollTo(0, back.page.scrollY);
  }, [back, rows]);
  return (back.list ?? back.page) !== undefined;
}
