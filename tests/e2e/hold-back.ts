import type { Page } from '@playwright/test';

/** Keeps the calls of a page to this address waiting, until the function that it returns is called. */
export async function holdBack(
  page: Page,
  address: Parameters<Page['route']>[0],
  method?: string,
): Promise<() => void> {
  let letGo = () => {};
  const freed = new Promise<void>((resolve) => (letGo = resolve));
  await page.route(address, async (route) => {
    if (!method || route.request().method() === method) await freed;
    // The page may have aborted the request.
    await route.fallback().catch(() => undefined);
  });
  return letGo;
}

/** Keeps the next file that the page reads in this way waiting, as a slow drive does, until what it returns is called. */
export async function holdFile(page: Page, read: 'arrayBuffer' | 'text'): Promise<() => Promise<void>> {
  await page.evaluate((method) => {
    const methods: Record<typeof method, (this: Blob) => Promise<unknown>> = Blob.prototype;
    const original = methods[method];
    const freed = new Promise((resolve) => addEventListener('file read', resolve, { once: true }));
    methods[method] = async function hold() {
      methods[method] = original;
      await freed;
      return original.call(this);
    };
  }, read);
  return () => page.evaluate(() => void dispatchEvent(new Event('file read')));
}
