/// <reference lib="dom" />
// DOM types for the functions that run in the page.
import type { Page } from '@playwright/test';
import { expect } from './support.ts';

/** What the browser reported since the page was opened. */
type Seen = { refused: string[]; shift: number; moved: string[] };
type LayoutShift = PerformanceEntry & {
  value: number;
  hadRecentInput: boolean;
  sources: { node: Node | null; previousRect: DOMRect; currentRect: DOMRect }[];
};

/** Records violations of the policy and layout shifts of the window. */
export const observe = (page: Page) =>
  page.addInitScript(() => {
    const seen: Seen = { refused: [], shift: 0, moved: [] };
    Object.assign(window, { seen });
    document.addEventListener('securitypolicyviolation', (event) =>
      seen.refused.push(`${event.effectiveDirective} ${event.blockedURI}`),
    );
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as LayoutShift[]) {
        if (entry.hadRecentInput) continue;
        seen.shift += entry.value;
        for (const { node, previousRect, currentRect } of entry.sources)
          seen.moved.push(
            `${node?.textContent?.slice(0, 60)}: from ${previousRect.y} to ${currentRect.y}, ${currentRect.height} high`,
          );
      }
    }).observe({ type: 'layout-shift', buffered: true });
  });

/** What was recorded since the page was opened. */
export const observed = (page: Page) => page.evaluate(() => (window as unknown as { seen: Seen }).seen);

/** Asserts that there was no layout shift since the page was opened. */
export async function expectNoShift(page: Page, where: string): Promise<void> {
  const { shift, moved } = await observed(page);
  expect(shift, `${where} jumps: ${moved.join('; ')}`).toBeLessThanOrEqual(0.01);
}

/** Waits until what has been rendered is on the screen. */
export const twoFrames = (page: Page) =>
  page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
