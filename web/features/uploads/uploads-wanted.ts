import { createStore, type Store } from '../../ui/store.ts';

/*
 * Whether there is any upload to show: one of this page, or one that was stored before a reload. Every screen checks it
 * before any code of uploads is loaded, so it is kept in local storage.
 */

const key = 'uploads';
const shown = createStore(false);

export const uploadsWanted: Store<boolean> = {
  get: () => shown.get() || localStorage.getItem(key) !== null,
  subscribe: shown.subscribe,
};

export const setUploadsShown = shown.set;

/** Whether this browser has records that a later page can resume. */
export function setUploadsKept(kept: boolean): void {
  if (kept) localStorage.setItem(key, 'kept');
  else localStorage.removeItem(key);
  shown.set(shown.get());
}
