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
