import type { QueryClient } from '@tanstack/react-query';
import { createStore, useStore } from './ui/store.ts';

const isPrinting = createStore(false);

/** Rows of a list on paper; the line with the pages says of how many. */
const mostPrinted = 500;

/** Whether the screen, or something on it, has not been loaded. */
export const isIncomplete = (client: QueryClient): boolean =>
  document.querySelector('#main h1') === null ||
  // also what has been loaded, and is rendered after this
  document.querySelector('#main table[aria-busy="true"]') !== null ||
  client.isFetching({ type: 'active', predicate: ({ state }) => state.data === undefined }) > 0;

/** A page that is not whole by then says so on paper. */
const patienceMs = 10_000;

/**
 * Prints the page once all rows of its lists have been loaded, since a browser does not wait; offline, or asked again, at
 * once. Not the page to which the user has gone meanwhile.
 */
export function printWhole(client: QueryClient): void {
  if (isPrinting.get()) return window.print();
  window.addEventListener('afterprint', () => isPrinting.set(false), { once: true });
  isPrinting.set(true);
  const { pathname } = location;
  const until = Date.now() + patienceMs;
  const timer = setInterval(() => {
    if (location.pathname !== pathname) isPrinting.set(false);
    const mayWait = isPrinting.get() && navigator.onLine && Date.now() < until;
    if (mayWait && isIncomplete(client)) return;
    clearInterval(timer);
    if (isPrinting.get()) window.print();
  }, 50);
}

/** The page of a list to show: on paper, all that fits on one. */
export const usePrintedPage = (page: number | undefined, pageSize: number) =>
  useStore(isPrinting) ? { page: undefined, pageSize: mostPrinted } : { page, pageSize };
