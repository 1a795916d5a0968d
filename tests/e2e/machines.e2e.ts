import { activations } from '../../contract/activations.ts';
import { credentials } from '../../contract/credentials.ts';
import { machines } from '../../contract/machines.ts';
import { releases } from '../../contract/releases.ts';
import type { RouteAnswer } from '../../contract/route.ts';
import { machineHashOf } from '../../server/machine-hash.ts';
import { archive } from '../binaries.ts';
import { deactivate, enrollOn, machinesOf, makeLicense, unique, validateOn } from '../factories.ts';
import { issueTo, offlineMachine } from '../offline-machine.ts';
import { numbers } from '../time.ts';
import { clickTwice } from './calls.ts';
import { makeRelease, report, type Reported } from './releases.ts';
import {
  goTo,
  heading,
  day,
  dialog,
  expect,
  expectAccessible,
  expectColor,
  expectStatus,
  rowOf,
  signInAs,
  stayWithin,
  test,
  type ConsoleServer,
  type Page,
  shortDay,
} from './support.ts';

const megabyte = 1024 * 1024;
const minute = 60_000;
const tabs = (page: Page) => page.getByRole('tab');
const tab = (page: Page, name: string) => page.getByRole('tab', { name });
const facts = (page: Page) => page.locator('dl').first();
const offers = (page: Page) => page.getByRole('region', { name: /^Why this machine/ });

/** A machine that no other test uses, by the id that it reports with. */
const newMachine = () => unique('machine').replace(' ', '-');

/** The display id of a machine that has reported. */
const displayId = async (server: ConsoleServer, machineId: string) =>
  (await server.admin.ok(machines.get, { params: { id: machineHashOf(machineId) } })).machine.displayId;

/** Opens the page of a machine, where the console is open already without loading it. */
async function openMachine(page: Page, server: ConsoleServer, machineId: string): Promise<void> {
  const id = await displayId(server, machineId);
  if (page.url() === 'about:blank') await signInAs(page, 'viewer', `/machines/${id}`, server);
  else await goTo(page, `/machines/${id}`);
  await expect(heading(page, `Machine ${id}`)).toBeVisible();
}

/** The page's current time may be half a minute old. */
const lag = 35_000;

/** Events one minute apart, the first of them first; the last is more than a minute old. */
const inTurn = (machineId: string, events: Omit<Reported, 'machineId'>[]): Reported[] =>
  events.map((event, index) => ({
    machineId,
    platform: 'win32',
    architecture: 'x64',
    timestamp: new Date(Date.now() - lag - (events.length - index) * minute).toISOString(),
    ...event,
  }));

test('the page of a machine: which it is, what it told, did and fetched, what it runs on, or that it is not known', async ({
  page,
  server,
}) => {
  await stayWithin(day);
  expectStatus(page, 404);
  await test.step('the title and the facts say which machine it is and what it told', async () => {
    const machineId = newMachine();
    await report(
      server,
      inTurn(machineId, [
        {
          eventType: 'check',
          fromVersion: '2.3.1',
          architecture: 'arm64',
          osVersion: 'Windows 11 26100',
          appVersion: '2.3.1-app',
        },
      ]),
    );
    await openMachine(page, server, machineId);
    const id = await displayId(server, machineId);
    await expect(page.getByRole('heading', { level: 1, name: `Machine ${id}`, exact: true })).toBeVisible();
    const hash = machineHashOf(machineId);
    await expect(page.getByText(hash.slice(0, 16), { exact: true })).toBeVisible();
    await expect(page.getByText(hash)).toHaveCount(0);
    // A machine is seen when the service receives its report, whatever its own clock says.
    const seen = new RegExp(`^${shortDay(new Date())}, [\\d:]+ \\((just now|\\d minutes? ago)\\)$`);
    await expect(facts(page).locator('dt')).toHaveText([
      'Platform',
      'Current Version',
      'OS Version',
      'App Version',
      'First Seen',
      'Last Seen',
      'Total Update Checks',
      'Total Downloads',
      'Identity',
    ]);
    await expect(facts(page).locator('dd')).toHaveText([
      'Windows (arm64)',
      '2.3.1',
      'Windows 11 26100',
      '2.3.1-app',
      seen,
      seen,
      '1',
      '0',
      'Claimed only',
    ]);
    await expect(tabs(page)).toHaveText(['Update Events (1)', 'Downloads (0)', 'License Activations (0)']);
    await expectAccessible(page);

    await tab(page, 'Downloads').click();
    await expect(page.getByRole('heading', { name: 'No downloads' })).toBeVisible();
    await tab(page, 'License Activations').click();
    await expect(page.getByRole('heading', { name: 'No license activations' })).toBeVisible();
    await page.getByRole('link', { name: 'Back to Releases' }).click();
    await expect(page).toHaveURL(/\/releases$/);
  });

  await test.step('what a machine never told is unknown; notes are shown where there are any', async () => {
    const machineId = newMachine();
    await report(server, [{ machineId, eventType: 'check' }]);
    await server.db
      .updateTable('machines')
      .set({ notes: 'Lent to the fair in Hanover' })
      .where('machine_hash', '=', Buffer.from(machineHashOf(machineId), 'hex'))
      .execute();
    await openMachine(page, server, machineId);
    const values = facts(page).locator('dd');
    await expect(values).toHaveCount(10);
    for (const index of [0, 1, 2, 3]) await expect(values.nth(index)).toHaveText('Unknown');
    await expect(values.last()).toHaveText('Lent to the fair in Hanover');
    for (const list of ['Timeline', 'Update events'])
      await expect(page.getByRole('list', { name: list })).toContainText(
        'Checked for updates (current: Unknown)',
      );
  });

  await test.step('every event is a sentence, the latest first', async () => {
    const machineId = newMachine();
    const version = { fromVersion: '4.0.0', toVersion: '4.1.0' };
    const events = inTurn(machineId, [
      { eventType: 'download_error', ...version, errorCode: 'ERR_NO_SPACE' },
      { eventType: 'install_error', ...version, errorCode: 'E_ACCESS', errorMessage: 'Access was denied' },
      { eventType: 'install_complete', ...version },
      { eventType: 'rollback', fromVersion: '4.1.0', toVersion: '4.0.0' },
    ]);
    await report(server, events);
    await openMachine(page, server, machineId);
    const list = page.getByRole('list', { name: 'Update events' });
    const items = list.getByRole('listitem');
    await expect(items).toContainText([
      'Rolled back from 4.1.0 to 4.0.0',
      'Successfully installed 4.1.0',
      'Installation failed: Access was denied',
      'Download failed: ERR_NO_SPACE',
    ]);
    await expect(items).toContainText(Array(events.length).fill(/\d{4}, \d\d:\d\d:\d\d/));
    await expect(items.locator('svg')).toHaveCount(events.length);
    await expect(tabs(page).first()).toHaveText('Update Events (4)');
    await expect(items.nth(2)).toContainText(/[3-9] minutes ago/);
    const icon = (index: number) => items.nth(index).locator('svg');
    await expectColor(icon(1), 'green');
    await expectColor(icon(2), 'red');
    await expectColor(icon(3), 'red');
    await expectAccessible(page);
  });

  await test.step('downloads say how they stand', async () => {
    const [done, failed, running] = [
      await makeRelease(server),
      await makeRelease(server),
      await makeRelease(server),
    ];
    const machineId = newMachine();
    await report(
      server,
      inTurn(machineId, [
        { eventType: 'download_start', toVersion: done.version },
        { eventType: 'download_complete', toVersion: done.version, bytesDownloaded: 5.5 * megabyte },
        { eventType: 'download_start', toVersion: failed.version },
        { eventType: 'download_error', toVersion: failed.version, errorCode: 'ERR_CHECKSUM' },
        { eventType: 'download_start', toVersion: running.version },
      ]),
    );
    await openMachine(page, server, machineId);
    const path = `/releases/${running.id}`;
    for (const name of ['Timeline', 'Update events'])
      await expect(
        page.getByRole('list', { name }).getByRole('link', { name: running.version }),
      ).toHaveAttribute('href', path);
    await expect(
      page
        .getByRole('list', { name: 'Timeline' })
        .getByRole('listitem')
        .filter({ hasText: `Download failed: ERR_CHECKSUM (${failed.version})` })
        .getByRole('link'),
    ).toHaveAttribute('href', `/releases/${failed.id}`);
    await expect(tabs(page).nth(1)).toHaveText('Downloads (3)');
    await tab(page, 'Downloads').click();
    await expect(page).toHaveURL(/tab=downloads/);
    const table = page.getByRole('region', { name: 'Downloads' });
    await expect(table.getByRole('columnheader')).toHaveText([
      'Version',
      'Started',
      'Completed',
      'Downloaded',
      'Status',
    ]);
    const cells = (version: string) => rowOf(table, version).locator('td');
    const moment = /^\d+ \w+ \d{4}, \d\d:\d\d:\d\d$/;
    await expect(cells(done.version)).toHaveText([done.version, moment, moment, '5.50 MB', 'Success']);
    await expect(cells(failed.version)).toHaveText([
      failed.version,
      moment,
      '-',
      '-',
      'Failed: ERR_CHECKSUM',
    ]);
    await expect(cells(running.version)).toHaveText([running.version, moment, '-', '-', 'In Progress']);
    await expectColor(table.getByText('Success', { exact: true }), 'green');
    await expectColor(table.getByText('Failed: ERR_CHECKSUM'), 'red');
    await expectColor(table.getByText('In Progress'), 'yellow');
    await expect(table.getByRole('link', { name: running.version })).toHaveAttribute('href', path);
    await expectAccessible(page);
    await page.reload();
    await expect(tab(page, 'Downloads')).toHaveAttribute('aria-selected', 'true');
  });

  await test.step('what was deleted since is said to be no longer kept, not denied', async () => {
    const [gone, left] = [await makeRelease(server), await makeRelease(server)];
    const machineId = newMachine();
    const fetched = [gone, left].map(({ version: toVersion }) => ({
      eventType: 'download_start' as const,
      toVersion,
    }));
    await report(server, inTurn(machineId, fetched));
    const remove = async ({ id }: { id: string }) => {
      const params = { releaseId: id };
      const body = { reason: 'Over' };
      await server.admin.ok(releases.softDelete, { params, body });
      const confirmed = { ...body, confirmation: 'PERMANENTLY DELETE' };
      await server.admin.ok(releases.deletePermanently, { params, body: confirmed });
    };
    const shown = page.getByRole('tabpanel');
    await remove(gone);
    await openMachine(page, server, machineId);
    await tab(page, 'Downloads').click();
    await expect(shown).toContainText('1 more is no longer kept.');
    // of 250 releases, and of one that is gone
    const asked = new RegExp(`/machines/${await displayId(server, machineId)}$`);
    await page.route(asked, async (route) => {
      if (route.request().resourceType() === 'document') return route.fallback();
      const response = await route.fetch();
      const { data } = (await response.json()) as { data: RouteAnswer<typeof machines.get> };
      if (!('downloadHistory' in data)) return route.fulfill({ response });
      const downloadHistory = numbers(200).map((id) => ({ ...data.downloadHistory[0]!, id: `${id}` }));
      const machine = { ...data.machine, totalDownloads: 251 };
      const totals = { ...data.totals, downloads: 250 };
      return route.fulfill({ response, json: { data: { ...data, machine, downloadHistory, totals } } });
    });
    await page.reload();
    await expect(tab(page, 'Downloads')).toHaveText('Downloads (250)');
    await expect(shown).toContainText('The latest 200 of 250 are shown. 1 more is no longer kept.');
    await page.unroute(asked);
    await remove(left);
    // as months later
    const events = server.db
      .deleteFrom('update_events')
      .where('machine_hash', '=', Buffer.from(machineHashOf(machineId), 'hex'));
    await events.where('to_version', '=', gone.version).execute();
    await page.reload();
    await expect(facts(page).locator('dd').nth(7)).toHaveText('2');
    await expect(shown).toContainText('The releases that this machine downloaded are permanently deleted.');
    await tab(page, 'Update Events').click();
    await expect(shown).toContainText('1 more is no longer kept.');
    await events.execute();
    await page.reload();
    await expect(shown).toContainText('What this machine reported is no longer kept.');
  });

  await test.step('license activations of the machine are found by its id', async () => {
    const machineId = newMachine();
    const [active, left] = [await makeLicense(server.admin), await makeLicense(server.admin)];
    await validateOn(server.admin, active, machineId);
    await validateOn(server.admin, left, machineId);
    const [seat] = await machinesOf(server.admin, left);
    await deactivate(server.admin, seat!);
    await report(server, [{ machineId, eventType: 'check' }]);
    await openMachine(page, server, machineId);
    await expect(tabs(page).nth(2)).toHaveText('License Activations (2)');
    await tab(page, 'License Activations').click();
    const table = page.getByRole('region', { name: 'License activations' });
    await expect(table.getByRole('columnheader')).toHaveText([
      'License Key',
      'Status',
      'Created',
      'Enrollment',
      'Actions',
    ]);
    const row = rowOf(table, active.licenseKey);
    await expect(row.locator('td').nth(1)).toHaveText('Active');
    await expect(row.locator('td').nth(2)).toHaveText(/^\d+ \w+ \d{4}, \d\d:\d\d:\d\d$/);
    await expect(row.locator('td').nth(3)).toHaveText('None');
    await expectColor(row.getByText('Active', { exact: true }), 'green');
    await expectColor(rowOf(table, left.licenseKey).getByText('Deactivated'), 'red');
    await expect(row.getByRole('button', { name: 'Deactivate' })).toBeDisabled();
    await expectAccessible(page);
    await row.getByRole('link', { name: active.licenseKey }).click();
    await expect(page.getByRole('region', { name: 'Machines of the license' })).toContainText(machineId);
  });

  await test.step('the page opens by the id that the machine has itself, with dots in it', async () => {
    const machineId = `${newMachine()}.ward.hospital.local`;
    await report(server, inTurn(machineId, [{ eventType: 'check', fromVersion: '2.3.1' }]));
    await goTo(page, `/machines/${machineId}`);
    await page.reload();
    await expect(page.getByRole('heading', { level: 1 })).toContainText(await displayId(server, machineId));
  });

  await test.step('a machine that was never heard of is not found', async () => {
    await goTo(page, '/machines/0000NEVER000');
    await expect(page.getByRole('heading', { name: 'Machine not found' })).toBeVisible();
    await expect(page.getByRole('link', { name: 'Back to Releases' })).toBeVisible();
  });
});

test('a machine that proved itself: since when, seen twice, offline, its enrollment ended', async ({
  page,
  server,
}) => {
  const [license, offlineLicense] = [await makeLicense(server.admin), await makeLicense(server.admin)];
  const machineId = newMachine();
  await report(server, [{ machineId, eventType: 'check' }]);
  const { activationId } = await enrollOn(server, license, machineId);
  await issueTo(server.admin, offlineLicense, offlineMachine(machineId));
  const path = `/machines/${await displayId(server, machineId)}?tab=activations`;
  await signInAs(page, 'super_admin', path, server);
  await expect(facts(page).locator('dd').last()).toHaveText(
    /^First proven \d+ \w+ \d{4}, [\d:]+ \((just now|\d minutes? ago)\)$/,
  );
  const table = page.getByRole('region', { name: 'License activations' });
  const row = rowOf(table, license.licenseKey);
  await expect(row).toContainText('Proven since');
  await expect(rowOf(table, offlineLicense.licenseKey).getByText(/^Offline until \d/)).toBeVisible();
  const notice = page.getByRole('note').filter({ hasText: 'Seen on two machines at once' });
  await expect(notice).toHaveCount(0);

  await server.db
    .updateTable('machine_credentials')
    .set({ cloned_at: new Date() })
    .where('activation_id', '=', activationId)
    .execute();
  await page.reload();
  await expect(notice.getByRole('link', { name: license.licenseKey })).toBeVisible();
  await expect(row).toContainText('Seen on two machines at once since');
  await expectAccessible(page);
  await row.getByRole('link', { name: license.licenseKey }).click();
  const listed = rowOf(page.getByRole('region', { name: 'Machines of the license' }), machineId);
  await expect(listed).toContainText('Proven since');
  await expect(listed).toContainText('Seen on two machines at once since');

  await goTo(page, path);
  await row.getByRole('button', { name: 'End Enrollment' }).click();
  const question = dialog(page, 'End Enrollment');
  await expect(question).toContainText('Its token is refused from now on');
  await expectAccessible(page);
  const made = await clickTwice(question.getByRole('button', { name: 'End Enrollment' }), credentials.end);
  await expect(row.locator('td').nth(3)).toHaveText('None');
  await expect(row.getByRole('button', { name: 'End' })).toHaveCount(0);
  await expect(notice).toHaveCount(0);
  expect(made()).toBe(1);

  await row.getByRole('button', { name: 'Deactivate' }).press('Enter');
  const taking = dialog(page, 'Deactivate Machine');
  await expect(taking).toContainText(`deactivate machine ${machineId}?`);
  await expect(taking).toContainText(`Its seat on license ${license.licenseKey} becomes free`);
  const taken = await clickTwice(taking.getByRole('button', { name: 'Deactivate' }), activations.deactivate);
  const undo = page.getByRole('button', { name: 'Undo' });
  await undo.hover();
  await expect(row.locator('td').nth(1)).toHaveText('Deactivated');
  expect(taken()).toBe(1);
  await undo.click();
  await expect(row.locator('td').nth(1)).toHaveText('Active');
  await deactivate(server.admin, (await machinesOf(server.admin, license))[0]!);
  await page.reload();
  await row.getByRole('button', { name: 'Reactivate' }).press('Enter');
  await expect(row.locator('td').nth(1)).toHaveText('Active');
  await rowOf(table, offlineLicense.licenseKey).getByRole('button', { name: 'Deactivate' }).click();
  await expect(taking).toContainText('so the seat may be used twice until then');
});

test('each release says why this machine is or is not offered it', async ({ page, server }) => {
  // No other test publishes for Windows on x86.
  const lane = { architecture: 'ia32' } as const;
  // a version without a release, so that it does not affect the decision
  await makeRelease(server, { ...lane, version: '19.0.0' });
  const full = await makeRelease(server, { ...lane, version: '20.0.0' });
  const partly = await makeRelease(server, { ...lane, version: '21.0.0' }, { rolloutPercentage: 0 });
  const begun = await makeRelease(server, { ...lane, version: '22.0.0' }, { rolloutPercentage: 1 });
  const draft = await makeRelease(server, { ...lane, version: '23.0.0' }, { isDraft: true });
  const other = await makeRelease(server, {
    platform: 'darwin',
    version: '26.0.0',
    fileName: 'Lanyard.zip',
    bytes: archive(2048),
  });
  const told = { ...lane, platform: 'win32', channel: 'stable', fromVersion: '19.0.0' } as const;
  const isOutside = async (id: string) => {
    const offered = await server.admin.ok(machines.explain, { params: { id } });
    return offered.some(({ reason }) => reason === 'ROLLOUT_BUCKET');
  };
  let machineId;
  // the bucket of one in a hundred is below 1 %
  do {
    machineId = newMachine();
    await report(server, [{ machineId, eventType: 'check', ...told }]);
  } while (!(await isOutside(machineId)));
  await openMachine(page, server, machineId);
  await expect(
    page.getByRole('heading', { name: 'Why this machine is or is not offered a release' }),
  ).toBeVisible();
  const cells = (version: string) => rowOf(offers(page), version).locator('td');
  await expect(cells(full.version)).toHaveText([
    '20.0.0 stable',
    'Offered',
    '100 %',
    'It is the newest release for this machine, which runs 19.0.0, and it is fully out.',
  ]);
  await expect(cells(partly.version)).toHaveText([
    '21.0.0 stable',
    'Rollout at 0 %',
    /^\d{1,2}\.\d\d of 0 %$/,
    'Its rollout is at 0 %: no machine is offered it, and it does not affect other releases.',
  ]);
  await expect(cells(begun.version)).toHaveText([
    '22.0.0 stable',
    'Outside the rollout',
    /^\d{1,2}\.\d\d of 1 %$/,
    /^The machine's bucket \d{1,2}\.\d\d is not below its rollout of 1 %\.$/,
  ]);
  const drawn = page.getByRole('img', { name: /^Rollout 1 %, bucket [\d.]+ outside$/ });
  for (const place of [cells(begun.version).nth(2), page.getByRole('region', { name: 'Verdict' })])
    await expect(place.locator(drawn)).toBeVisible();
  await expect(cells(draft.version).nth(1)).toHaveText('Draft');
  await expect(cells(draft.version).nth(3)).toHaveText(
    'It is a draft: no feed offers it before it is published.',
  );
  await expectColor(cells(full.version).nth(1).locator('span').first(), 'green');
  await expectAccessible(page);

  await expect(rowOf(offers(page), other.version)).toHaveCount(0);
  await page.getByRole('checkbox', { name: /^Show \d+ for other platforms$/ }).check();
  await expect(cells(other.version).nth(3)).toHaveText('It is for darwin x64; the machine is win32 ia32.');
});

test('an error of the server is shown, and can be tried again', async ({ page, server }) => {
  const machineId = newMachine();
  await report(server, [{ machineId, eventType: 'check' }]);
  const id = await displayId(server, machineId);
  expectStatus(page, 500);
  const failing = `**/machines/${id}`;
  await page.route(failing, (route) =>
    route.request().resourceType() === 'document'
      ? route.fallback()
      : route.fulfill({ status: 500, json: { error: 'The events are lost', requestId: 'req-417' } }),
  );
  await signInAs(page, 'viewer', `/machines/${id}`, server);
  await expect(page.getByRole('heading', { name: 'Error loading machine' })).toBeVisible();
  await expect(page.getByText('The events are lost')).toBeVisible();
  await expect(page.getByText('Request ID: req-417')).toBeVisible();
  await page.unroute(failing);
  const retry = page.getByRole('button', { name: 'Retry' });
  await retry.click();
  await expect(page.getByRole('heading', { level: 1, name: `Machine ${id}`, exact: true })).toBeVisible();
  await expect(page.getByRole('heading', { name: 'Error loading the verdict' })).toBeVisible();
  await retry.click();
  await expect(page.getByRole('region', { name: 'Verdict' })).toBeVisible();
});
