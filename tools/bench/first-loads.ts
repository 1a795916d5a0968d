/// <reference lib="dom" />
// DOM types for the functions that `page.evaluate` runs in the page.
import type { Browser, BrowserContext, Page } from '@playwright/test';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { root } from '../../server/root.ts';
import type { Row } from './stage.ts';

/** Most requests and kB of a first load, with calls and what loads when idle; they do not depend on the machine. */
export const budgets: Record<string, [requests: number, kilobytes: number]> = {
  '/login': [12, 245],
  '/licenses': [20, 345],
  '/customers': [24, 370],
  '/releases': [24, 370],
  '/analytics': [31, 480],
  '/today': [22, 365],
  '/machines': [25, 370],
};

type Figures = {
  requests: number;
  kB: number;
  longTasks: number;
  longMs: number;
  cls: number;
  settled: number;
};

/** The figures of the last run on this machine. */
const kept = path.join(root, 'bench-results/console.json');

/** What each screen costs a browser that has nothing of it, beside the last run in parentheses. */
export async function firstLoads(browser: Browser, ours: string, signedIn: BrowserContext): Promise<Row[]> {
  const storageState = await signedIn.storageState();
  const before = await lastRun();
  const now: Record<string, Figures> = {};
  const rows: Row[] = [];
  for (const [screen, [requests, kilobytes]] of Object.entries(budgets)) {
    const context = await browser.newContext(screen === '/login' ? {} : { storageState });
    const page = await context.newPage();
    await page.addInitScript(watch);
    await page.goto(`${ours}${screen}`, { waitUntil: 'networkidle' });
    const figures = (now[screen] = await figuresOf(page));
    await context.close();
    rows.push({
      job: `first load of ${screen}`,
      target: `≤ ${requests} requests, ${kilobytes} kB`,
      met: figures.requests <= requests && figures.kB <= kilobytes,
      note: text(figures, before[screen]),
    });
  }
  await mkdir(path.dirname(kept), { recursive: true });
  await writeFile(kept, JSON.stringify({ ...before, ...now }, null, 2));
  return rows;
}

async function lastRun(): Promise<Record<string, Figures>> {
  try {
    return JSON.parse(await readFile(kept, 'utf8')) as Record<string, Figures>;
  } catch {
    return {};
  }
}

function text(now: Figures, last: Figures | undefined): string {
  const of = (name: keyof Figures, digits = 0) =>
    `${now[name].toFixed(digits)}${last ? ` (${last[name].toFixed(digits)})` : ''}`;
  return `${of('requests')} requests, ${of('kB')} kB, ${of('longTasks')} long tasks of ${of('longMs')} ms, CLS ${of('cls', 3)}, settled after ${of('settled')} ms`;
}

export type Watched = { longTasks: PerformanceEntry[]; shifts: (PerformanceEntry & { value: number })[] };

/** Runs before the page's own scripts. */
export function watch(): void {
  const watched: Watched = { longTasks: [], shifts: [] };
  Object.assign(globalThis, { watched });
  const observe = (type: string, entries: PerformanceEntry[]) =>
    new PerformanceObserver((list) => entries.push(...list.getEntries())).observe({ type, buffered: true });
  observe('longtask', watched.longTasks);
  observe('layout-shift', watched.shifts);
}

/** Settled: the last response has come, and no long task runs any more. */
const figuresOf = (page: Page): Promise<Figures> =>
  page.evaluate(() => {
    const { longTasks, shifts } = (globalThis as unknown as { watched: Watched }).watched;
    const resources = [
      ...performance.getEntriesByType('navigation'),
      ...performance.getEntriesByType('resource'),
    ] as PerformanceResourceTiming[];
    const sum = (numbers: number[]) => numbers.reduce((total, one) => total + one, 0);
    return {
      requests: resources.length,
      kB: sum(resources.map(({ transferSize }) => transferSize)) / 1000,
      longTasks: longTasks.length,
      longMs: sum(longTasks.map(({ duration }) => duration)),
      cls: sum(shifts.map(({ value }) => value)),
      settled: Math.max(
        ...resources.map(({ responseEnd }) => responseEnd),
        ...longTasks.map(({ startTime, duration }) => startTime + duration),
      ),
    };
  });
