/// <reference lib="dom" />
// DOM types for the functions that `page.evaluate` runs in the page.
import type { Page } from '@playwright/test';
import { budgets, watch, type Watched } from './first-loads.ts';
import { atShare } from './load.ts';
import type { Row } from './stage.ts';

const rounds = 5;
const maxMs = 50;
/** Until a screen has been quiet for a while: what it loads, and rows that come later, are part of the move. */
const settledMs = 1200;

/** The longest task of each move between screens that have been opened before, by the links of the navigation. */
export async function warmMoves(page: Page, ours: string): Promise<Row> {
  await page.addInitScript(watch);
  await page.goto(`${ours}/licenses`, { waitUntil: 'networkidle' });
  const screens = Object.keys(budgets).filter((screen) => screen !== '/login');
  for (const screen of screens) await moveTo(page, screen);
  const longest = new Map<string, number[]>();
  for (let round = 0; round < rounds; round++)
    for (const screen of screens)
      longest.set(screen, [...(longest.get(screen) ?? []), await moveTo(page, screen)]);
  const medians = [...longest].map(([screen, times]) => [screen, atShare(times, 0.5)] as const);
  return {
    job: 'warm moves between screens, longest task',
    target: `median of each ≤ ${maxMs} ms`,
    met: medians.every(([, median]) => median <= maxMs),
    note: [...longest].map(([screen, times]) => `${screen} ${times.join(', ')} ms`).join('; '),
  };
}

/** Milliseconds of the longest task above 50 ms, which is all that browsers tell of; else 0. */
async function moveTo(page: Page, screen: string): Promise<number> {
  await page.evaluate(() => {
    (globalThis as unknown as { watched: Watched }).watched.longTasks.length = 0;
  });
  await page.locator(`nav a[href="${screen}"]`).click();
  await page.waitForTimeout(settledMs);
  return page.evaluate(() => {
    const { longTasks } = (globalThis as unknown as { watched: Watched }).watched;
    return Math.round(Math.max(0, ...longTasks.map(({ duration }) => duration)));
  });
}
