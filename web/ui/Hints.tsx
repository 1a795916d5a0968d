import { Tooltip } from '@mantine/core';
import { useEffect, useState } from 'react';

/** The delay of Mantine's tooltips. */
const openDelay = 300;

/**
 * One tooltip for all elements with `data-hint`, for lists with hundreds of them: a component for each one would take a
 * third of the time to render a page. It is not announced, so the elements need an accessible name.
 */
export function Hints() {
  const [target, setTarget] = useState<HTMLElement | null>(null);
  const label = useHintOf(target);

  useEffect(() => {
    let waiting: ReturnType<typeof setTimeout> | undefined;
    let near: HTMLElement | null = null;
    const approach = (event: Event) => {
      const element =
        event.target instanceof Element ? event.target.closest<HTMLElement>('[data-hint]') : null;
      const hinted = event.type === 'focusin' && !element?.matches(':focus-visible') ? null : element;
      if (hinted === near) return;
      near = hinted;
      clearTimeout(waiting);
      setTarget(null);
      if (hinted) waiting = setTimeout(() => setTarget(hinted), event.type === 'focusin' ? 0 : openDelay);
    };
    const hide = (event: Event) => {
      if (event instanceof KeyboardEvent && event.key !== 'Escape') return;
      clearTimeout(waiting);
      setTarget(null);
    };
    const events = { pointerover: approach, focusin: approach, focusout: hide, keydown: hide, scroll: hide };
    for (const [name, listener] of Object.entries(events)) document.addEventListener(name, listener, true);
    return () => {
      clearTimeout(waiting);
      for (const [name, listener] of Object.entries(events))
        document.removeEventListener(name, listener, true);
    };
  }, []);

  return target && <Tooltip target={target} label={label} opened={label !== ''} multiline maw={280} />;
}

/** The current hint of the element: it changes to 'Copied!' under the pointer. */
function useHintOf(target: HTMLElement | null): string {
  const [said, setSaid] = useState<{ by: HTMLElement; text: string }>();
  useEffect(() => {
    if (!target) return;
    const read = () => setSaid({ by: target, text: target.dataset['hint'] ?? '' });
    read();
    const changes = new MutationObserver(read);
    changes.observe(target, { attributes: true, attributeFilter: ['data-hint'] });
    return () => changes.disconnect();
  }, [target]);
  return target !== null && said?.by === target ? said.text : '';
}
