import type { Row, Stage } from './licensing.ts';
import { compare, load } from './load.ts';

/** The audit log beside fifty bare rows, and the calls of the analytics screen, on a year of history. */
export async function benchHistory({ bare, ours, bearer, seconds }: Stage): Promise<Row[]> {
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
  ];
}
