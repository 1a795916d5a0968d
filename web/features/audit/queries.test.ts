import { expect, test, vi } from 'vitest';
import { stubBrowser } from '../../../tests/browser.ts';

stubBrowser();
// its clocks go from midnight to 01:00 and back to 23:00
vi.stubEnv('TZ', 'Africa/Cairo');
const { auditListQuery } = await import('./queries.ts');

test('a page is fresh for 30 seconds and kept for 5 minutes', () =>
  expect(auditListQuery({})).toMatchObject({ staleTime: 30_000, gcTime: 300_000 }));

test.each([
  ['2026-10-29', '2026-10-28T21:00:00.000Z', '2026-10-29T21:59:59.999Z'],
  ['2026-10-30', '2026-10-29T22:00:00.000Z', '2026-10-30T21:59:59.999Z'],
  ['2026-04-24', '2026-04-23T22:00:00.000Z', '2026-04-24T20:59:59.999Z'],
])('the filter by %s leaves out no hour of the day', (day, startDate, endDate) => {
  const [, request] = auditListQuery({ from: day, to: day }).queryKey;
  expect(request).toMatchObject({ query: { startDate, endDate } });
});
