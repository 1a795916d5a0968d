import { useLayoutEffect, useState } from 'react';

/**
 * Gives the focus back to what had it before the dialog `id` opened. Where that is gone, as the row of a deleted
 * record is, also when it goes a moment later: to the nearest thing around it that can be focused, such as its table.
 */
export function useFocusReturn(id: string): void {
  const [before] = useState(() => document.activeElement);
  useLayoutEffect(() => {
    const now = document.activeElement;
    // What is focused already in the dialog itself did not open it.
    const opener = now?.closest(`[id="${id}"]`) ? before : now;
    const around = withAncestors(opener);
    return () => {
      if (isFree(document.activeElement)) focusFirst(around);
    };
  }, [id, before]);
}

/** Nobody has moved on: the focus is nowhere, or in a dialog, which may be one above this one. */
const isFree = (active: Element | null) =>
  active === null || active === document.body || active.closest('[role="dialog"]') !== null;

function withAncestors(element: Element | null): HTMLElement[] {
  const found: HTMLElement[] = [];
  for (let one = element; one && one !== document.body; one = one.parentElement) {
    if (one instanceof HTMLElement) found.push(one);
  }
  return found;
}

const focusable = ':is(a[href], button, input, select, textarea, [tabindex]):not(:disabled)';

function focusFirst(around: HTMLElement[]): void {
  const candidates = [...around, document.getElementById('main')];
  const target = candidates.find((one) => one?.isConnected && one.matches(focusable));
  if (!target) return;
  target.focus({ preventScroll: true });
  if (document.activeElement === target) onRemovalWithFocus(target, () => focusFirst(around));
}

/** Until the focus goes elsewhere. A browser tells nobody when what is focused leaves the page. */
function onRemovalWithFocus(element: HTMLElement, then: () => void): void {
  const stop = () => {
    removal.disconnect();
    document.removeEventListener('focusin', stop);
  };
  const removal = new MutationObserver(() => {
    if (element.isConnected) return;
    stop();
    if (document.activeElement === document.body) then();
  });
  removal.observe(document.body, { childList: true, subtree: true });
  document.addEventListener('focusin', stop);
}
