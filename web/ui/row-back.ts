import { useEffect, useEffectEvent, useState, type RefObject } from 'react';
import { historyKey } from './history-entry.ts';
import { focusRow, isRowInView } from './row-focus.ts';

/** The row that had the focus last, by entry of the history and list. */
const left = new Map<string, string>();

const here = (label: string) => `${historyKey()} ${label}`;

export const rememberRow = (label: string, id: string): void => void left.set(here(label), id);

/** Until a list with many rows has rendered those around the row. */
const mostFrames = 30;

/**
 * Focuses the row from which the user left the list, when they come back to it by Back, unless they have moved the focus by
 * then. Returns its id, undefined for a list that was not left. `isScrolledBack`: the list is scrolled where it was, and
 * stays there, also where the row is not. `show` scrolls to a row that is not rendered.
 */
export function useRowBack(
  label: string,
  body: RefObject<HTMLElement | null>,
  isScrolledBack: boolean,
  show?: (id: string) => void,
): string | undefined {
  const [id] = useState(() => left.get(here(label)));
  const showRow = useEffectEvent((missing: string) => show?.(missing));
  useEffect(() => {
    if (id === undefined) return undefined;
    let frames = 0;
    let frame = 0;
    const look = () => {
      // a new screen gives the focus to its content
      const active = document.activeElement;
      if (active !== document.body && active?.id !== 'main') return;
      const row = body.current?.querySelector<HTMLElement>(`tr[data-row="${CSS.escape(id)}"]`);
      if (row) return isScrolledBack && !isRowInView(row) ? undefined : focusRow(row);
      showRow(id);
      if (++frames < mostFrames) frame = requestAnimationFrame(look);
    };
    frame = requestAnimationFrame(look);
    return () => cancelAnimationFrame(frame);
  }, [id, body, isScrolledBack]);
  return id;
}
