import { useSyncExternalStore } from 'react';
import { flushSync } from 'react-dom';
import { createStore } from './store.ts';

const changes = createStore(undefined);
let paper: MediaQueryList | undefined;

/** One for the whole page: a list of 500 rows asks for each time in it. */
function query(): MediaQueryList {
  if (!paper) {
    paper = matchMedia('print');
    // at once, because the browser does not wait for a later render
    paper.addEventListener('change', () => flushSync(() => changes.set(undefined)));
  }
  return paper;
}

/** Whether the page is being printed. */
export const useIsPaper = (): boolean => useSyncExternalStore(changes.subscribe, () => query().matches);
