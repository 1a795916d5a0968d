/*
 * Whether there is any upload to show: one of this page, or one that was kept for a reload. It is asked on every
 * screen, also before any code of uploads is loaded, so the answer lies in local storage.
 */

const key = 'uploads';
const listeners = new Set<() => void>();
let shown = false;

export const uploadsWanted = {
  get: (): boolean => shown || localStorage.getItem(key) !== null,
  subscribe(listener: () => void): () => void {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
};

export function setUploadsShown(now: boolean): void {
  shown = now;
  tell();
}

/** Whether this browser keeps records that a later page can go on with. */
export function setUploadsKept(kept: boolean): void {
  if (kept) localStorage.setItem(key, 'kept');
  else localStorage.removeItem(key);
  tell();
}

function tell(): void {
  for (const listener of listeners) listener();
}
