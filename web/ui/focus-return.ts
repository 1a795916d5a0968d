import { useEffect, useEffectEvent, useLayoutEffect, useState } from 'react';

/**
 * Returns the focus to the element that had it before the dialog `id` opened. If that is removed, also shortly afterwards,
 * like the row of a deleted record, the nearest focusable ancestor gets it, such as the table. If nothing had it, as after
 * a button that is disabled while it waits, the button that sends the dialog below gets it. `returnTo` may name another
 * element instead.
 */
export function useFocusReturn(id: string, returnTo?: () => HTMLElement | undefined): void {
  const [before] = useState(() => document.activeElement);
  const findOther = useEffectEvent(() => returnTo?.());
  useLayoutEffect(() => {
    const now = document.activeElement;
    // An element in the dialog itself did not open it.
    const opener = now?.closest(`[id="${id}"]`) ? before : now;
    const around = withAncestors(opener);
    return () => {
      const other = findOther();
      if (!isFree(document.activeElement, id)) return;
      const below = dialogs().filter((one) => !one.closest(`[id="${id}"]`));
      focusFirst([...(other ? [other] : []), ...around, ...below.toReversed().flatMap(withSubmit)]);
    };
  }, [id, before]);
}

const dialogs = () => [...document.querySelectorAll<HTMLElement>('[role="dialog"]')];

/** A dialog, before it the button that sends its form: it was pressed before another dialog asked about its answer. */
const withSubmit = (dialog: HTMLElement) => [
  ...dialog.querySelectorAll<HTMLElement>('button[type="submit"]'),
  dialog,
];

/** Nothing else has moved the focus: it is nowhere, in this dialog, or in one above it, which closes as well. */
function isFree(active: Element | null, id: string): boolean {
  if (active === null || active === document.body) return true;
  const around = active.closest('[role="dialog"]');
  const own = document.getElementById(id);
  const isBelow = (one: Element) =>
    own !== null && (own.compareDocumentPosition(one) & Node.DOCUMENT_POSITION_PRECEDING) !== 0;
  return around !== null && !isBelow(around);
}

function withAncestors(element: Element | null): HTMLElement[] {
  const found: HTMLElement[] = [];
  for (let one = element; one && one !== document.body; one = one.parentElement) {
    if (one instanceof HTMLElement) found.push(one);
  }
  return found;
}

/** What Mantine closes returns the focus after 10 ms, unless it is somewhere by then. */
const afterMantineMs = 20;

const focusable = ':is(a[href], button, input, select, textarea, [tabindex]):not(:disabled)';

function focusFirst(around: HTMLElement[]): void {
  const candidates = [...around, document.getElementById('main')];
  const target = candidates.find((one) => one?.isConnected && one.matches(focusable));
  target?.focus({ preventScroll: true });
}

/**
 * While mounted, an element that lost the focus because it was disabled gets it back once it is enabled, like a button
 * that waits for its answer. If it is removed, the nearest focusable ancestor gets it: the list of a record that a
 * colleague deletes, the screen around a filter. Browsers leave it nowhere, and have no event for it.
 */
export function useLostFocus(): void {
  useEffect(() => {
    let around: HTMLElement[] = [];
    const remember = ({ target }: FocusEvent) => {
      around = target instanceof HTMLElement ? withAncestors(target) : [];
    };
    const forget = ({ target }: FocusEvent) => {
      // a button that waits is disabled, perhaps no longer in a moment: no user did that
      if (around[0] !== target || !around[0]?.matches(focusable)) return;
      setTimeout(() => {
        // the whole window lost the focus
        if (document.activeElement === target) return;
        // some browsers report it before a removal
        if (around[0] === target && around[0]?.isConnected && around[0].matches(focusable)) around = [];
      });
    };
    const isLost = () => {
      const [last] = around;
      return (
        document.activeElement === document.body && last && (!last.isConnected || last.matches(focusable))
      );
    };
    const changes = new MutationObserver(() => {
      if (isLost()) setTimeout(() => isLost() && focusFirst(around), afterMantineMs);
    });
    document.addEventListener('focusin', remember);
    document.addEventListener('focusout', forget);
    changes.observe(document.body, { childList: true, subtree: true, attributeFilter: ['disabled'] });
    return () => {
      document.removeEventListener('focusin', remember);
      document.removeEventListener('focusout', forget);
      changes.disconnect();
    };
  }, []);
}
