import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { inLanes } from '../in-lanes.ts';
import { releases } from '../../contract/releases.ts';
import { uploads } from '../../contract/uploads.ts';
import { updateEvents } from '../../contract/update-events.ts';
import { displayIdOf } from '../../server/features/update-events/machine-id.ts';
import { machineHashOf } from '../../server/machine-hash.ts';
import { program, noise } from '../binaries.ts';
import { makeApiKey } from '../factories.ts';
import { eventually } from '../harness.ts';
import { dialog, expect, rowOf, signInByForm, test, type ConsoleServer, type Page } from './support.ts';
import { fileOnDisk } from './releases.ts';

const machineIds = Array.from({ length: 1000 }, (_, index) => `population-${index}`);
const installer = 'Lanyard Setup 1.0.1.exe';
const megabyte = 1024 * 1024;

test.use({ viewport: { width: 1440, height: 900 } });

/** Machines with electron-updater: plain HTTP with an API key. */
async function population(server: ConsoleServer) {
  const { headers } = await makeApiKey(server.admin, { scopes: ['updates'] });

  /** The response of the feed to one machine that runs 0.9.0. */
  async function check(machineId: string): Promise<{ version: string; releaseId: string | undefined }> {
    const answer = await fetch(`${server.url}/api/v1/updates/electron/win32/x64/latest.yml`, {
      headers: { ...headers, 'x-user-staging-id': machineId, 'x-app-version': '0.9.0' },
    });
    expect(answer.status).toBe(200);
    const text = await answer.text();
    const field = (name: string) => new RegExp(`^${name}: "([^"]*)"$`, 'm').exec(text)?.[1];
    return { version: field('version')!, releaseId: field('releaseId') };
  }

  return {
    headers,
    check,
    /** Every machine checks; returns the machines that are offered an update. */
    async checkAll(): Promise<Map<string, string[]>> {
      const offered = new Map<string, string[]>();
      const answers = await inLanes(machineIds, check, 32);
      for (const [index, { version }] of answers.entries())
        offered.set(version, [...(offered.get(version) ?? []), machineIds[index]!]);
      return offered;
    },
    report: (events: object[]) =>
      server.api(headers).ok(updateEvents.report, {
        body: { events: events as never },
      }),
  };
}

/** A slow connection: two chunks arrive, the others wait until `free` is called. */
async function slowLine(page: Page) {
  const chunks = /\/binaries\/upload\/chunk\//;
  const stored: string[] = [];
  const gates: (() => void)[] = [];
  let open = 2;
  page.on('response', (answer) => {
    if (chunks.test(answer.url()) && answer.status() === 200) stored.push(answer.url());
  });
  await page.route(chunks, async (route) => {
    if (open > 0) open--;
    else await new Promise<void>((resolve) => gates.push(resolve));
    await route.continue().catch(() => undefined);
  });
  return {
    stored,
    async free() {
      await page.unroute(chunks);
      for (const gate of gates) gate();
    },
  };
}

test('a release from its upload to its end', async ({ page, freshServer: server }) => {
  test.setTimeout(240_000);
  const desktops = await population(server);
  const release = (version: string) => page.getByRole('row').filter({ has: edit(version) });
  const edit = (version: string) =>
    page.getByRole('button', { name: new RegExp(`^Edit ${version.replaceAll('.', '\\.')} `) });
  const modal = dialog(page, 'Upload New Release');
  const editing = page.getByRole('dialog', { name: /^Edit Release/ });
  const tray = page.getByRole('region', { name: 'Uploads' });
  const size = 24 * megabyte;
  // npm does not install Windows programs of its packages on other platforms, so this one is generated; it has the
  // signature of one.
  const setup = await fileOnDisk(installer, program(size, noise(size, 'setup')));
  const small = await fileOnDisk('First.exe', program(4096));

  await test.step('sign in, and open New Release', async () => {
    await page.goto(`${server.url}/releases`);
    await signInByForm(page, server.printed.email, server.printed.password);
    await expect(page.getByRole('heading', { level: 1, name: 'Release Management' })).toBeVisible();
    await expect(page.getByText('No releases found matching your filters.')).toBeVisible();
  });

  await test.step('a small full release comes first, in one request', async () => {
    await page.getByRole('button', { name: 'New Release' }).click();
    await expect(modal.getByRole('textbox', { name: 'Version', exact: true })).toHaveValue('1.0.0');
    await modal.locator('input[type=file]').setInputFiles(small);
    await modal.getByRole('checkbox', { name: 'Draft Release' }).uncheck();
    const direct = page.waitForResponse((answer) => answer.url().endsWith(uploads.direct.path));
    await modal.getByRole('button', { name: 'Upload Release' }).click();
    await page.getByRole('button', { name: 'Publish', exact: true }).click();
    expect((await direct).status()).toBe(201);
    await expect(modal).toBeHidden();
    await expect(release('1.0.0')).toContainText('100 %');
  });

  await test.step('choose the installer: platform, architecture and next version are there', async () => {
    await page.getByRole('button', { name: 'New Release' }).click();
    await modal.locator('input[type=file]').setInputFiles(setup);
    await expect(modal.getByText(installer)).toBeVisible();
    await expect(modal.getByText('24.00 MB')).toBeVisible();
    await expect(modal.getByRole('combobox', { name: 'Platform' })).toHaveValue('Windows');
    await expect(modal.getByRole('combobox', { name: 'Architecture' })).toHaveValue('x64');
    await expect(modal.getByRole('textbox', { name: 'Version', exact: true })).toHaveValue('1.0.1');
    await modal.getByRole('textbox', { name: 'Release Notes' }).fill('Opens large studies faster');
  });

  const line = await slowLine(page);
  await test.step('it is hashed and sent, with speed and time left', async () => {
    await modal.getByRole('button', { name: 'Upload Release' }).click();
    const state = modal.getByText(/^(Hashing|Uploading) · /);
    await expect(state).toContainText(/ of 24\.00 MB/);
    await expect.poll(() => line.stored.length).toBe(2);
    await expect(modal.getByRole('progressbar', { name: `Upload of ${installer}` })).toBeAttached();
    await expect(state).toContainText(/^Uploading · .* of 24\.00 MB · .*\/s · .* left$/);
  });

  await test.step('the page is reloaded in mid-upload; the same file goes on', async () => {
    page.once('dialog', (question) => void question.accept());
    await page.reload();
    await expect(modal.getByText(/^Interrupted/)).toBeVisible();
    await expect(
      modal.getByText(/Choose the same file again; uploaded parts are not sent again\./),
    ).toBeVisible();
    const before = [...line.stored];
    await line.free();
    const again: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'PUT') again.push(request.url());
    });
    await modal.locator('input[type=file]').setInputFiles(setup);
    await expect(modal).toBeHidden({ timeout: 30_000 });
    await expect(tray.getByText(/^Uploaded/).last()).toBeVisible({ timeout: 30_000 });
    expect(again.length).toBeGreaterThan(0);
    expect(again.filter((url) => before.includes(url))).toEqual([]);
    await tray.getByRole('link', { name: 'View releases' }).click();
    // the draft is shown with its details, to publish it
    await editing.getByRole('button', { name: 'Cancel' }).click();
    await expect(editing).toBeHidden();
  });

  await test.step('the release is a draft that no feed offers', async () => {
    await expect(release('1.0.1')).toContainText('Draft');
    await expect(release('1.0.1')).toContainText('24.00 MB');
    await expect(release('1.0.1')).toContainText('Opens large studies faster');
    expect((await desktops.check('anyone')).version).toBe('1.0.0');
  });

  const rollOut = async (percentage: string) => {
    await edit('1.0.1').click();
    const publish = editing.getByRole('checkbox', { name: 'Draft Release' });
    if (await publish.isChecked()) await publish.uncheck();
    const section = editing.getByRole('button', { name: /^Rollout Configuration/ });
    if ((await section.getAttribute('aria-expanded')) === 'false') await section.click();
    await editing.getByRole('textbox', { name: 'Rollout percentage in numbers' }).fill(percentage);
    await editing.getByRole('button', { name: 'Save Changes' }).click();
    if (percentage === '100') await page.getByRole('button', { name: 'Offer', exact: true }).click();
    await expect(editing).toBeHidden();
  };

  await test.step('publish it at 5 %', async () => {
    await rollOut('5');
    await expect(release('1.0.1')).not.toContainText('Draft');
    await expect(release('1.0.1')).toContainText('5 %');
  });

  const some = await test.step('about 50 of 1,000 machines are offered it, the same each time', async () => {
    const first = await desktops.checkAll();
    expect([...first.keys()].toSorted()).toEqual(['1.0.0', '1.0.1']);
    const chosen = first.get('1.0.1')!;
    // more than five standard deviations to either side
    expect(chosen.length).toBeGreaterThan(12);
    expect(chosen.length).toBeLessThan(95);
    expect(first.get('1.0.0')).toHaveLength(1000 - chosen.length);
    const second = await desktops.checkAll();
    expect(second.get('1.0.1')).toEqual(chosen);
    return chosen;
  });

  const [failing = '', fine = ''] = some;
  await test.step('machines report what became of it', async () => {
    const { releaseId } = await desktops.check(failing);
    const about = { toVersion: '1.0.1', fromVersion: '0.9.0', releaseId };
    const said = (machineId: string, eventType: string, more = {}) => ({
      eventId: crypto.randomUUID(),
      machineId,
      eventType,
      ...about,
      ...more,
    });
    const events = [
      said(failing, 'download_start'),
      said(failing, 'download_error', { errorCode: 'ERR_CHECKSUM', errorMessage: 'sha512 mismatch' }),
      said(fine, 'download_start'),
      said(fine, 'download_complete', { bytesDownloaded: size }),
      said(fine, 'install_complete'),
    ];
    await desktops.report(events);
    // Sending the same batch again does not count it twice.
    await desktops.report(events);
  });

  await test.step('Analytics shows the downloads and their success', async () => {
    await eventually(async () => {
      const failed = server.db.selectFrom('release_totals').select('failed_downloads');
      return (await failed.where('failed_downloads', '=', 1).execute()).length === 1;
    });
    await page.reload();
    await page.getByRole('tab', { name: 'Analytics' }).click();
    const tiles = page.getByLabel('Last 30 days');
    await expect(tiles).toContainText('Active Machines (30d)1,001');
    await expect(tiles).toContainText('Total Downloads2');
    await expect(tiles).toContainText('Latest Release1.0.1');
    const performance = rowOf(page.getByRole('region', { name: 'Release Performance' }), '1.0.1');
    await expect(performance).toContainText('50.0%');
    await expect(performance.locator('td').nth(3)).toHaveText('2');
  });

  await test.step('the page of the machine tells it in sentences', async () => {
    await page.goto(`${server.url}/machines/${displayIdOf(machineHashOf(failing))}`);
    const events = page.getByRole('list', { name: 'Update events' });
    await expect(events).toContainText('Download failed: sha512 mismatch');
    await expect(events).toContainText('Started downloading 1.0.1');
    await expect(events).toContainText('Checked for updates (current: 0.9.0)');
    await expect(page.getByRole('tab', { name: 'Downloads (1)' })).toBeVisible();
    const why = rowOf(page.getByRole('region', { name: /^Why this machine/ }), '1.0.1 stable');
    await expect(why).toContainText('below its rollout of 5 %');
    await page.goto(`${server.url}/machines/${displayIdOf(machineHashOf(fine))}`);
    await expect(events).toContainText('Successfully installed 1.0.1');
    await page.getByRole('link', { name: 'Back to Releases' }).click();
  });

  await test.step('at 100 % everyone is offered it', async () => {
    await rollOut('100');
    await expect(release('1.0.1')).toContainText('100 %');
    expect(await desktops.checkAll()).toEqual(new Map([['1.0.1', machineIds]]));
  });

  await test.step('in the bin no feed offers it any more', async () => {
    await page.getByRole('button', { name: /^Delete 1\.0\.1 / }).click();
    const question = dialog(page, 'Delete Release');
    await question.getByRole('textbox', { name: 'Reason' }).fill('Crashes at start');
    await question.getByRole('button', { name: 'Move to Recycle Bin' }).click();
    await expect(release('1.0.1')).toHaveCount(0);
    expect(await desktops.checkAll()).toEqual(new Map([['1.0.0', machineIds]]));
  });

  await test.step('restored, it is offered again', async () => {
    await page.getByRole('link', { name: 'Recycle Bin' }).click();
    const binned = rowOf(page, '1.0.1');
    await expect(binned).toContainText('"Crashes at start"');
    await expect(binned).toContainText(`by ${server.printed.email}`);
    await binned.getByRole('button', { name: 'Restore' }).click();
    const question = dialog(page, 'Restore Release');
    await expect(question).toContainText('Are you sure you want to restore version 1.0.1?');
    await question.getByRole('textbox', { name: 'Reason' }).fill('It was the graphics driver');
    await question.getByRole('button', { name: 'Restore' }).click();
    await expect(page.getByText('Release restored successfully')).toBeVisible();
    await expect(page.getByText('No deleted releases')).toBeVisible();
    expect((await desktops.check(machineIds[0]!)).version).toBe('1.0.1');
  });

  await test.step('deleted for good, its binary is gone from storage', async () => {
    const stored = () =>
      readdir(join(server.dataDir, 'binaries'), { withFileTypes: true }).then((all) =>
        all.filter((one) => one.isFile()).map((one) => one.name),
      );
    const [withdrawn] = await server.admin.ok(releases.list, { query: { search: '1.0.1' } });
    const download = () =>
      fetch(server.url + new URL(withdrawn!.fileUrl).pathname, {
        headers: { ...desktops.headers, range: 'bytes=0-1' },
      });
    const before = await stored();
    const found = await download();
    expect(found.status).toBe(206);
    expect(await found.text()).toBe('MZ');

    await page.getByRole('link', { name: 'Back to Releases' }).click();
    await page.getByRole('button', { name: /^Delete 1\.0\.1 / }).click();
    const question = dialog(page, 'Delete Release');
    await question.getByRole('textbox', { name: 'Reason' }).fill('Withdrawn by the vendor');
    await question.getByRole('button', { name: 'Move to Recycle Bin' }).click();
    await expect(question).toBeHidden();
    await page.getByRole('link', { name: 'Recycle Bin' }).click();
    await rowOf(page, '1.0.1').getByRole('button', { name: 'Delete' }).click();
    const last = dialog(page, 'Permanently Delete Release');
    await expect(last).toContainText(
      'This action cannot be undone! Are you sure you want to permanently delete version 1.0.1? This will remove the release and its binary file from all storage systems.',
    );
    await last.getByRole('textbox', { name: 'Reason' }).fill('Withdrawn by the vendor');
    await last.getByRole('button', { name: 'Yes, Delete Permanently' }).click();
    await expect(page.getByText('Release permanently deleted')).toBeVisible();
    await expect(page.getByText('No deleted releases')).toBeVisible();

    expect((await download()).status).toBe(404);
    // The file and its block map are deleted.
    await eventually(async () => {
      expect(await stored()).toHaveLength(before.length - 2);
    });
    expect((await desktops.check(machineIds[0]!)).version).toBe('1.0.0');
  });
});
