import { useEffect, type RefObject } from 'react';

/** Sets `data-scrolls-on` on a scrolling box while there is more content to the right. */
export function useScrollsOn(box: RefObject<HTMLElement | null>): void {
  // After every render, because the box is mounted with its content.
  useEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    const mark = () => {
      const left = element.scrollWidth - element.clientWidth - element.scrollLeft;
      element.toggleAttribute('data-scrolls-on', left > 1);
    };
    const sizes = new ResizeObserver(mark);
    sizes.observe(element);
    if (element.firstElementChild) sizes.observe(element.firstElementChild);
    element.addEventListener('scroll', mark, { passive: true });
    return () => {
      sizes.disconnect();
      element.removeEventListener('scroll', mark);
    };
  });
}
