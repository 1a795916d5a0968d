import type { Locator } from '@playwright/test';
import { analytics } from '../../contract/analytics.ts';
import { modules } from '../../contract/modules.ts';
import { views } from '../../contract/views.ts';
import { machineHashOf } from '../../server/machine-hash.ts';
import { makeCustomer, makeLicense, revoke, unique, validateOn } from '../factories.ts';
import { beyondTheEdge, scrolledSideways } from './beyond-the-edge.ts';
import { makeRelease } from './releases.ts';
import {
  button,
  expect,
  expectInSight,
  goTo,
  heading,
  inDays,
  quiet,
  seenOn,
  signInAs,
  test,
} from './support.ts';

// WCAG 1.4.10: 1280 pixels at 400 %.
const magnified = { width: 320, height: 256 };
// 1920 by 800 at 150 %
const lowWindow = { width: 1280, height: 533 };
test.use({ viewport: magnified });

test('on a phone with a font of twice the size, values have the width of the screen', async ({
  page,
  server,
}) => {
  const customer = await makeCustomer(server.admin, { name: unique('Universitätsklinikum') });
  const license = await makeLicense(server.admin, { customerId: customer.customerId });
  await seenOn(server, license, unique('large-font'), { hostname: 'ONC-WS-08' });
  await page.setViewportSize({ width: 390, height: 844 });
  const browser = await page.context().newCDPSession(page);
  await browser.send('Page.setFontSizes', { fontSizes: { standard: 32 } });
  await signInAs(page, 'super_admin', '/users?tab=roles', server);
  await expect(button(page, 'See the Console as This Role')).toBeVisible();
  expect(await beyondTheEdge(page)).toEqual([]);
  const inList = `/machines?search=${encodeURIComponent(customer.name)}`;
  for (const path of [inList, `/licenses/${license.licenseId}`]) {
    await goTo(page, path);
    const name = page.getByRole('main').getByRole('link', { name: customer.name }).first();
    await expect.poll(async () => (await name.boundingBox())?.width, path).toBeGreaterThan(200);
  }
  await goTo(page, '/analytics');
  await expect(page.getByRole('region', { name: 'Active Users', exact: true })).toBeVisible();
  await quiet(page);
  expect(await beyondTheEdge(page), 'the hidden hints of the charts').toEqual([]);
});

test('on a tablet or small laptop no list scrolls sideways', async ({ page, server }) => {
  const { admin } = server;
  const { customerId, name } = await makeCustomer(admin, {
    name: unique('Queen Elizabeth Hospital Leeds, Park'),
  });
  const known = await admin.ok(modules.list, {});
  const license = await makeLicense(admin, {
    customerId,
    maxActivations: 1,
    validUntil: inDays(20),
    moduleIds: known.slice(0, 5).map(({ moduleId }) => moduleId),
  });
  const revoked = await makeLicense(admin, { customerId });
  const facts = { platform: 'win32', architecture: 'x64', appVersion: '4.3.0-beta.3' };
  const machineId = unique('a station');
  await validateOn(admin, license, machineId, { hostname: 'PATH-WS-67', ...facts });
  const built = { ...facts, appVersion: `4.3.0-nightly.${'20261128'.repeat(6)}` };
  await validateOn(admin, revoked, unique('a station'), { hostname: 'PATH-WS-26', ...built });
  await revoke(admin, revoked);
  // refused: no seat is left
  await seenOn(server, license, unique('a station'), { hostname: 'PATH-WS-91', ...facts });
  const releaseNotes = 'For testers: new worklist and measurement tools, and what was wrong before.';
  const { version } = await makeRelease(server, { version: '50.1.0-beta.4' }, { releaseNotes });
  await signInAs(page, 'super_admin', '/today', server);
  for (const list of [
    `/licenses?customer=${customerId}`,
    `/licenses?customer=${customerId}&sort=validUntil`,
    `/licenses?customer=${customerId}&tab=revoked`,
    `/customers?search=${name}`,
    `/machines?customer=${customerId}`,
    `/machines/${machineHashOf(machineId)}`,
    `/releases?search=${version}`,
    '/users',
    '/api-keys',
    `/audit?resourceId=${license.licenseId}`,
  ]) {
    await goTo(page, list);
    await quiet(page);
    for (const width of [640, 768, 1023, 1024, 1200, 1280]) {
      await page.setViewportSize({ width, height: 768 });
      await expect(page.locator('tbody td').last()).toBeVisible();
      await expect.poll(() => scrolledSideways(page), `${list} at ${width} px`).toEqual([]);
    }
  }
  // there two lists are side by side
  await page.setViewportSize({ width: 2560, height: 1440 });
  await goTo(page, `/customers/${customerId}`);
  const listed = page.getByRole('region', { name: 'Machines of the customer' });
  await expect(listed.getByRole('link', { name: 'PATH-WS-26' })).toBeVisible();
  await expect.poll(() => scrolledSideways(page), 'a customer at 2560 px').toEqual([]);
  await page.setViewportSize({ width: 1280, height: 768 });
  await goTo(page, `/licenses?customer=${customerId}`);
  await expect(heading(page, 'License Management')).toBeVisible();
  await page.locator('tr[data-row]').first().press('Space');
  await expect(page.getByRole('dialog').getByRole('link', { name: 'PATH-WS-67' })).toBeVisible();
  await expect(
    page.getByRole('dialog').getByText('All activations of this license are in use'),
  ).toBeVisible();
  await expect.poll(() => scrolledSideways(page), 'a license beside its list').toEqual([]);
  await page.setViewportSize({ width: 1024, height: 768 });
  await goTo(page, `/audit?resourceId=${license.licenseId}`);
  const details = page.locator('td[data-label="Details"]').filter({ hasText: license.licenseKey });
  await expect(details.first()).toBeVisible();
  const cut = await details
    .locator('div')
    .evaluateAll((parts) => parts.filter((part) => part.scrollWidth > part.clientWidth).length);
  expect(cut, 'is the rest of a summary on further lines?').toBe(0);

  // a page with little on it has nothing to scroll, the line with version and build included
  await page.setViewportSize(lowWindow);
  await goTo(page, '/no-such-screen');
  await quiet(page);
  await expect.poll(() => page.evaluate(() => document.documentElement.scrollHeight)).toBe(lowWindow.height);

  await page.setViewportSize({ width: 1024, height: 450 });
  await goTo(page, `/licenses?customer=${customerId}`);
  await expect(heading(page, 'License Management')).toBeVisible();
  await page.locator('tr[data-row]').first().getByRole('button').last().click();
  await expect(page.getByRole('menu')).toBeInViewport({ ratio: 1 });
  await page.keyboard.press('ArrowUp');
  await expectInSight(page.getByRole('menuitem', { name: 'Revoke' }));
  await page.goto(`${server.url}/licenses?dialog=create`);
  await page
    .getByRole('button', { name: /calendar/i })
    .first()
    .click();
  await expect(page.getByRole('dialog', { name: /^Calendar of/ })).toBeInViewport({ ratio: 1 });

  await page.setViewportSize({ width: 360, height: 330 });
  await page.goto(`${server.url}/users?dialog=create`);
  await page.getByRole('combobox', { name: 'Role' }).click();
  await expect(page.getByRole('listbox')).toBeInViewport({ ratio: 1 });
  await page.keyboard.press('ArrowUp');
  await expectInSight(page.getByRole('option').last());
  for (const [path, opener] of [
    ['/licenses', 'Columns'],
    ['/audit', 'Chain whole'],
  ] as const) {
    await page.goto(server.url + path);
    await page.getByRole('button', { name: opener }).click();
    await expect(page.getByRole('dialog')).toBeInViewport({ ratio: 1 });
  }
});

test('on the way up with Tab, the header of a list or table covers nothing that has the focus', async ({
  page,
  server,
}) => {
  await page.setViewportSize(lowWindow);
  const family = unique('Tall');
  const made: { customerId: string; name: string }[] = [];
  for (let at = 0; at < 16; at++) made.push(await makeCustomer(server.admin, { name: `${family} ${at}` }));
  await signInAs(page, 'super_admin', `/customers?search=${family}`, server);
  const rows = page.getByRole('region', { name: 'Customers' }).locator('tr[data-row]');
  await expect(rows).toHaveCount(16);
  await expectBelowHeader(rows.getByRole('checkbox'), 'Customers');

  // figures of the ten largest customers
  const use = (one: { customerId: string; name: string }) => ({
    customerId: one.customerId,
    company: one.name,
    appVersion: '4.2.1',
    machines: 1,
    provenMachines: 0,
  });
  await page.route(`**${analytics.customers.path}?*`, async (route) => {
    const response = await route.fetch();
    const json = (await response.json()) as { data: object };
    const data = { ...json.data, versions: made.slice(0, 10).map(use) };
    await route.fulfill({ response, json: { ...json, data } });
  });
  await goTo(page, '/analytics');
  const figures = page.getByRole('region', { name: 'Versions in the Field, table' });
  await expect(figures.getByRole('link')).toHaveCount(10);
  await expectBelowHeader(figures.getByRole('link'), 'Versions in the Field, table');
});

/** Scrolls the list until its first row is behind its header, and goes there with Shift and Tab. */
async function expectBelowHeader(controls: Locator, list: string): Promise<void> {
  const page = controls.page();
  const header = page.getByRole('region', { name: list }).locator('thead th').first();
  await controls.nth(1).focus();
  await controls
    .first()
    .evaluate((one) => one.closest('[role="region"]')!.scrollTo(0, one.closest('tr')!.offsetTop - 4));
  await page.keyboard.press('Shift+Tab');
  const focused = page.locator('tr:first-child :focus');
  await expect(focused).toHaveCount(1);
  const [at, above] = await Promise.all([focused.boundingBox(), header.boundingBox()]);
  expect(at!.y, list).toBeGreaterThanOrEqual(above!.y + above!.height);
}

test('forced colors show the focus, what is chosen and what is disabled', async ({ page, server }) => {
  const license = await makeLicense(server.admin);
  const machine = unique('forced colors');
  await seenOn(server, license, machine);
  const saveView = (name: string) =>
    server.admin.ok(views.create, { body: { list: 'licenses', name, query: 'tab=revoked', shared: true } });
  const [chosen, another] = [await saveView(unique('Chosen')), await saveView(unique('Another'))];
  await signInAs(page, 'super_admin', '/licenses', server);
  await page.emulateMedia({ forcedColors: 'active' });
  await page.goto('/licenses');
  await quiet(page);
  await page.keyboard.press('Tab');
  const skip = page.getByRole('link', { name: 'Skip to content' });
  await expect(skip).toBeFocused();
  const outlineOf = (part: Locator) => part.evaluate((element) => getComputedStyle(element).outlineStyle);
  expect(await outlineOf(skip)).not.toBe('none');

  const look = (part: Locator) =>
    part.evaluate((element) => {
      const { outline, backgroundColor, color } = getComputedStyle(element);
      return `${outline} ${backgroundColor} ${color}`;
    });
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Type a command or search' }).fill('go to');
  const pages = page.getByRole('option', { name: /^Go to/ });
  await page.keyboard.press('ArrowDown');
  await expect(pages.nth(1)).toHaveAttribute('data-selected', 'true');
  expect(await look(pages.nth(1)), 'what Enter opens').not.toBe(await look(pages.nth(2)));

  await page.keyboard.press('Escape');
  await goTo(page, '/users?dialog=create');
  await page.getByRole('combobox', { name: 'Role' }).click();
  await page.keyboard.press('ArrowDown');
  const active = page.locator('[role=option][data-combobox-selected]');
  const other = page.locator('[role=option]:not([data-combobox-selected])').first();
  expect(await look(active), 'what Enter chooses').not.toBe(await look(other));

  await page.goto('/api-keys?dialog=create');
  await page.getByRole('textbox', { name: 'Expiration Date' }).fill('15 Nov 2031');
  await button(page, 'Choose Expiration Date in a calendar').click();
  const filling = (name: string) =>
    page.getByRole('button', { name }).evaluate((day) => getComputedStyle(day).backgroundColor);
  expect(await filling('15 November 2031'), 'the day that is chosen').not.toBe(
    await filling('16 November 2031'),
  );

  const lineOf = (name: RegExp) =>
    page.getByRole('tab', { name }).evaluate((one) => getComputedStyle(one).borderBottomColor);
  await goTo(page, `/machines/${machineHashOf(machine)}`);
  await expect(page.getByRole('tab', { name: /^Update Events/ })).toHaveAttribute('aria-selected', 'true');
  expect(await lineOf(/^Update Events/), 'the tab of a machine').not.toBe(await lineOf(/^Downloads/));

  const weightOf = (view: string) =>
    page.getByRole('menuitem', { name: view }).evaluate((one) => getComputedStyle(one).fontWeight);
  await goTo(page, `/licenses?tab=revoked&view=${chosen.id}`);
  await button(page, 'Views').click();
  await expect(page.getByRole('menuitem', { name: chosen.name })).toHaveAttribute('aria-current', 'true');
  expect(await weightOf(chosen.name), 'the view that is open').not.toBe(await weightOf(another.name));
  await page.keyboard.press('Escape');

  await page.goto('/users?tab=roles&role=super_admin');
  expect(await look(button(page, 'Delete'))).not.toBe(await look(button(page, 'New Role')));

  await page.goto('/licenses');
  await quiet(page);
  await page.setViewportSize({ width: 1280, height: 720 });
  await page.keyboard.press('j');
  const row = page.locator('tr[data-row]').first();
  await expect(row).toBeFocused();
  expect(await outlineOf(row), 'the row that keys apply to').not.toBe('none');
});

test('the command palette shows what it found', async ({ page, server }) => {
  const email = `${'w'.repeat(60)}@hospital.example`;
  const { name } = await makeCustomer(server.admin, { email });
  await signInAs(page, 'super_admin', '/customers', server);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Type a command or search' }).fill('go to');
  await expectInSight(page.getByRole('option', { name: 'Go to Today' }));
  await page.getByRole('combobox').fill(`c: ${name}`);
  await expect(page.getByRole('option').filter({ hasText: email })).toBeVisible();
  expect(await scrolledSideways(page)).toEqual([]);
});
