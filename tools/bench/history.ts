// The DOM is there for the function that `page.evaluate` runs in the page.
/// <reference lib="dom" />
import { signInAt, startBrowser } from './browser.ts';
import type { Row, Stage } from './licensing.ts';
import { compare, load } from './load.ts';

/** The audit log beside fifty bare rows, and the calls of the analytics screen, on a year of history. */
export async function benchHistory(stage: Stage): Promise<Row[]> {
  const { bare, ours, bearer, seconds } = stage;
  const headers = { authorization: `Bearer ${bearer}` };
  const page = await compare(
    { url: `${bare}/rows` },
    { url: `${ours}/api/audit?limit=50`, headers },
    seconds,
  );
  const reading = async (job: string, path: string, mostMs: number): Promise<Row> => {
    const measured = await load({ url: ours + path, headers, connections: 1 }, 3);
    return { job, target: `p50 < ${mostMs} ms`, ours: measured, met: measured.p50 < mostMs };
  };
  const day = (daysAgo: number) => new Date(Date.now() - daysAgo * 86_400_000).toISOString().slice(0, 10);
  const period = `startDate=${day(364)}&endDate=${day(0)}`;
  return [
    {
      job: 'audit log, newest 50',
      target: '40 %',
      ...page,
      met: page.ours.perSecond / page.bare.perSecond >= 0.4,
    },
    await reading('audit log, 50 of one person', '/api/audit?limit=50&search=staff17%40example.org', 100),
    await reading('audit log, page 50,000', '/api/audit?limit=50&offset=2500000', 100),
    await reading('analytics: health', '/api/analytics/health', 100),
    await reading('analytics: trends of a year', `/api/analytics/trends?${period}`, 100),
    await reading('analytics: customers of a year', `/api/analytics/customers?${period}`, 100),
    await analyticsScreen(stage),
  ];
}

/** From the address to the frame that shows every chart, on the year. */
async function analyticsScreen({ ours, admin }: Stage): Promise<Row> {
  const browser = await startBrowser();
  try {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, locale: 'en-US' });
    await signInAt(page, ours, admin);
    const times: number[] = [];
    for (let round = 0; round < 9; round++) {
      await page.goto(`${ours}/analytics?period=year`, { waitUntil: 'commit' });
      times.push(await page.evaluate(chartsStand));
    }
    const sorted = times.toSorted((a, b) => a - b);
    const [p50, worst] = [sorted[4]!, sorted.at(-1)!];
    const note = `median ${p50.toFixed(0)} ms, worst ${worst.toFixed(0)} ms of ${times.length}`;
    return { job: 'analytics screen: open, a year', target: '< 1 s', met: p50 < 1000, note };
  } finally {
    await browser.close();
  }
}

/** The four charts of the spec and ours are drawn, and nothing is a skeleton any more. */
function chartsStand(): Promise<number> {
  return new Promise((resolve) => {
    const look = () => {
      const drawn = document.querySelectorAll('svg.recharts-surface').length >= 4;
      const loading = document.querySelector('.mantine-Skeleton-root') !== null;
      if (!drawn || loading) return requestAnimationFrame(look);
      return requestAnimationFrame(resolve);
    };
    look();
  });
}
