import { useEffect, type RefObject } from 'react';

/** Marks a scrolling box with `data-scrolls-on` as long as more of its content lies to the right. */
export function useScrollsOn(box: RefObject<HTMLElement | null>): void {
  // After every render: the box comes and goes with what is in it.
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
