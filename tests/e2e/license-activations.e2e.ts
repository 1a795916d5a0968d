import { activations } from '../../contract/activations.ts';
import { licenses } from '../../contract/licenses.ts';
import { validation } from '../../contract/validation.ts';
import { deactivate, machinesOf, makeApiKey, makeLicense, validateOn } from '../factories.ts';
import { holdBack } from './hold-back.ts';
import {
  button,
  day,
  dialog,
  expect,
  expectAccessible,
  expectBriefly,
  expectSaid,
  expectStatus,
  goTo,
  rowOf,
  signInAs,
  stayWithin,
  test,
  type Page,
} from './support.ts';
import { row, searchBox } from './licenses-screen.ts';

test('the activations modal: texts, actions, what goes wrong', async ({ page, server }) => {
  await stayWithin(day);
  const license = await makeLicense(server.admin, { maxActivations: 2 });
  await validateOn(server.admin, license, 'workstation-6');
  const { licenseKey } = license;
  const desktop = server.api((await makeApiKey(server.admin)).headers);
  await desktop.ok(validation.releaseSeat, { body: { licenseKey, machineId: 'workstation-6' } });
  await validateOn(server.admin, license, 'workstation-7', {
    hostname: 'ws7',
    platform: 'win32',
    architecture: 'x64',
  });
  await validateOn(server.admin, license, 'workstation-8');
  const [eight] = (await machinesOf(server.admin, license)).filter(
    (one) => one.machineId === 'workstation-8',
  );
  await deactivate(server.admin, eight!);
  const path = `/licenses?search=${license.licenseKey}`;
  await signInAs(page, 'super_admin', path, server);
  await row(page, license).getByRole('button', { name: 'Activations' }).click();
  const modal = dialog(page, 'License Activations');
  const machine = (id: string) => rowOf(modal, id);
  await expect(modal).toContainText(license.licenseKey);
  await expect(modal.getByText('Given back today: 1 of 4', { exact: true })).toBeVisible();
  await expect(modal.getByRole('columnheader')).toHaveText([
    'Machine ID',
    'Status',
    'Activation Type',
    'Last Checked',
    'Created',
    'Actions',
  ]);
  await expect(machine('workstation-7')).toContainText('Active');
  await expect(machine('workstation-7')).toContainText('ws7 · Windows (x64)');
  await expect(machine('workstation-7').getByRole('button', { name: 'Deactivate' })).toBeVisible();
  await expect(machine('workstation-8')).toContainText('Deactivated');
  for (const id of ['workstation-6', 'workstation-8'])
    await expect(machine(id).getByRole('button')).toHaveText(['', 'Reactivate']);
  await expect(modal).toContainText('1/2');
  await expectAccessible(page);

  await test.step('reactivate through a validation, and deactivate', async () => {
    const validated = page.waitForRequest((request) => request.url().endsWith('/api/licenses/validate'));
    await machine('workstation-8').getByRole('button', { name: 'Reactivate' }).click();
    expect((await validated).postDataJSON()).toEqual({
      licenseKey: license.licenseKey,
      machineId: 'workstation-8',
    });
    await expectSaid(page, 'Machine workstation-8 reactivated');
    await expect(modal.getByText('Full', { exact: true })).toBeVisible();
    await machine('workstation-7').getByRole('button', { name: 'Deactivate' }).click();
    await expect(dialog(page, 'Deactivate Machine')).toContainText('machine workstation-7 (ws7)?');
    await page.keyboard.press('Escape');
    await expect(dialog(page, 'Deactivate Machine')).toBeHidden();
    await expect(modal).toBeVisible();
    await machine('workstation-7').getByRole('button', { name: 'Deactivate' }).click();
    await dialog(page, 'Deactivate Machine').getByRole('button', { name: 'Deactivate' }).click();
    await expect(machine('workstation-7')).toContainText('Deactivated');
    // What is true of the machine now replaces what was, with its Undo.
    // It stays while the pointer is on it.
    await page.getByText('Machine workstation-7 deactivated').hover();
    await machine('workstation-7').getByRole('button', { name: 'Reactivate' }).press('Enter');
    await expectSaid(page, 'Machine workstation-7 reactivated');
    await expect(page.getByText('Machine workstation-7 deactivated')).toHaveCount(0);
    await machine('workstation-7').getByRole('button', { name: 'Deactivate' }).click();
    await dialog(page, 'Deactivate Machine').getByRole('button', { name: 'Deactivate' }).click();
    await expect(machine('workstation-7')).toContainText('Deactivated');
  });

  await test.step('no free seat', async () => {
    await validateOn(server.admin, license, 'workstation-9');
    // the reason does not wait for the list
    const list = await holdBack(page, `**${activations.list.path.replace('{licenseKey}', '*')}*`);
    await machine('workstation-7').getByRole('button', { name: 'Reactivate' }).click();
    await expect(modal.getByRole('alert')).toContainText('TOO_MANY_ACTIVATIONS');
    list();
    await expect(machine('workstation-9')).toBeVisible();
    await expectAccessible(page);
  });

  await test.step('closed, and not opened again by Back', async () => {
    await modal.getByRole('button', { name: 'Close' }).click();
    await expect(modal).toBeHidden();
    await page.goBack();
    await expect(page).toHaveURL(path);
  });

  await test.step('by a link, without machines', async () => {
    const unused = await makeLicense(server.admin);
    await goTo(page, `/licenses?activations=${unused.licenseKey}`);
    await expect(modal.getByText('No activations found for this license.', { exact: true })).toBeVisible();
  });

  await test.step('not loaded', async () => {
    expectStatus(page, 400);
    const calls = `**${activations.list.path.replace('{licenseKey}', '*')}`;
    await page.route(calls, (route) => route.fulfill({ status: 400, json: { error: 'It is on fire' } }));
    await page.goto(`/licenses?activations=${license.licenseKey}`);
    await expect(modal.getByText('Error loading activations: It is on fire')).toBeVisible();
    await page.unroute(calls);
    await modal.getByRole('button', { name: 'Retry' }).click();
    await expect(machine('workstation-9')).toBeVisible();
  });
});

test('a dialog stays where it is when its content arrives', async ({ page, server }) => {
  const license = await makeLicense(server.admin);
  const arrive = await holdBack(
    page,
    `**${activations.list.path.replace('{licenseKey}', license.licenseKey)}*`,
  );
  await signInAs(page, 'viewer', `/licenses?activations=${license.licenseKey}`, server);
  const close = dialog(page, 'License Activations').getByRole('button', { name: 'Close' });
  await expect(close).toBeVisible();
  const before = await close.boundingBox();
  arrive();
  await expect(dialog(page, 'License Activations')).toContainText('No activations found');
  expect(await close.boundingBox()).toEqual(before);
});

test('a key is copied also where the browser offers no clipboard, or said not to be', async ({
  page,
  server,
}) => {
  // As over plain http.
  await page.addInitScript(() =>
    Object.defineProperty(Navigator.prototype, 'clipboard', { get: () => undefined }),
  );
  const { licenseKey } = await makeLicense(server.admin);
  const arrive = await holdBack(page, `**${licenses.list.path}?*`);
  await signInAs(page, 'super_admin', `/licenses?activations=${licenseKey}`, server);
  const modal = dialog(page, 'License Activations');
  const copy = modal.getByRole('button', { name: `Copy license key ${licenseKey}` });
  await copy.focus();
  arrive();
  await expect(modal.getByRole('link', { name: licenseKey })).toBeVisible();
  await expect(copy).toBeFocused();
  await expectBriefly(modal.getByRole('status').filter({ hasText: 'Copied!' }), () => copy.click());
  await page.keyboard.press('Escape');
  await expect(modal).toBeHidden();
  await searchBox(page).focus();
  await page.keyboard.press('Control+V');
  await expect(searchBox(page)).toHaveValue(licenseKey);
  await expect(page).toHaveURL(`/licenses?search=${licenseKey}`);

  await row(page, { licenseKey }).getByRole('button', { name: 'Activations' }).click();
  await page.evaluate(() => (document.execCommand = () => false));
  await copy.click();
  await expectSaid(page, 'Select the text and copy it by hand: the browser refuses.');
});

test('a refused undo is shown, also after the dialog is closed', async ({ page, server }) => {
  const license = await makeLicense(server.admin, { maxActivations: 1 });
  await validateOn(server.admin, license, 'workstation-1');
  await signInAs(page, 'super_admin', `/licenses?activations=${license.licenseKey}`, server);
  const modal = dialog(page, 'License Activations');
  await modal.getByRole('button', { name: 'Deactivate' }).click();
  await dialog(page, 'Deactivate Machine').getByRole('button', { name: 'Deactivate' }).click();
  // Stays while the pointer is on it.
  await button(page, 'Undo').hover();
  await validateOn(server.admin, license, 'workstation-2');
  const toasts = await watchToasts(page);
  await page.keyboard.press('Escape');
  await expect(modal).toHaveCount(0);
  await button(page, 'Undo').click();
  expect(await toasts.most()).toBe(1);
  await expectSaid(page, /Machine workstation-1 was not reactivated: .*TOO_MANY_ACTIVATIONS/);
});

/** Counts the toasts with an Undo at every change of the page: a moving toast must not be there twice. */
async function watchToasts(page: Page) {
  const most = await page.evaluateHandle(() => {
    const seen = { most: 0 };
    const count = () => {
      const buttons = [...document.querySelectorAll('button')].filter((one) => one.textContent === 'Undo');
      seen.most = Math.max(seen.most, buttons.length);
    };
    new MutationObserver(count).observe(document.body, { childList: true, subtree: true });
    count();
    return seen;
  });
  return { most: () => most.evaluate((seen) => seen.most) };
}
