import { createSpotlight } from '@mantine/spotlight';
import { useLayoutEffect } from 'react';

/** The palette's own state and what opens it. */
export const [paletteStore, palette] = createSpotlight();

export const paletteList = 'palette-results';

/**
 * Spotlight keeps what is selected as a mark in the page and a place in the list, and neither survives results that
 * come later: the mark stays on the same item, wherever it is now, and goes to the first when that item is gone.
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
