/** The address for queries and that of the server itself; they differ only if queries go through a pooler. */
export type Addresses = { queries: string; direct: string };

type Setting = 'DATABASE_URL' | 'DATABASE_DIRECT_URL';

const settings = new WeakMap<object, Setting>();

/** Runs `work` with one of the addresses, and remembers for `settingOf` which one an error came from. */
export async function atAddress<T>(
  addresses: Addresses,
  which: keyof Addresses,
  work: (url: string) => Promise<T>,
): Promise<T> {
  try {
    return await work(addresses[which]);
  } catch (error) {
    const isDivided = addresses.queries !== addresses.direct;
    const setting = isDivided && which === 'direct' ? 'DATABASE_DIRECT_URL' : 'DATABASE_URL';
    if (!settings.has(error as object)) settings.set(error as object, setting);
    throw error;
  }
}

/** The setting whose address an error came from; by default DATABASE_URL, which queries use. */
export const settingOf = (error: unknown): Setting => settings.get(error as object) ?? 'DATABASE_URL';
