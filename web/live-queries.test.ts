import { expect, test } from 'vitest';
import { stubBrowser } from '../tests/browser.ts';
import { live } from './live.ts';

stubBrowser();
const { activationsQuery } = await import('./features/activations/queries.ts');
const { customerUseQuery, healthQuery, trendsQuery } = await import('./features/analytics/queries.ts');
const { auditStatsQuery } = await import('./features/audit/queries.ts');
const { machineOffersQuery, machineQuery } = await import('./features/machines/queries.ts');
const { progressQuery } = await import('./features/rollouts/queries.ts');
const { releaseAnalyticsQuery, releaseListQuery } = await import('./features/releases/queries.ts');
const { noticesQuery } = await import('./shell/notices-query.ts');

const succeeded = { state: { status: 'success', data: [] } };

test.each<[string, { refetchInterval?: unknown; refetchOnWindowFocus?: unknown }]>([
  ['activations', activationsQuery('key')],
  ['analytics, health', healthQuery()],
  ['analytics, trends', trendsQuery('week')],
  ['analytics, customers', customerUseQuery('week')],
  ['audit statistics', auditStatsQuery],
  ['a machine', machineQuery('m')],
  ['offers to a machine', machineOffersQuery('m')],
  ['releases', releaseListQuery({})],
  ['release analytics', releaseAnalyticsQuery()],
  ['the page of a release', progressQuery('r')],
  ['notices', noticesQuery],
])('%s are asked for again within half a minute, and when somebody comes back', (_, query) => {
  const interval =
    typeof query.refetchInterval === 'function' ? query.refetchInterval(succeeded) : query.refetchInterval;
  expect(interval).toBeGreaterThan(0);
  expect(interval).toBeLessThan(30_000);
  expect(query.refetchOnWindowFocus).toBe(live.refetchOnWindowFocus);
});
