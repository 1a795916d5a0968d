import { expect, test, vi } from 'vitest';
import { stubBrowser } from '../../../tests/browser.ts';

stubBrowser();
// its clocks go from midnight to 01:00 and back to 23:00
vi.stubEnv('TZ', 'Africa/Cairo');
const { auditListQuery, saveExport } = await import('./queries.ts');

test('a page is fresh for 30 seconds and kept for 5 minutes', () =>
  expect(auditListQuery({})).toMatchObject({ staleTime: 30_000, gcTime: 300_000 }));

test.each([
  ['2026-10-29', '2026-10-28T21:00:00.000Z', '2026-10-29T21:59:59.999Z'],
  ['2026-10-30', '2026-10-29T22:00:00.000Z', '2026-10-30T21:59:59.999Z'],
  ['2026-04-24', '2026-04-23T22:00:00.000Z', '2026-04-24T20:59:59.999Z'],
  ['1970-01-01', '1970-01-01T00:00:00.000Z', '1970-01-01T21:59:59.999Z'],
  ['9999-12-31', '9999-12-31T05:00:00.000Z', '9999-12-31T23:59:59.999Z', 'America/New_York'],
])('the filter by %s leaves out no hour of the day', (day, startDate, endDate, zone = 'Africa/Cairo') => {
  vi.stubEnv('TZ', zone);
  const [, request] = auditListQuery({ from: day, to: day }).queryKey;
  expect(request).toMatchObject({ query: { startDate, endDate } });
});

test('a page that a proxy answers in place of the export is not saved', async () => {
  vi.stubGlobal('fetch', () => Promise.resolve(new Response('<html>Sign in</html>')));
  await expect(saveExport({}, new AbortController().signal)).rejects.toThrow('Request failed');
});
