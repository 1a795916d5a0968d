import { lazy } from 'react';
import { createStore } from './store.ts';

/** Whether a part could not be loaded, as after an update, which replaces the files, or without a network. */
export const partsMissing = createStore(false);

/**
 * Loads a part of a screen. If its file cannot be loaded, it never settles: the screen stays, with all that was typed
 * there, and `MissingParts` says why.
 */
export const loadPart = <Part>(load: () => Promise<Part>): Promise<Part> =>
  load().catch((error: unknown) => {
    reportError(error);
    partsMissing.set(true);
    return new Promise<never>(() => {});
  });

/** Like `lazy` of React, with the placeholder of its `Suspense` for a part that cannot be loaded. */
export const lazyPart: typeof lazy = (load) => lazy(() => loadPart(load));
