// DOM types for the function that `page.evaluate` runs in the page.
/// <reference lib="dom" />
import { daysFrom, utcDay } from '../../contract/durations.ts';
import { signInAt, startBrowser } from './browser.ts';
import { compare } from './load.ts';
import { peakMemoryMb, resetPeakMemory } from './processes.ts';
import { dataOf, limitRow, ratioRow, readingRow, screenRow, type Row, type Stage } from './stage.ts';

const newline = 10;
/** Growth of the memory that is allowed during a stream of any length. */
const maxGrowthMb = 60;

/** A different period each time, because responses are cached for half a minute. */
export const period = (n: number): string => `startDate=${day(364 - (n % 360))}&endDate=${day(0)}`;

const day = (daysAgo: number) => utcDay(daysFrom(new Date(), -daysAgo));

/** The audit log, compared with 50 bare rows, and the calls of the analytics screen, on a year of history. */
export async function benchHistory(stage: Stage): Promise<Row[]> {
  const { bare, ours, staff: headers, seconds } = stage;
  const page = await compare(
    { url: `${bare}/rows` },
    { url: `${ours}/api/audit?limit=50`, headers },
    seconds,
  );
  const reading = (job: string, path: (n: number) => string, maxMs = 100) =>
    readingRow(job, maxMs, { url: ours, headers, next: (n) => ({ path: path(n) }) });
  const middle = await cursorInMiddle(stage);
  return [
    ratioRow('audit log, newest 50', 0.4, page),
    await reading('audit log, text search', () => '/api/audit?limit=50&search=staff17%40example.org', 200),
    await reading('audit log, a page after half of it', () => `/api/audit?limit=50&after=${middle}`),
    await auditExport(stage),
    await reading('analytics: health', () => '/api/analytics/health'),
    await reading('analytics: trends', (n) => `/api/analytics/trends?${period(n)}`),
    await reading('analytics: customers', (n) => `/api/analytics/customers?${period(n)}`),
    await analyticsScreen(stage),
  ];
}

/** The cursor for the second half of the log. */
async function cursorInMiddle({ ours, staff: headers }: Stage): Promise<string> {
  const { total } = await dataOf<{ total: number }>(`${ours}/api/audit/stats?days=366`, headers);
  const page = `${ours}/api/audit?limit=50&offset=${Math.floor(total / 2)}`;
  return (await dataOf<{ nextCursor: string }>(page, headers)).nextCursor;
}

/** Exports every entry as CSV, and measures the memory for that. */
async function auditExport({ ours, staff: headers, process }: Stage): Promise<Row> {
  resetPeakMemory(process);
  const before = peakMemoryMb(process);
  const started = performance.now();
  const response = await fetch(`${ours}/api/audit/export`, { headers });
  if (!response.ok) throw new Error(`export: ${response.status}`);
  let lines = 0;
  for await (const piece of response.body!) for (const byte of piece) lines += Number(byte === newline);
  const seconds = (performance.now() - started) / 1000;
  const grown = peakMemoryMb(process) - before;
  const job = `audit export, ${lines - 1} entries in ${seconds.toFixed(0)} s`;
  return limitRow(job, maxGrowthMb, grown, 'MB more');
}

/** Time from opening the URL to the frame that shows every chart of a year. */
async function analyticsScreen({ ours, admin }: Stage): Promise<Row> {
  const browser = await startBrowser();
  try {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, locale: 'en-US' });
    await signInAt(page, ours, admin);
    return await screenRow('analytics screen: open, a year', 1000, async () => {
      await page.goto(`${ours}/analytics?period=year`, { waitUntil: 'commit' });
      return page.evaluate(chartsDrawn);
    });
  } finally {
    await browser.close();
  }
}

/** Resolves in the first frame with all charts and no skeleton. */
function chartsDrawn(): Promise<number> {
  return new Promise((resolve) => {
    const check = () => {
      const drawn = document.querySelectorAll('svg.recharts-surface').length >= 4;
      const loading = document.querySelector('.mantine-Skeleton-root') !== null;
      if (!drawn || loading) return requestAnimationFrame(check);
      return requestAnimationFrame(resolve);
    };
    check();
  });
}
