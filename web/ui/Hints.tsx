import { useEffect, useState } from 'react';
import { Late } from './Late.tsx';
import { lazyPart } from './lazy-part.ts';

const Tooltip = lazyPart(async () => ({ default: (await import('./floating.tsx')).Tooltip }));

/** The delay of Mantine's tooltips. */
const openDelay = 300;

/** In pixels. A long text is wider than high. */
const widthOf = ({ length }: string) => (length > 120 ? 480 : 280);

/** Letters that are shown: more would cover the list. The page or form of the record has all of a text. */
const mostLetters = 600;
const shortened = (text: string) => (text.length > mostLetters ? `${text.slice(0, mostLetters)}…` : text);

/**
 * One tooltip for all elements with `data-hint`, for lists with hundreds of them: a component for each one would take a
 * third of the time to render a page. It is not announced, so the elements need an accessible name. It also shows
 * what an ellipsis cuts.
 */
export function Hints() {
  const [target, setTarget] = useState<HTMLElement | null>(null);
  const label = useHintOf(target);

  useEffect(() => {
    let waiting: ReturnType<typeof setTimeout> | undefined;
    let near: HTMLElement | null = null;
    let isByFocus = false;
    let shown: HTMLElement | null = null;
    const show = (hinted: HTMLElement | null) => {
      shown = hinted;
      setTarget(hinted);
    };
    const approach = (event: Event) => {
      const { target: at, type } = event;
      if (!(at instanceof Element)) return;
      // a press on a text moves the focus to what contains it, or to it where it does nothing but tell
      const isPressed = tellsOnly(at) ? near?.contains(at) : near !== at && at.contains(near);
      if (type === 'focusin' && isPressed) return;
      const hinted = hintedAt(at, type);
      if (hinted === near) return;
      near = hinted;
      isByFocus = type === 'focusin';
      clearTimeout(waiting);
      show(null);
      if (hinted) waiting = setTimeout(() => show(hinted), isByFocus ? 0 : openDelay);
    };
    const hide = (event: Event) => {
      if (event instanceof KeyboardEvent && event.key !== 'Escape') return;
      if (event.type === 'focusout' && !isByFocus) return;
      clearTimeout(waiting);
      // Escape is for the tooltip alone: the next one deselects the rows
      if (shown && event.type === 'keydown') event.preventDefault();
      show(null);
    };
    const events = { pointerover: approach, focusin: approach, focusout: hide, keydown: hide, scroll: hide };
    for (const [name, listener] of Object.entries(events)) document.addEventListener(name, listener, true);
    return () => {
      clearTimeout(waiting);
      for (const [name, listener] of Object.entries(events))
        document.removeEventListener(name, listener, true);
    };
  }, []);

  return (
    target && (
      <Late look={null}>
        <Tooltip
          target={target}
          label={label}
          opened={label !== ''}
          multiline
          maw={`min(${widthOf(label)}px, 100vw - 32px)`}
          // a high one covers its element before the window cuts it
          middlewares={{ shift: { crossAxis: true } }}
          style={{ overflowWrap: 'anywhere' }}
        />
      </Late>
    )
  );
}

/** Why a button is disabled, or what is left out: who cannot hover presses it to read that. */
const tellsOnly = (element: Element) => element.matches('[aria-disabled="true"], [data-tells]');

/** What the pointer is over, or what the control with the focus belongs to. */
function hintedAt(element: Element, event: string): HTMLElement | null {
  const hinted = element.closest<HTMLElement>('[data-hint]');
  if (event !== 'focusin') return hinted ?? cutAround(element);
  if (!element.matches(':focus-visible')) return null;
  if (hinted || !element.matches('a, button'))
    return hinted === element || tellsOnly(element) ? hinted : null;
  const item = element.closest<HTMLElement>('td, th, li, [data-notice]') ?? (element as HTMLElement);
  return [item, ...item.querySelectorAll<HTMLElement>('*')].find(isCut) ?? null;
}

function cutAround(element: Element): HTMLElement | null {
  if (element.matches('tr, ul, section, main, body')) return null;
  if (element instanceof HTMLElement && isCut(element)) return element;
  return element.parentElement && cutAround(element.parentElement);
}

function isCut(element: HTMLElement): boolean {
  const { textOverflow, webkitLineClamp } = getComputedStyle(element);
  return (
    (textOverflow === 'ellipsis' && element.scrollWidth > element.clientWidth) ||
    (webkitLineClamp !== 'none' && element.scrollHeight > element.clientHeight)
  );
}

/** The current hint of the element, which changes to 'Copied!' under the pointer, or all of its text. */
function useHintOf(target: HTMLElement | null): string {
  const [said, setSaid] = useState<{ by: HTMLElement; text: string }>();
  useEffect(() => {
    if (!target) return;
    const read = () => setSaid({ by: target, text: shortened(target.dataset['hint'] ?? target.innerText) });
    read();
    const changes = new MutationObserver(read);
    changes.observe(target, { attributes: true, attributeFilter: ['data-hint'] });
    return () => changes.disconnect();
  }, [target]);
  return target !== null && said?.by === target ? said.text : '';
}
