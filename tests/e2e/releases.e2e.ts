import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { notices } from '../../contract/notices.ts';
import { releases, type Release } from '../../contract/releases.ts';
import { archive } from '../binaries.ts';
import { eventually } from '../time.ts';
import { makeRelease, report } from './releases.ts';
import {
  chooseInMenu,
  dialog,
  expect,
  expectAccessible,
  rowOf,
  signInAs,
  test,
  type Page,
} from './support.ts';
import { list, newWord, row, stored, versions } from './releases-screen.ts';

const tile = (page: Page, name: string) =>
  page.getByLabel('All releases').locator('div').filter({ hasText: name }).locator('dd');

const filter = (page: Page, name: string) => page.getByRole('combobox', { name });
const inactive = (page: Page) => page.getByRole('checkbox', { name: 'Show inactive' });

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
  const cells = (release: Release) => row(page, release).locator('td');
  const windows = rowOf(list(page), 'Mandatory').locator('td');
  await expect(windows).toHaveText([
    'Windows',
    'stableMandatory',
    '40 %',
    releaseNotes,
    /^(just now|\d minutes? ago)$/,
    '1.00 KB',
    made.windows.sha512.slice(0, 8),
    '2',
    '',
  ]);
  await expect(windows.first().locator('svg')).toHaveCount(1);
  // what a screen reader says of each row while it goes down a column
  await expect(windows.first()).toHaveRole('rowheader');
  await expect(windows.first()).toHaveAccessibleName('40.10.0 (stable) for Windows (x64)');
  const mac = rowOf(list(page), 'macOS (arm64)').locator('td');
  await expect(mac.nth(5)).toHaveText('3.00 MB');
  await expect(mac.nth(7)).toHaveText('');
  const notes = await mac
    .nth(3)
    .locator('div')
    .last()
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
  await page.getByRole('button', { name: 'Clear Search and Filters' }).click();
  await page.getByPlaceholder('Search version or notes...').fill('41.2.0-ALPHA');
  await shown('41.2.0-alpha');
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
    `Version ${release.version} (stable) for Windows (x64) is in no feed any more. 2 machines have it already:`,
  );
  await expect(done.getByRole('list', { name: 'Affected machines' }).getByRole('link')).toHaveCount(2);
  await expectAccessible(page);
  await done.getByRole('button', { name: 'Close' }).last().click();
  await expect(row(page, release)).toHaveCount(0);
  await inactive(page).check();
  await expect(row(page, release)).toContainText('Inactive');
  expect(await stored(server, release)).toMatchObject({ isActive: false });
});

test('says on every screen that the storage is away, until it is back', async ({ page, server }) => {
  const binaries = join(server.dataDir, 'binaries');
  await rename(binaries, `${binaries}.away`);
  const storage = async () =>
    ((await (await fetch(`${server.url}/readyz`)).json()) as { storage: string }).storage;
  try {
    await eventually(async () => expect(await storage()).not.toBe('ok'));
    await signInAs(page, 'viewer', '/licenses', server);
    const notice = page.locator('[data-notice]').filter({ hasText: 'the storage is unavailable' });
    await expect(notice).toContainText('Files cannot be uploaded or downloaded');
    const why =
      'It is that of another installation. Set the storage of this one, and start the service again.';
    await page.route(`**${notices.list.path}`, async (route) => {
      const said = await (await route.fetch()).json();
      await route.fulfill({ json: { ...said, data: { ...said.data, storageForeign: why } } });
    });
    await page.reload();
    await expect(notice.getByRole('link', { name: 'What to do' })).toHaveAttribute('href', '/today');
    await expectAccessible(page);
    await page.unrouteAll({ behavior: 'wait' });
    await page.reload();
    const again = notice.getByRole('button', { name: 'Check Again' });
    await expect(again).toBeVisible();
    await rename(`${binaries}.away`, binaries);
    await eventually(async () => expect(await storage()).toBe('ok'));
    await again.click();
    await expect(notice).toHaveCount(0);
  } finally {
    await rename(`${binaries}.away`, binaries).catch(() => undefined);
  }
});
