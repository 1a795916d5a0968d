import { lazy } from 'react';
import { createStore } from './store.ts';

/** Whether a part could not be loaded, as after an update, which replaces the files, or without a network. */
export const partsMissing = createStore(false);

/** How many parts take longer than a moment. */
export const slowParts = createStore(0);

const momentMs = 1000;

/**
 * Loads a part of a screen. If its file cannot be loaded, it never settles: the screen stays, with all that was typed
 * there, and `MissingParts` says why.
 */
export async function loadPart<Part>(load: () => Promise<Part>): Promise<Part> {
  let isSlow = false;
  const timer = setTimeout(() => {
    isSlow = true;
    slowParts.set(slowParts.get() + 1);
  }, momentMs);
  try {
    return await load();
  } catch (error) {
    reportError(error);
    partsMissing.set(true);
  } finally {
    clearTimeout(timer);
    if (isSlow) slowParts.set(slowParts.get() - 1);
  }
  return new Promise<never>(() => {});
}

/** Like `lazy` of React, with the placeholder of its `Suspense` for a part that cannot be loaded. */
export const lazyPart: typeof lazy = (load) => lazy(() => loadPart(load));
