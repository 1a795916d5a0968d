import { expect, test } from 'vitest';
import { stubBrowser } from '../tests/browser.ts';
import { every, live } from './live.ts';

stubBrowser();
const { activationsQuery } = await import('./features/activations/queries.ts');
const { customerUseQuery, healthQuery, trendsQuery } = await import('./features/analytics/queries.ts');
const { apiKeyListQuery } = await import('./features/api-keys/queries.ts');
const { auditStatsQuery } = await import('./features/audit/queries.ts');
const { machineOffersQuery, machineQuery } = await import('./features/machines/queries.ts');
const { progressQuery } = await import('./features/rollouts/queries.ts');
const { releaseAnalyticsQuery, releaseListQuery } = await import('./features/releases/queries.ts');
const { noticesQuery } = await import('./shell/notices-query.ts');

test.each<[string, object]>([
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
])('%s are asked for again by themselves, and when somebody comes back', (_, query) =>
  expect(query).toMatchObject(live),
);

test('notices, which have no Retry, are asked for again also where they could not be loaded', () =>
  expect(noticesQuery).toMatchObject({ ...live, refetchInterval: every }));

test('the use of API keys is asked for more often, but waits for Retry where it could not be loaded', () => {
  const { refetchInterval } = apiKeyListQuery();
  const after = (status: string, data?: object[]) =>
    typeof refetchInterval === 'function' && refetchInterval({ state: { status, data } } as never);
  expect([after('success', []), after('error', []), after('error')]).toEqual([10_000, 10_000, false]);
});
