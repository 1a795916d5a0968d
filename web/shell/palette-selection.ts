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
