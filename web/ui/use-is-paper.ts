import { useSyncExternalStore } from 'react';
import { flushSync } from 'react-dom';

const paper = () => matchMedia('print');

function subscribe(listener: () => void): () => void {
  const query = paper();
  // at once, because the browser does not wait for a later render
  const onChange = () => flushSync(listener);
  query.addEventListener('change', onChange);
  return () => query.removeEventListener('change', onChange);
}

/** Whether the page is being printed. */
export const useIsPaper = (): boolean => useSyncExternalStore(subscribe, () => paper().matches);
