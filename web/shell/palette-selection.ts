import { createSpotlight } from '@mantine/spotlight';
import { useLayoutEffect } from 'react';

/** The state of the palette, with the function that opens it. */
export const [paletteStore, palette] = createSpotlight();

export const paletteList = 'palette-results';

/**
 * Spotlight stores the selection as an attribute and an index, which are wrong after later results. Keeps the selection on
 * the same item, or moves it to the first one if the item is gone.
 */
export function useKeptSelection(isSearching: boolean): void {
  useLayoutEffect(() => {
    const actions = [...document.querySelectorAll(`#${paletteList} [data-action]`)];
    const marked = actions.findIndex((action) => action.hasAttribute('data-selected'));
    const selected = marked === -1 && isSearching && actions.length > 0 ? 0 : marked;
    if (marked === -1) actions[selected]?.setAttribute('data-selected', 'true');
    paletteStore.updateState((state) => ({ ...state, selected }));
  });
}

/**
 * Ref of the field, which keeps the focus: names the selected option in it, for screen readers. Spotlight moves the mark
 * without rendering.
 */
export function nameSelected(field: HTMLElement | null): void | (() => void) {
  const list = field?.closest('[role="dialog"]');
  if (!field || !list) return;
  const name = () => {
    const selected = list.querySelector('[data-selected]');
    for (const option of list.querySelectorAll('[role="option"]'))
      option.setAttribute('aria-selected', String(option === selected));
    field.setAttribute('aria-activedescendant', selected?.id ?? '');
  };
  const marks = new MutationObserver(name);
  marks.observe(list, { subtree: true, childList: true, attributeFilter: ['data-selected', 'id'] });
  return () => marks.disconnect();
}
