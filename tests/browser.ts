import { vi } from 'vitest';

/** Fakes what modules of the console read when they load; import them afterwards. Returns the storage. */
export function stubBrowser(): Map<string, string> {
  const storage = new Map<string, string>();
  vi.stubGlobal('window', { addEventListener: () => undefined });
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => storage.get(key) ?? null,
    setItem: (key: string, value: string) => storage.set(key, value),
    removeItem: (key: string) => storage.delete(key),
  });
  return storage;
}
