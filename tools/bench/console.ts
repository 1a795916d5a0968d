/// <reference lib="dom" */
// DOM types for the functions that `page.evaluate` runs in the page.
import type { Page } from '@playwright/test';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { root } from '../../server/root.ts';
import { signInAt, startBrowser } from './browser.ts';
import { firstLoads } from './first-loads.ts';
import { warmMoves } from './warm-moves.ts';
import { limitRow, screenRow, type Row, type Stage } from './stage.ts';

const web = path.join(root, 'dist/web');
const maxMs = 300;

/** The console in Chromium: the size of its scripts, and the time until the licenses screen is complete. */
export async function benchConsole({ ours, admin }: Stage): Promise<Row[]> {
  const browser = await startBrowser();
  try {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, locale: 'en-US' });
    await page.goto(`${ours}/login`, { waitUntil: 'networkidle' });
    const signIn = await scriptsOf(page);
    await signInAt(page, ours, admin);
    await page.goto(`${ours}/licenses`, { waitUntil: 'networkidle' });
    const licenses = await scriptsOf(page);
    return [
      await weight('JavaScript of the sign-in screen, gzipped', signIn, 150_000),
      await weight('JavaScript up to the licenses screen, gzipped', licenses, 255_000),
      await openScreen(page, `${ours}/licenses`),
      await search(page),
      await switchTab(page),
      await warmMoves(page, ours),
      ...(await firstLoads(browser, ours, page.context())),
    ];
  } finally {
    await browser.close();
  }
}

const scriptsOf = (page: Page) =>
  page.evaluate(() =>
    performance
      .getEntriesByType('resource')
      .map(({ name }) => new URL(name).pathname)
      .filter((name) => name.endsWith('.js')),
  );

async function weight(job: string, scripts: string[], most: number): Promise<Row> {
  const sizes = await Promise.all([...new Set(scripts)].map((name) => stat(`${path.join(web, name)}.gz`)));
  const bytes = sizes.reduce((sum, { size }) => sum + size, 0);
  return limitRow(job, most / 1000, bytes / 1000, 'kB');
}

async function openScreen(page: Page, url: string): Promise<Row> {
  return screenRow('licenses screen: open by URL', maxMs, async () => {
    await page.goto(url, { waitUntil: 'commit' });
    return timeUntilShown(page, 'tab=active');
  });
}

async function search(page: Page): Promise<Row> {
  const terms = ['karolinska', 'osaka', 'december 24', 'lung nodule', 'institute'];
  let n = 0;
  const box = page.getByRole('searchbox', { name: 'Search licenses' });
  return screenRow('licenses screen: search, after the last key', maxMs, async () => {
    const term = terms[n++ % terms.length]!;
    await box.fill(term.slice(0, -1));
    await timeUntilShown(page, `search=${encodeURIComponent(term.slice(0, -1)).replaceAll('%20', '+')}`);
    await page.evaluate(markStart);
    await box.press(`End`);
    await box.press(term.at(-1)!);
    return timeUntilShown(page, `search=${encodeURIComponent(term).replaceAll('%20', '+')}`);
  });
}

async function switchTab(page: Page): Promise<Row> {
  await page.getByRole('searchbox', { name: 'Search licenses' }).fill('');
  let n = 0;
  return screenRow('licenses screen: switch tab', maxMs, async () => {
    const tab = ['revoked', 'expired', 'active'][n++ % 3]!;
    const button = page.getByRole('tab', { name: new RegExp(tab, 'i') });
    await page.evaluate(markStart);
    await button.click();
    return timeUntilShown(page, `tab=${tab}`);
  });
}

/** Starts the clock at the timestamp of the next key or pointer event. */
const markStart = () => {
  const start = (event: Event) => {
    (globalThis as { startedAt?: number }).startedAt = event.timeStamp;
  };
  for (const kind of ['keydown', 'pointerdown']) addEventListener(kind, start, { capture: true, once: true });
};

/**
 * Milliseconds from the start, by default that of the page load, to the first frame with the rows of the list call whose
 * URL contains `query`. Rejects after a minute, since `evaluate` has no time limit.
 */
function timeUntilShown(page: Page, query: string): Promise<number> {
  return page.evaluate(
    (wanted) =>
      new Promise<number>((resolve, reject) => {
        const giveUpAt = performance.now() + 60_000;
        const check = () => {
          if (performance.now() > giveUpAt) return reject(new Error(`No rows of ${wanted}`));
          const hasResponse = performance
            .getEntriesByType('resource')
            .some(({ name }) => name.includes('/api/v1/licenses') && name.includes(wanted));
          const table = document.querySelector('table');
          const isShown =
            table !== null && table.ariaBusy !== 'true' && table.querySelectorAll('tbody tr').length > 3;
          if (!hasResponse || !isShown) return requestAnimationFrame(check);
          // resolves in the next frame, when this one was painted
          return requestAnimationFrame((at) => {
            const scope = globalThis as { startedAt?: number };
            const took = at - (scope.startedAt ?? 0);
            delete scope.startedAt;
            performance.clearResourceTimings();
            resolve(took);
          });
        };
        check();
      }),
    query,
  );
}
