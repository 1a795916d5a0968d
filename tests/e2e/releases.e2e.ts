import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { releases, type Release } from '../../contract/releases.ts';
import { archive } from '../binaries.ts';
import { enrollOn, makeLicense } from '../factories.ts';
import { eventually } from '../harness.ts';
import { makeRelease, report, takeUpdate } from './releases.ts';
import {
  chooseInMenu,
  dialog,
  expect,
  expectAccessible,
  expectColor,
  expectStatus,
  inDays,
  rowOf,
  signInAs,
  signInHolding,
  test,
  type ConsoleServer,
  type Page,
} from './support.ts';

const list = (page: Page) => page.getByRole('region', { name: 'Releases', exact: true });
const versions = (page: Page) => list(page).getByRole('heading', { level: 2 });
const row = (page: Page, release: Release) =>
  list(page)
    .getByRole('row')
    .filter({ has: page.getByRole('link', { name: `Download ${release.version} (${release.channel})` }) });
const tile = (page: Page, name: string) =>
  page.getByLabel('All releases').locator('div').filter({ hasText: name }).locator('dd');
const filter = (page: Page, name: string) => page.getByRole('combobox', { name });
const inactive = (page: Page) => page.getByRole('checkbox', { name: 'Show inactive' });
const editing = (page: Page) => page.getByRole('dialog', { name: /^Edit Release/ });
const box = (page: Page, name: string) => editing(page).getByRole('checkbox', { name });
const field = (page: Page, name: string) => editing(page).getByRole('textbox', { name });
const press = (page: Page, name: string) => editing(page).getByRole('button', { name, exact: true }).click();
const rollout = (page: Page) => editing(page).getByRole('button', { name: /^Rollout Configuration/ });
const percentage = (page: Page) => field(page, 'Rollout percentage in numbers');

const stored = (server: ConsoleServer, { id }: Release) =>
  server.admin.ok(releases.get, { params: { releaseId: id } });
const openEdit = async (page: Page, server: ConsoleServer, release: Release) => {
  await signInAs(page, 'binary_manager', `/releases?edit=${release.id}`, server);
  await expect(box(page, 'Draft Release')).toBeVisible({ timeout: 15_000 });
};
const bin = (server: ConsoleServer, { id }: Release, reason = 'No longer needed') =>
  server.admin.ok(releases.softDelete, { params: { releaseId: id }, body: { reason } });

let word = 0;
/** Release notes that only the releases of one test have, to search by. */
const newWord = () => `subject${++word}x`;

test('releases stand under their version, the newest first', async ({ page, server }) => {
  const releaseNotes = newWord();
  const made = {
    old: await makeRelease(server, { version: '40.9.9' }, { releaseNotes }),
    mac: await makeRelease(
      server,
      {
        version: '40.10.0',
        platform: 'darwin',
        architecture: 'arm64',
        fileName: 'Lanyard-arm64.zip',
        bytes: archive(3 * 1024 * 1024),
      },
      { releaseNotes: `${releaseNotes} ${'A long sentence about what is new. '.repeat(20)}` },
    ),
    windows: await makeRelease(
      server,
      { version: '40.10.0' },
      { releaseNotes, isMandatory: true, rolloutPercentage: 40 },
    ),
    small: await makeRelease(server, { version: '40.10.1', architecture: 'ia32' }, { releaseNotes }),
    beta: await makeRelease(
      server,
      { version: '40.11.0-beta', channel: 'beta' },
      { releaseNotes, isDraft: true },
    ),
  };
  await report(server, [
    { machineId: 'list-1', eventType: 'download_start', releaseId: made.windows.id },
    { machineId: 'list-2', eventType: 'download_start', releaseId: made.windows.id },
  ]);
  await signInAs(page, 'binary_manager', `/releases?search=${releaseNotes}`, server);
  await expect(page.getByRole('heading', { level: 1, name: 'Release Management' })).toBeVisible();
  await expect(page.getByRole('tab')).toHaveText(['Releases', 'Analytics']);
  await expect(versions(page)).toHaveText([
    'Version 40.11.0-beta',
    'Version 40.10.1',
    /^Version 40\.10\.0\s*2 builds$/,
    'Version 40.9.9',
  ]);
  await expect(list(page).getByRole('columnheader')).toHaveText([
    'Platform',
    'Channel',
    'Rollout',
    'Release Notes',
    'Released',
    'Size',
    'SHA-512',
    'Downloads',
    'Actions',
  ]);
  await expect(page.getByText(/^as of \d\d:\d\d:\d\d$/)).toBeVisible();
  // The actions column is sticky: a partly covered number would be misread.
  const hidden = () => list(page).evaluate((table) => table.scrollWidth - table.clientWidth);
  await expect.poll(hidden, 'does it scroll sideways?').toBe(0);
  const cells = (release: Release) => row(page, release).getByRole('cell');
  const windows = rowOf(list(page), 'Mandatory').getByRole('cell');
  await expect(windows).toHaveText([
    'Windows',
    'stableMandatory',
    '40 %',
    releaseNotes,
    'just now',
    '1.00 KB',
    made.windows.sha512.slice(0, 8),
    '2',
    '',
  ]);
  await expect(windows.first().locator('svg')).toHaveCount(1);
  const mac = rowOf(list(page), 'macOS (arm64)').getByRole('cell');
  await expect(mac.nth(5)).toHaveText('3.00 MB');
  await expect(mac.nth(7)).toHaveText('');
  const notes = await mac
    .nth(3)
    .locator('div')
    .evaluate((text) => ({
      lines: text.clientHeight / Number.parseFloat(getComputedStyle(text).lineHeight),
      cut: text.scrollHeight > text.clientHeight,
    }));
  expect(notes.cut).toBe(true);
  expect(Math.round(notes.lines)).toBe(2);
  await expect(cells(made.small).first()).toHaveText('Windows (x86)');
  await expect(cells(made.beta).nth(1)).toHaveText('betaDraft');
  await expect(cells(made.beta).nth(2)).toHaveText('—');
  const download = row(page, made.small).getByRole('link', { name: /^Download/ });
  await expect(download).toHaveAttribute('href', made.small.fileUrl);
  await expect(download).toHaveAttribute('target', '_blank');
  await expectAccessible(page);
});

test('filters narrow the list; two of the tiles do not follow them', async ({ page, server }) => {
  const releaseNotes = newWord();
  const build = (version: string) => ({ version, bytes: archive(512 * 1024), fileName: 'Lanyard.zip' });
  await makeRelease(server, { ...build('41.0.0'), platform: 'darwin' }, { releaseNotes });
  await makeRelease(
    server,
    { ...build('41.0.0'), platform: 'darwin', architecture: 'arm64' },
    { releaseNotes },
  );
  await makeRelease(server, { version: '41.1.0-beta', channel: 'beta' }, { releaseNotes });
  await makeRelease(server, { version: '41.2.0-alpha', channel: 'alpha' }, { releaseNotes });
  await makeRelease(server, { version: '41.3.0' }, { releaseNotes, isActive: false });
  await signInAs(page, 'viewer', `/releases?search=${releaseNotes.toUpperCase()}`, server);
  const shown = async (...wanted: string[]) =>
    expect(versions(page)).toHaveText(wanted.map((version) => new RegExp(`^Version ${version}`)));
  await shown('41.2.0-alpha', '41.1.0-beta', '41.0.0');

  await expect(page.getByLabel('All releases').locator('dt')).toHaveText([
    'Total Releases',
    'Active Releases',
    'Unique Versions',
    'Storage Used',
  ]);
  const { meta } = (await server.admin.call(releases.list, { query: { limit: '1' } })).body;
  const totals = async () => {
    await expect(tile(page, 'Total Releases')).toHaveText(String(meta.totalReleases));
    await expect(tile(page, 'Active Releases')).toHaveText(String(meta.activeReleases));
  };
  await totals();
  await expect(tile(page, 'Unique Versions')).toHaveText('3');
  await expect(tile(page, 'Storage Used')).toHaveText('1.00 MB');

  await expect(inactive(page)).not.toBeChecked();
  await inactive(page).check();
  await shown('41.3.0', '41.2.0-alpha', '41.1.0-beta', '41.0.0');
  await expect(rowOf(list(page), 'Inactive')).toHaveCount(1);
  await expect(page).toHaveURL(/inactive=1/);
  await totals();
  await expect(tile(page, 'Unique Versions')).toHaveText('4');
  await page.reload();
  await expect(inactive(page)).toBeChecked();
  await inactive(page).uncheck();
  await shown('41.2.0-alpha', '41.1.0-beta', '41.0.0');

  const options = async (name: string, wanted: string[]) => {
    await filter(page, name).click();
    await expect(page.getByRole('option')).toHaveText(wanted);
    await page.keyboard.press('Escape');
  };
  await options('Platform', ['Windows', 'macOS', 'Linux']);
  await options('Channel', ['stable', 'beta', 'alpha']);
  await options('Architecture', ['x64', 'arm64', 'x86']);
  const pick = async (name: string, option: string) => {
    await filter(page, name).click();
    await page.getByRole('option', { name: option, exact: true }).click();
  };
  await pick('Channel', 'beta');
  await shown('41.1.0-beta');
  await totals();
  await pick('Channel', 'stable');
  await pick('Platform', 'macOS');
  await shown('41.0.0');
  await expect(tile(page, 'Unique Versions')).toHaveText('1');
  await pick('Architecture', 'arm64');
  await expect(list(page).getByRole('link', { name: /^Download/ })).toHaveCount(1);
  await expect(tile(page, 'Storage Used')).toHaveText('0.50 MB');
  await pick('Platform', 'Windows');
  await expect(page.getByText('No releases found matching your filters.')).toBeVisible();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Clear search and filters' }).click();
  await page.getByPlaceholder('Search version or notes...').fill('41.2.0-ALPHA');
  await shown('41.2.0-alpha');
});

test('a failure to load the list shows the message', async ({ page, server }) => {
  expectStatus(page, 500);
  await makeRelease(server);
  const call = '**/updates/admin/releases?*';
  await page.route(call, (route) =>
    route.fulfill({ status: 500, json: { success: false, error: 'The list is lost', code: 'INTERNAL' } }),
  );
  await signInAs(page, 'viewer', '/releases', server);
  await expect(page.getByRole('heading', { name: 'Error loading releases' })).toBeVisible({
    timeout: 15_000,
  });
  await expect(page.getByText(/The list is lost/)).toBeVisible();
  await page.unroute(call);
  await page.getByRole('button', { name: 'Retry' }).click();
  await expect(list(page)).toBeVisible();
});

test('Analytics without a release says that there is none', async ({ page, freshServer: server }) => {
  await signInAs(page, 'viewer', '/releases?tab=analytics', server);
  await expect(page.getByLabel('Last 30 days')).toContainText('Latest ReleaseN/A');
  await expect(page.getByRole('heading', { name: 'No machines yet' })).toBeVisible();
  await expectAccessible(page);
});

test('Analytics has its tiles, charts and tables', async ({ page, freshServer: server }) => {
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
  await signInAs(page, 'viewer', '/releases', server);
  await page.getByRole('tab', { name: 'Analytics' }).click();
  await expect(page).toHaveTitle('Analytics · Release Management · Lanyard');
  const tiles = page.getByLabel('Last 30 days');
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
    const cells = rowOf(performance, release.version).getByRole('cell');
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
  await expect(latest.getByRole('cell').nth(3)).toHaveText('just now');
  await expect(latest.getByRole('cell').last()).toHaveText('1');
  await expectAccessible(page);
  await latest.getByRole('link').click();
  await expect(page).toHaveURL(/\/machines\/[0-9A-Z]{12}$/);
  await page.goBack();
  await expect(page.getByRole('tab', { name: 'Analytics' })).toHaveAttribute('aria-selected', 'true');
});

test('Edit Release changes what it shows, and says so', async ({ page, server }) => {
  const release = await makeRelease(server, {}, { releaseNotes: 'Before' });
  await openEdit(page, server, release);
  await expect(editing(page)).toContainText(`Version ${release.version}`);
  await expect(editing(page).getByRole('heading')).toContainText('stable');
  await expect(editing(page).getByRole('heading')).toContainText('Windows (x64)');
  for (const hint of [
    'Release is not available for download',
    'Users must update to continue using the app',
    'Minimum version required to apply this update',
  ])
    await expect(editing(page).getByText(hint)).toBeVisible();
  const minimum = field(page, 'Minimum App Version');
  await expect(minimum).toHaveAttribute('placeholder', '0.9.0');
  await expect(field(page, 'Release Notes')).toHaveAttribute('rows', '4');
  await editing(page).getByRole('combobox', { name: 'Channel' }).click();
  await expect(page.getByRole('option')).toHaveText(['stable', 'beta', 'alpha']);
  await page.getByRole('option', { name: 'alpha' }).click();
  await expectAccessible(page);

  await minimum.fill('1.x');
  await press(page, 'Save Changes');
  await expect(editing(page).getByText('Invalid semantic version: 1.x')).toBeVisible();
  await minimum.fill('0.9.5');
  await box(page, 'Mandatory Update').check();
  await field(page, 'Release Notes').fill('After');
  let save = () => {};
  const held = new Promise<void>((resolve) => (save = resolve));
  await page.route(`**/releases/${release.id}`, async (route) => {
    await held;
    await route.continue();
  });
  await press(page, 'Save Changes');
  const busy = editing(page).getByRole('button', { name: 'Saving...' });
  await expect(busy).toBeVisible();
  save();
  await expect(editing(page).getByText('Release updated successfully!')).toBeVisible();
  await expect(editing(page)).toBeHidden();
  expect(await stored(server, release)).toMatchObject({
    channel: 'alpha',
    isMandatory: true,
    minimumAppVersion: '0.9.5',
    releaseNotes: 'After',
    rolloutPercentage: 100,
  });
});

test('a draft can be neither mandatory nor rolled out', async ({ page, server }) => {
  const release = await makeRelease(server, {}, { isMandatory: true });
  await openEdit(page, server, release);
  await expect(box(page, 'Mandatory Update')).toBeChecked();
  await box(page, 'Draft Release').check();
  await expect(box(page, 'Mandatory Update')).not.toBeChecked();
  await expect(box(page, 'Mandatory Update')).toBeDisabled();
  await rollout(page).click();
  await expect(
    editing(page).getByText(
      'Rollout configuration is disabled for draft releases. Publish the release first to configure rollout settings.',
    ),
  ).toBeVisible();
  await expect(percentage(page)).toBeDisabled();
  await expect(editing(page).getByText(/available to all users|gradually rolled out/)).toHaveCount(0);
  await expectAccessible(page);
  await press(page, 'Save Changes');
  await expect(editing(page)).toBeHidden();
  expect(await stored(server, release)).toMatchObject({ isDraft: true, isMandatory: false });
});

test('the rollout says to whom the release goes', async ({ page, server }) => {
  const release = await makeRelease(server);
  await openEdit(page, server, release);
  await rollout(page).click();
  await expect(
    editing(page).getByText('This release will be available to all users immediately'),
  ).toBeVisible();
  await percentage(page).fill('30');
  await expect(
    editing(page).getByText('This release will be gradually rolled out to 30% of users'),
  ).toBeVisible();
  const slider = editing(page).getByRole('slider', { name: 'Rollout percentage' });
  await expect(slider).toHaveAttribute('aria-valuenow', '30');
  await expect(slider).toHaveAttribute('aria-valuemin', '0');
  await expect(slider).toHaveAttribute('aria-valuemax', '100');
  await slider.press('ArrowRight');
  await expect(percentage(page)).toHaveValue('31');
  await percentage(page).fill('');
  await percentage(page).blur();
  await expect(
    editing(page).getByText('This release will be gradually rolled out to 0% of users'),
  ).toBeVisible();
  await percentage(page).fill('12');
  await expectAccessible(page);
  const call = page.waitForRequest((request) => request.url().endsWith(`/rollout/${release.id}`));
  await press(page, 'Save Changes');
  expect((await call).postDataJSON()).toEqual({ percentage: 12 });
  await expect(editing(page)).toBeHidden();
  expect((await stored(server, release)).rolloutPercentage).toBe(12);
});

test('a draft is published to exactly the percentage that was typed', async ({ page, server }) => {
  const release = await makeRelease(server, {}, { isDraft: true });
  await openEdit(page, server, release);
  await box(page, 'Draft Release').uncheck();
  const typed = percentage(page);
  await typed.focus();
  await page.keyboard.type('250');
  await expect(typed).toHaveValue('250');
  await typed.blur();
  await expect(editing(page).getByText('Must be a whole number from 0 to 100')).toBeVisible();
  await expect(typed).toHaveValue('250');
  await press(page, 'Save Changes');
  await expect(editing(page)).toBeVisible();
  await expectAccessible(page);

  // A click selects the text, so that typing replaces it.
  await typed.click();
  await page.keyboard.type('5');
  await expect(typed).toHaveValue('5');
  const call = page.waitForRequest((request) => request.method() === 'PATCH');
  await page.keyboard.press('Enter');
  expect((await call).postDataJSON()).toMatchObject({ isDraft: false, rolloutPercentage: 5 });
  await expect(editing(page)).toBeHidden();
  expect((await stored(server, release)).rolloutPercentage).toBe(5);
});

test('a change that fails leaves the dialog open with the message', async ({ page, server }) => {
  const release = await makeRelease(server);
  expectStatus(page, 500);
  await openEdit(page, server, release);
  await page.route(`**/releases/${release.id}`, (route) =>
    route.fulfill({ status: 500, json: { success: false, error: 'The disk is read-only' } }),
  );
  await field(page, 'Release Notes').fill('Kept in the field');
  const logged = page.waitForEvent('console', (line) => line.type() === 'warning');
  await press(page, 'Save Changes');
  expect((await logged).text()).toBe('Release could not be saved: The disk is read-only');
  await expect(editing(page).getByRole('alert')).toContainText('The disk is read-only');
  await expect(field(page, 'Release Notes')).toHaveValue('Kept in the field');
  await expectAccessible(page);
  await page.unroute(`**/releases/${release.id}`);
  await page.route(`**/releases/${release.id}`, (route) => route.fulfill({ status: 500, json: {} }));
  await press(page, 'Save Changes');
  await expect(editing(page).getByRole('alert')).toContainText('Failed to update release');
  await press(page, 'Cancel');
  await page.getByRole('button', { name: 'Discard' }).click();
  await expect(editing(page)).toBeHidden();
});

test('two people who edit one release see the conflict', async ({ page, otherPage, server }) => {
  const release = await makeRelease(server, {}, { releaseNotes: 'Nobody knows' });
  expectStatus(page, 409);
  await openEdit(page, server, release);
  await openEdit(otherPage, server, release);
  await field(otherPage, 'Release Notes').fill('Theirs');
  await press(otherPage, 'Save Changes');
  await expect(editing(otherPage)).toBeHidden();
  await field(page, 'Release Notes').fill('Mine');
  await press(page, 'Save Changes');
  const conflict = page.getByRole('dialog').filter({ hasText: 'Theirs' }).last();
  await expect(rowOf(conflict, 'Release Notes')).toContainText('Mine');
  await expectAccessible(page);
  await conflict.getByRole('button', { name: /mine/i }).click();
  await expect(editing(page)).toBeHidden();
  expect((await stored(server, release)).releaseNotes).toBe('Mine');
});

test('deleting moves a release to the recycle bin, with a way back', async ({ page, server }) => {
  const releaseNotes = newWord();
  const release = await makeRelease(server, {}, { releaseNotes });
  await signInAs(page, 'binary_manager', `/releases?search=${releaseNotes}`, server);
  await row(page, release)
    .getByRole('button', { name: /^Delete/ })
    .click();
  const question = dialog(page, 'Delete Release');
  await expect(question).toContainText(
    `Version ${release.version} (stable) for Windows (x64) is moved to the recycle bin and permanently deleted after 30 days.`,
  );
  await expectAccessible(page);
  await question.getByRole('button', { name: 'Move to Recycle Bin' }).click();
  await expect(question.getByText('Reason is required')).toBeVisible();
  await question.getByRole('button', { name: 'Cancel' }).click();
  await expect(row(page, release)).toBeVisible();
  await row(page, release)
    .getByRole('button', { name: /^Delete/ })
    .click();
  await question.getByRole('textbox', { name: 'Reason' }).fill('Wrong build');
  await question.getByRole('button', { name: 'Move to Recycle Bin' }).click();
  await expect(row(page, release)).toHaveCount(0);
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(page.getByText('Release restored successfully')).toBeVisible();
  await expect(row(page, release)).toBeVisible();
});

test('the recycle bin says what was deleted, by whom, why, and for how long it stays', async ({
  page,
  freshServer: server,
}) => {
  await signInAs(page, 'binary_manager', '/releases/trash', server);
  await expect(page.getByRole('heading', { level: 1, name: 'Release Recycle Bin' })).toBeVisible();
  await expect(
    page.getByText('Deleted releases are kept for 30 days before permanent deletion.'),
  ).toBeVisible();
  await expect(page.getByRole('heading', { name: 'No deleted releases' })).toBeVisible();
  await expect(page.getByText('The recycle bin is empty.')).toBeVisible();
  await expectAccessible(page);

  const table = page.getByRole('region', { name: 'Deleted releases' });
  const deleted = new Map<number, Release>();
  for (const daysLeft of [30, 15, 14, 8, 7, 1]) {
    const release = await makeRelease(server);
    await bin(server, release, `Left ${daysLeft}`);
    // Half a day more than what is left, so that the test does not depend on the second.
    const deletedAt = new Date(Date.parse(inDays(daysLeft - 30)) - 43_200_000 * Number(daysLeft < 30));
    await server.db
      .updateTable('releases')
      .set({ deleted_at: deletedAt })
      .where('release_id', '=', release.id)
      .execute();
    deleted.set(daysLeft, release);
  }
  await page.reload();
  await expect(table.getByRole('columnheader')).toHaveText([
    'Version',
    'Platform/architecture',
    'Size',
    'Deleted',
    'Time Until Deletion',
    'Actions',
  ]);
  for (const [left, text, color] of [
    [30, '30 days', 'gray'],
    [15, '15 days', 'gray'],
    [14, '14 days', 'yellow'],
    [8, '8 days', 'yellow'],
    [7, '7 days', 'red'],
    [1, '1 day', 'red'],
  ] as const) {
    const binned = rowOf(table, `"Left ${left}"`);
    await expect(binned).toContainText(deleted.get(left)!.version);
    await expect(binned.getByRole('cell').nth(4)).toHaveText(text);
    await expectColor(binned.getByText(text, { exact: true }), color);
  }
  const first = rowOf(table, '"Left 30"').getByRole('cell');
  await expect(first.nth(1)).toHaveText('Windows (x64)');
  await expect(first.nth(2)).toHaveText('1.00 KB');
  await expect(first.nth(3)).toContainText(`by ${server.printed.email}`);
  await expectAccessible(page);

  await rowOf(table, '"Left 7"').getByRole('button', { name: 'Restore' }).click();
  const restoring = dialog(page, 'Restore Release');
  await expect(restoring).toContainText(
    `Are you sure you want to restore version ${deleted.get(7)!.version}?`,
  );
  await expectAccessible(page);
  await restoring.getByRole('textbox', { name: 'Reason' }).fill('Deleted by mistake');
  await restoring.getByRole('button', { name: 'Restore' }).click();
  await expect(page.getByText('Release restored successfully')).toBeVisible();
  await expect(rowOf(table, '"Left 7"')).toHaveCount(0);

  await rowOf(table, '"Left 8"').getByRole('button', { name: 'Delete' }).click();
  const deleting = dialog(page, 'Permanently Delete Release');
  await expect(deleting).toContainText(
    `This action cannot be undone! Are you sure you want to permanently delete version ${deleted.get(8)!.version}? This will remove the release and its binary file from all storage systems.`,
  );
  await expectAccessible(page);
  await deleting.getByRole('textbox', { name: 'Reason' }).fill('Contains a secret');
  await deleting.getByRole('button', { name: 'Yes, Delete Permanently' }).click();
  await expect(page.getByText('Release permanently deleted')).toBeVisible();
  await expect(rowOf(table, '"Left 8"')).toHaveCount(0);
  await page.getByRole('link', { name: 'Back to Releases' }).click();
  await expect(page).toHaveURL(/\/releases$/);
  await expect(versions(page)).toHaveText([`Version ${deleted.get(7)!.version}`]);
});

test('the recycle bin has pages of 20; a search begins at the first', async ({
  page,
  freshServer: server,
}) => {
  const all: Release[] = [];
  for (let n = 0; n < 23; n++) {
    const release = await makeRelease(server, { version: `50.${n}.0` });
    await bin(server, release);
    all.push(release);
  }
  await signInAs(page, 'binary_manager', '/releases/trash', server);
  const table = page.getByRole('region', { name: 'Deleted releases' });
  const rows = table.getByRole('button', { name: 'Restore' });
  await expect(page.getByText('Showing 1 to 20 of 23 results')).toBeVisible();
  await expect(page.getByText('Page 1 of 2')).toBeVisible();
  await expect(rows).toHaveCount(20);
  await expect(page.getByRole('button', { name: 'Previous page' })).toBeDisabled();
  await page.getByRole('button', { name: 'Next page' }).click();
  await expect(page.getByText('Showing 21 to 23 of 23 results')).toBeVisible();
  await expect(rows).toHaveCount(3);
  await expect(page.getByRole('button', { name: 'Next page' })).toBeDisabled();
  await page.getByPlaceholder('Search by version...').fill('50.2');
  // 50.2.0 and 50.20.0 to 50.22.0
  await expect(page.getByText('Showing 1 to 4 of 4 results')).toBeVisible();
  await expect(page.getByText('Page 1 of 1')).toBeVisible();
  await page.getByPlaceholder('Search by version...').fill('nothing');
  await expect(page.getByRole('heading', { name: 'No deleted releases' })).toBeVisible();
});

test('what fails in the recycle bin is said there', async ({ page, server }) => {
  const binned = await makeRelease(server);
  await bin(server, binned);
  // An actor that is not a user is shown by its id.
  await server.db
    .updateTable('releases')
    .set({ deleted_by_email: null })
    .where('release_id', '=', binned.id)
    .execute();
  expectStatus(page, 500);
  const calls = '**/updates/admin/releases/**';
  await page.route(calls, (route) => route.fulfill({ status: 500, json: {} }));
  await signInAs(page, 'binary_manager', `/releases/trash?search=${binned.version}`, server);
  await expect(page.getByRole('heading', { name: 'Failed to load deleted releases' })).toBeVisible({
    timeout: 15_000,
  });
  await page.unroute(calls);
  await page.getByRole('button', { name: 'Retry' }).click();
  const deleted = rowOf(page, binned.version);
  const { deleted_by } = await server.db
    .selectFrom('releases')
    .select('deleted_by')
    .where('release_id', '=', binned.id)
    .executeTakeFirstOrThrow();
  await expect(deleted).toContainText(`by ${deleted_by}`);
  await page.route(calls, (route) =>
    route.request().method() === 'GET' ? route.fallback() : route.fulfill({ status: 500, json: {} }),
  );
  for (const [button, title, confirm, message] of [
    ['Restore', 'Restore Release', 'Restore', 'Failed to restore release'],
    [
      'Delete',
      'Permanently Delete Release',
      'Yes, Delete Permanently',
      'Failed to permanently delete release',
    ],
  ] as const) {
    await deleted.getByRole('button', { name: button }).click();
    await dialog(page, title).getByRole('textbox', { name: 'Reason' }).fill('Because');
    await dialog(page, title).getByRole('button', { name: confirm }).click();
    await expect(dialog(page, title)).toContainText(message);
    await dialog(page, title).getByRole('button', { name: 'Cancel' }).click();
    // The typed reason is not sent.
    await page.getByRole('button', { name: 'Discard' }).click();
    await expect(page.getByRole('dialog')).toHaveCount(0);
  }
  await page.getByRole('searchbox').fill('no such version');
  await expect(page.getByText('No version matches your search.')).toBeVisible();
  await page.getByRole('button', { name: 'Clear search and filters' }).click();
  await expect(deleted).toBeVisible();
});

test('a rollout whose installs fail pauses itself, says why, and goes on when resumed', async ({
  page,
  server,
}) => {
  // no other test publishes for Windows on x86
  const release = await makeRelease(
    server,
    { architecture: 'ia32', version: '41.66.7' },
    { rolloutPercentage: 50, acceptableFailures: 1 },
  );
  const build = `${release.version} (stable) for Windows (x86)`;
  await signInAs(page, 'binary_manager', '/analytics', server);
  const banner = page.getByRole('status').filter({ hasText: `Rollout of ${build} paused itself at 50 %.` });
  await expect(page.getByRole('heading', { name: 'License Analytics' })).toBeVisible();
  await expect(banner).toHaveCount(0);
  const machines = await takeUpdate(server, release, 5);
  await report(
    server,
    machines.map((machineId, index) => ({
      machineId,
      eventType: index < 3 ? ('install_error' as const) : ('install_complete' as const),
      releaseId: release.id,
    })),
  );
  await eventually(async () => (await stored(server, release)).pausedAt !== null);
  await test.step('which every screen says within half a minute', async () => {
    await expect(banner).toContainText('3 of 5 installs of 41.66.7', { timeout: 30_000 });
    await expectAccessible(page);
    await banner.getByRole('link', { name: 'View releases' }).click();
    await expect(page.getByRole('heading', { name: 'Release Management' })).toBeVisible();
    await expect(banner).toHaveCount(0);
  });
  await page.getByPlaceholder('Search version or notes...').fill(release.version);
  const notice = page.getByRole('region', { name: `Rollout of ${build} paused` });
  await expect(notice).toContainText(`Rollout of ${build} is paused at 50 %`);
  await expect(notice).toContainText(
    '3 of 5 installs of 41.66.7 for Windows (x86) failed (60.0 %). 1 % are acceptable.',
  );
  await expect(notice).toContainText(/Paused (just now|1 minute ago)\./);
  await expect(row(page, release)).toContainText('Paused');
  // the rows of the previous search are dimmed while the next ones load, which starts after the last keystroke
  await expect(page).toHaveURL(/search=/);
  await expect(page.locator('[aria-busy="true"]')).toHaveCount(0);
  await expectAccessible(page);

  await test.step('also when so many newer builds stand above it that it is on no page shown', async () => {
    const empty = {
      total: 0,
      limit: 100,
      offset: 0,
      totalReleases: 0,
      activeReleases: 0,
      uniqueVersions: 0,
      storageBytes: 0,
    };
    const calls = `**${releases.list.path}?*`;
    await page.route(calls, (route) =>
      new URL(route.request().url()).searchParams.has('paused')
        ? route.continue()
        : route.fulfill({ json: { success: true, data: [], meta: empty } }),
    );
    await page.reload();
    await expect(page.getByText('No releases found matching your filters.')).toBeVisible();
    await expect(notice).toContainText(`Rollout of ${build} is paused at 50 %`);
    await page.unroute(calls);
    await page.reload();
  });

  await notice.getByRole('button', { name: 'Resume' }).click();
  const question = dialog(page, 'Resume Rollout');
  await expect(question).toContainText(
    `Offer version ${release.version} to 50 % of users again? Failures are counted from 0 again.`,
  );
  await expectAccessible(page);
  await question.getByRole('button', { name: 'Resume' }).click();
  await expect(page.getByText(`Rollout of ${release.version} resumed`)).toBeVisible();
  await expect(notice).toBeHidden();
  await expect(row(page, release)).not.toContainText('Paused');
  expect(await stored(server, release)).toMatchObject({ pausedAt: null, rolloutPercentage: 50 });
});

test('a rollout is paused by hand, keeps its percentage, and goes on', async ({ page, server }) => {
  const release = await makeRelease(server, {}, { rolloutPercentage: 30 });
  await signInAs(page, 'binary_manager', `/releases?search=${release.version}`, server);
  await chooseInMenu(row(page, release), 'Pause');
  const question = dialog(page, 'Pause Rollout');
  await expect(question).toContainText('It keeps its 30 % for when it is resumed.');
  await question.getByRole('textbox', { name: 'Reason' }).fill('A hospital reports crashes');
  await expectAccessible(page);
  await question.getByRole('button', { name: 'Pause' }).click();
  const notice = page.getByRole('region', { name: `Rollout of ${release.version}` });
  await expect(notice).toContainText('is paused at 30 %');
  await expect(notice).toContainText(/A hospital reports crashes\. Paused by binary_manager\S* just now\./);
  expect(await stored(server, release)).toMatchObject({
    rolloutPercentage: 30,
    pauseReason: 'A hospital reports crashes',
  });
  await chooseInMenu(row(page, release), 'Resume');
  await expect(dialog(page, 'Resume Rollout')).toContainText('Failures from before the pause still count.');
  await dialog(page, 'Resume Rollout').getByRole('button', { name: 'Resume' }).click();
  await expect(notice).toBeHidden();
  expect(await stored(server, release)).toMatchObject({ rolloutPercentage: 30, pausedAt: null });
});

test('publishing asks how many users, and names the machines before it goes to all', async ({
  page,
  server,
}) => {
  const release = await makeRelease(server, { version: '90.1.0', channel: 'alpha' }, { isDraft: true });
  await report(
    server,
    [1, 2, 3].map((n) => ({
      machineId: `reached-${n}`,
      eventType: 'check',
      channel: 'alpha',
      platform: 'win32',
      architecture: 'x64',
      fromVersion: '1.0.0',
    })),
  );
  await openEdit(page, server, release);
  await box(page, 'Draft Release').uncheck();
  await expect(rollout(page)).toHaveAttribute('aria-expanded', 'true');
  await expect(percentage(page)).toHaveValue('');
  await press(page, 'Save Changes');
  await expect(editing(page).getByText('Choose how many users are offered this release')).toBeVisible();
  await expectAccessible(page);
  await press(page, 'Everyone');
  await expect(percentage(page)).toHaveValue('100');
  await press(page, 'Save Changes');
  const question = dialog(page, 'Publish Release');
  await expect(question).toContainText(
    `Offer version 90.1.0 (alpha) for Windows (x64) to all users at once?`,
  );
  await expect(question).toContainText(
    '3 machines of this platform, architecture and channel will be offered it',
  );
  await expectAccessible(page);
  await page.keyboard.press('Escape');
  await expect(question).toBeHidden();
  await expect(editing(page)).toBeVisible();
  expect(await stored(server, release)).toMatchObject({ isDraft: true });
  await press(page, 'Save Changes');
  await question.getByRole('button', { name: 'Publish' }).click();
  await expect(editing(page).getByText('Release updated successfully!')).toBeVisible();
  expect(await stored(server, release)).toMatchObject({ isDraft: false, rolloutPercentage: 100 });
});

test('withdrawing takes a release out of every feed and lists the machines that have it', async ({
  page,
  server,
}) => {
  const releaseNotes = newWord();
  const release = await makeRelease(server, {}, { releaseNotes });
  await report(
    server,
    ['withdrawn-1', 'withdrawn-2'].map((machineId) => ({
      machineId,
      eventType: 'install_complete' as const,
      toVersion: release.version,
      releaseId: release.id,
      platform: 'win32' as const,
      architecture: 'x64' as const,
    })),
  );
  await signInAs(page, 'binary_manager', `/releases?search=${releaseNotes}`, server);
  await chooseInMenu(row(page, release), 'Withdraw');
  const question = dialog(page, 'Withdraw Release');
  await expect(question).toContainText('2 machines run this version and keep it.');
  await expect(question).toContainText(
    'No machine is offered it anymore. Machines with an older version are offered the newest other release',
  );
  await expectAccessible(page);
  await question.getByRole('textbox', { name: 'Reason' }).fill('Loses settings');
  await question.getByRole('button', { name: 'Withdraw' }).click();
  const done = dialog(page, 'Release withdrawn');
  await expect(done).toContainText(
    `Version ${release.version} is in no feed any more. 2 machines have it already:`,
  );
  await expect(done.getByRole('list', { name: 'Affected machines' }).getByRole('link')).toHaveCount(2);
  await expectAccessible(page);
  await done.getByRole('button', { name: 'Close' }).last().click();
  await expect(row(page, release)).toHaveCount(0);
  await inactive(page).check();
  await expect(row(page, release)).toContainText('Inactive');
  expect(await stored(server, release)).toMatchObject({ isActive: false });
});

test('who may not manage rollouts changes releases, but neither publishes nor changes what is offered', async ({
  page,
  server,
}) => {
  const release = await makeRelease(server, {}, { isMandatory: true });
  const permissions = (['read', 'create', 'update'] as const).map(
    (action) => ({ resource: 'releases', action }) as const,
  );
  await signInHolding(page, permissions, `/releases?edit=${release.id}`, server);
  const reason =
    'You may neither publish nor change what machines are offered: that needs rollouts:create or rollouts:update.';
  await expect(editing(page).getByText(reason)).toBeVisible();
  for (const locked of [
    box(page, 'Mandatory Update'),
    editing(page).getByRole('combobox', { name: 'Channel' }),
    field(page, 'Minimum App Version'),
  ])
    await expect(locked).toBeDisabled();
  await expectAccessible(page);
  await box(page, 'Draft Release').check();
  await box(page, 'Draft Release').uncheck();
  await expect(box(page, 'Mandatory Update')).toBeChecked();
  await field(page, 'Release Notes').fill('Said more clearly');
  await press(page, 'Save Changes');
  await expect(editing(page)).toBeHidden();
  expect(await stored(server, release)).toMatchObject({
    isDraft: false,
    isMandatory: true,
    releaseNotes: 'Said more clearly',
  });

  await page.getByRole('button', { name: 'New Release' }).click();
  const upload = dialog(page, 'Upload New Release');
  await expect(upload.getByRole('checkbox', { name: 'Draft Release' })).toBeDisabled();
  await expect(upload.getByText(reason)).toBeVisible();
});

test('those who may only look get no way to change anything', async ({ page, server }) => {
  const releaseNotes = newWord();
  const release = await makeRelease(server, {}, { releaseNotes });
  const binned = await makeRelease(server);
  await bin(server, binned);
  await signInAs(page, 'viewer', `/releases?search=${releaseNotes}`, server);
  await expect(row(page, release)).toBeVisible();
  await expect(page.getByRole('link', { name: 'Recycle Bin' })).toBeVisible();
  await expect(page.getByRole('button', { name: 'New Release' })).toHaveCount(0);
  await expect(row(page, release).getByRole('button', { name: /^(Edit|Delete|Withdraw)/ })).toHaveCount(0);
  await page.goto(`${server.url}/releases?edit=${release.id}&dialog=create`);
  await expect(list(page)).toBeVisible();
  await expect(page.getByRole('dialog')).toHaveCount(0);

  await page.goto(`${server.url}/releases/trash?search=${binned.version}`);
  for (const name of ['Restore', 'Delete']) {
    const button = rowOf(page, binned.version).getByRole('button', { name });
    await expect(button).toHaveAttribute('aria-disabled', 'true');
    await expect(button).toHaveAttribute('title', 'You may not delete releases');
    await button.click({ force: true });
  }
  await expect(page.getByRole('dialog')).toHaveCount(0);
});

test('says on every screen that the storage is away, until it is back', async ({ page, server }) => {
  const binaries = join(server.dataDir, 'binaries');
  await rename(binaries, `${binaries}.away`);
  const storage = async () =>
    ((await (await fetch(`${server.url}/readyz`)).json()) as { storage: string }).storage;
  try {
    await eventually(async () => expect(await storage()).not.toBe('ok'));
    await signInAs(page, 'viewer', '/licenses', server);
    const notice = page.getByRole('status').filter({ hasText: 'the storage is unavailable' });
    await expect(notice).toContainText('Files cannot be uploaded or downloaded');
    await expectAccessible(page);
    await rename(`${binaries}.away`, binaries);
    await eventually(async () => expect(await storage()).toBe('ok'));
    await notice.getByRole('button', { name: 'Check again' }).click();
    await expect(notice).toHaveCount(0);
  } finally {
    await rename(`${binaries}.away`, binaries).catch(() => undefined);
  }
});
