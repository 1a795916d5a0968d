import type { Release } from '../../contract/releases.ts';
import { enrollOn, makeLicense } from '../factories.ts';
import { makeRelease, report } from './releases.ts';
import { expect, expectAccessible, expectColor, rowOf, signInAs, test } from './support.ts';

test('Analytics has its tiles, charts and tables', async ({ page, freshServer: server }) => {
  await signInAs(page, 'viewer', '/releases?tab=analytics', server);
  const tiles = page.getByLabel('Summary', { exact: true });
  await expect(tiles).toContainText('Latest ReleaseN/A');
  await expect(page.getByRole('heading', { name: 'No machines yet' })).toBeVisible();

  // Eight more than the three under test: one more than is shown.
  for (let n = 0; n < 8; n++) await makeRelease(server);
  const [good, fair, bad] = [await makeRelease(server), await makeRelease(server), await makeRelease(server)];
  const downloads = (release: Release, fails: number) =>
    Array.from({ length: 10 }, (_, index) =>
      (['download_start', index < fails ? 'download_error' : 'download_complete'] as const).map(
        (eventType) => ({
          machineId: `analytics-${index}`,
          eventType,
          releaseId: release.id,
          platform: 'win32' as const,
          architecture: 'x64' as const,
        }),
      ),
    ).flat();
  await report(server, [...downloads(good, 0), ...downloads(fair, 1), ...downloads(bad, 5)]);
  const machineId = 'analytics-seen-last';
  await report(server, [{ machineId, eventType: 'check', platform: 'darwin', architecture: 'arm64' }]);
  await enrollOn(server, await makeLicense(server.admin), machineId);
  await server.db
    .updateTable('release_totals')
    .set({ proven_downloads: 8 })
    .where('release_id', '=', good.id)
    .execute();
  await page.goto(`${server.url}/releases`);
  await page.getByRole('tab', { name: 'Analytics' }).click();
  await expect(page).toHaveTitle('Analytics · Release Management · Lanyard');
  await expect(tiles).toContainText('Active Machines (30d)1');
  await expect(tiles).toContainText('Total Downloads30');
  await expect(tiles).toContainText(`Latest Release${bad.version}`);
  await expect(page.getByRole('heading', { name: 'Update Check Trends (30 Days)' })).toBeVisible();
  await expect(page.getByRole('heading', { name: 'Download Statistics by Version' })).toBeVisible();
  for (const series of ['Total Checks', 'Unique Machines', 'Successful', 'Failed'])
    await expect(page.getByText(series, { exact: true }).first()).toBeVisible();
  const chart = page.getByRole('region', { name: 'Download Statistics by Version', exact: true });
  await chart.getByText('Table', { exact: true }).click();
  await expect(chart.getByRole('row')).toHaveCount(11);
  await expect(rowOf(chart, bad.version).getByRole('cell')).toHaveText(['5', '5']);
  const performance = page.getByRole('region', { name: 'Release Performance' });
  await expect(performance.getByRole('columnheader')).toHaveText([
    'Version',
    'Channel',
    'Platform',
    'Unique Downloads',
    'Success Rate',
  ]);
  await expect(performance.getByRole('row')).toHaveCount(11);
  for (const [release, unique, rate, color] of [
    [good, '10 (8 proven)', '100.0%', 'green'],
    [fair, '10', '90.0%', 'yellow'],
    [bad, '10', '50.0%', 'red'],
  ] as const) {
    const cells = rowOf(performance, release.version).locator('td');
    await expect(cells).toHaveText([release.version, 'stable', 'Windows (x64)', unique, rate]);
    await expectColor(cells.last().locator('span').first(), color);
  }
  const activity = page.getByRole('region', { name: 'Recently Active Machines' });
  await expect(activity.getByRole('columnheader')).toHaveText([
    'Machine ID',
    'Platform',
    'Current Version',
    'Last Seen',
    'Total Events',
  ]);
  await expect(activity.getByRole('row')).toHaveCount(11);
  const latest = activity.getByRole('row').nth(1);
  await expect(latest).toContainText('macOS (arm64)');
  await expect(latest.getByText('Proven', { exact: true })).toBeVisible();
  await expect(activity.getByText('Proven', { exact: true })).toHaveCount(1);
  await expect(latest).toContainText('Unknown');
  await expect(latest.locator('td').nth(3)).toHaveText(/^(just now|\d minutes? ago)$/);
  await expect(latest.locator('td').last()).toHaveText('1');
  await expectAccessible(page);
  await latest.getByRole('link').click();
  await expect(page).toHaveURL(/\/machines\/[0-9A-Z]{12}$/);
  await page.goBack();
  await expect(page.getByRole('tab', { name: 'Analytics' })).toHaveAttribute('aria-selected', 'true');
});
