import { customers } from '../../contract/customers.ts';
import { modules } from '../../contract/modules.ts';
import { session } from '../../contract/session.ts';
import { views } from '../../contract/views.ts';
import { displayIdOf } from '../../server/features/update-events/machine-id.ts';
import { machineHashOf } from '../../server/machine-hash.ts';
import { every } from '../../web/live.ts';
import { makeCustomer, makeLicense, unique, validateOn } from '../factories.ts';
import { holdBack } from './hold-back.ts';
import { makeRelease } from './releases.ts';
import { dialog, expect, heading, quiet, signInAs, test, type Page } from './support.ts';

const waiting = (page: Page) => page.getByText('Waiting for the server…');

test('a screen stays as it is until the next one has loaded', async ({ page, server }) => {
  const { name } = await makeCustomer(server.admin);
  await signInAs(page, 'super_admin', `/customers?search=${encodeURIComponent(name)}`, server);
  const selected = page.getByRole('checkbox', { name: `Select ${name}` });
  await selected.check();
  const letGo = await holdBack(page, '**/assets/UsersPage-*.js');
  await page.getByRole('navigation').getByRole('link', { name: 'Users' }).click();
  await expect(page).toHaveURL(/\/users$/);
  await expect(selected).toBeChecked();
  await selected.uncheck();
  await page.keyboard.press('/');
  await page.keyboard.type('too late');
  await expect(page.getByRole('main').getByRole('searchbox')).toHaveValue('too late');
  // longer than a typed search waits for the next letter
  await page.evaluate(() => new Promise((settled) => setTimeout(settled, 600)));
  await expect(waiting(page)).toBeVisible();
  letGo();
  await expect(heading(page, 'User Management')).toBeVisible();
  await expect(waiting(page)).toBeHidden();
  const opens = await holdBack(page, '**/assets/CreateUser-*.js');
  await page.getByRole('button', { name: 'Create New User' }).click();
  await expect(waiting(page)).toBeVisible();
  opens();
  await expect(dialog(page, 'Create New User')).toBeVisible();
  await expect(waiting(page)).toBeHidden();
});

test('a screen stays when the file of a part of it cannot be loaded', async ({ page, server, browser }) => {
  const license = await makeLicense(server.admin, {});
  await signInAs(page, 'super_admin', '/account', server);
  // not observed: the browser reports the failures
  const context = await browser.newContext({ storageState: await page.context().storageState() });
  const other = await context.newPage();
  await other.route(/assets\/(behind|menu-parts)-/, (route) => route.abort());
  await other.goto(`${server.url}/licenses?search=${license.licenseKey}`);
  const row = other.getByRole('row', { name: license.licenseKey });
  await expect(row).toBeVisible();
  const failed = other.waitForEvent('requestfailed');
  await other.getByRole('button', { name: /^Use .* colors$/ }).hover();
  await failed;
  await row.getByRole('checkbox').check();
  await expect(other.getByRole('button', { name: 'Revoke…' })).toBeVisible();

  await other.unroute(/assets\/(behind|menu-parts)-/);
  await test.step('the file of a dialog is gone after an update', async () => {
    await other.goto(`${server.url}/audit`);
    const entry = other.getByRole('button', { name: /^Details of/ }).first();
    await other.route(/assets\/EntryDrawer-/, (route) => route.fulfill({ status: 404 }));
    await entry.press('Enter');
    const note = other.getByRole('alert');
    await expect(note).toContainText('could not be loaded');
    await expect(entry).toBeVisible();
    await other.unroute(/assets\/EntryDrawer-/);
    // as a proxy answers until the new version runs; a page of the proxy would replace the console
    await other.route('**/healthz', (route) => route.fulfill({ status: 502 }), { times: 1 });
    await note.getByRole('button', { name: 'Reload page' }).press('Enter');
    await expect(note).toContainText('The server cannot be reached.');
    await expect(entry).toBeVisible();
    await note.getByRole('button', { name: 'Reload page' }).press('Enter');
    await expect(dialog(other, 'Audit Entry')).toBeVisible();
  });

  await test.step('there is no network', async () => {
    await other.goto(`${server.url}/users`);
    await expect(heading(other, 'User Management')).toBeVisible();
    await context.setOffline(true);
    await other.getByRole('button', { name: 'Create New User' }).press('Enter');
    const note = other.getByRole('alert');
    await expect(note).toContainText('could not be loaded');
    await expect(heading(other, 'User Management')).toBeVisible();
    await note.getByRole('button', { name: 'Reload page' }).press('Enter');
    await expect(note).toContainText('The server cannot be reached.');
    await context.setOffline(false);
    await note.getByRole('button', { name: 'Reload page' }).press('Enter');
    await expect(note).toBeHidden();
    await expect(heading(other, 'User Management')).toBeVisible();
  });

  await test.step('the files are gone while a dialog is open: what it did is still said', async () => {
    await other.goto(`${server.url}/licenses?search=${license.licenseKey}`);
    const loaded = other.waitForResponse(/assets\/Toasts-.*\.js/);
    await row.getByRole('button', { name: 'Revoke' }).click();
    const revoking = dialog(other, 'Revoke License');
    await expect(revoking).toBeVisible();
    await loaded;
    await other.route(/assets\//, (route) => route.fulfill({ status: 404 }));
    await revoking.getByRole('button', { name: 'Revoke' }).click();
    await expect(other.getByRole('region', { name: 'Notifications' })).toContainText('revoked');
    await other.unroute(/assets\//);
  });

  await test.step('a script that a proxy put into the page is not loaded', async () => {
    const address = `${server.url}/users`;
    await other.route(address, async (route) => {
      const response = await route.fetch();
      const body = (await response.text()).replace('</body>', '<script src="/injected.js"></script></body>');
      await route.fulfill({ response, body });
    });
    const opens = await holdBack(other, /assets\/libraries-/);
    await other.route('**/injected.js', (route) => route.abort());
    const refused = other.waitForEvent('requestfailed', (one) => one.url().endsWith('/injected.js'));
    await other.goto(address, { waitUntil: 'commit' });
    await refused;
    opens();
    await expect(heading(other, 'User Management')).toBeVisible();
    await expect(other.locator('#root')).not.toHaveAttribute('role', 'alert');
    await other.unrouteAll();
  });

  await test.step('a file that every screen needs is gone', async () => {
    await other.route(/assets\/libraries-/, (route) => route.fulfill({ status: 404 }));
    await other.goto(`${server.url}/users`);
    await expect(other.getByRole('alert')).toContainText('Lanyard could not be loaded');
  });
  await context.close();
});

test('the page of a record asks by itself for all that it shows, and Refresh at once', async ({
  page,
  server,
}) => {
  const customer = await makeCustomer(server.admin);
  const license = await makeLicense(server.admin, { customerId: customer.customerId });
  const release = await makeRelease(server);
  const machineId = unique('machine').replace(' ', '-');
  await validateOn(server.admin, license, machineId);
  // of the console, or the same until somebody changes it
  const lasting = [session.me, modules.list, views.list, customers.list].map(({ path }) => path);
  const asked = new Set<string>();
  page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    const isData = request.resourceType() === 'fetch' && request.method() === 'GET';
    if (isData && !lasting.includes(pathname)) asked.add(pathname);
  });
  await page.clock.install();
  await signInAs(page, 'super_admin', '/account', server);
  for (const path of [
    `/customers/${customer.customerId}`,
    `/licenses/${license.licenseId}`,
    `/machines/${displayIdOf(machineHashOf(machineId))}`,
    `/releases/${release.id}`,
  ]) {
    // a page that asks for nothing: the one before asks until the next one comes
    await page.goto(`${server.url}/favicon.svg`);
    asked.clear();
    await page.goto(server.url + path);
    await quiet(page);
    const shown = [...asked].toSorted();
    expect(shown.length, path).toBeGreaterThan(1);
    for (const askAgain of [
      () => page.clock.fastForward(every),
      () => page.getByRole('button', { name: 'Refresh', exact: true }).click(),
    ]) {
      asked.clear();
      await askAgain();
      await expect.poll(() => shown.filter((one) => !asked.has(one)), path).toEqual([]);
      await quiet(page);
    }
  }
});
