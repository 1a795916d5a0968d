import type { Request, Route } from '@playwright/test';
import { customers } from '../../contract/customers.ts';
import { licenses } from '../../contract/licenses.ts';
import { session } from '../../contract/session.ts';
import { makeCustomer, makeLicense } from '../factories.ts';
import { password } from '../api-client.ts';
import { endSessions } from './calls.ts';
import { holdBack } from './hold-back.ts';
import {
  button,
  comeBack,
  dialog,
  expect,
  expectNoAxeViolations,
  expectStatus,
  goTo,
  heading,
  logged,
  navigation,
  prolong,
  quiet,
  signInAs,
  signInByForm,
  sessionItems,
  test,
} from './support.ts';

test('a stored session is restored behind a spinner, with rights as they are now', async ({
  page,
  server,
}) => {
  await signInAs(page, 'viewer', '/licenses', server);
  await expect(heading(page, 'License Management')).toBeVisible();
  await page.evaluate(() => localStorage.setItem('permissions', '[null]'));
  const answer = await holdBack(page, `**${session.me.path}`);
  // the spinner is there for five seconds, in which a busy page may not even load
  await prolong(page, 5000, 60_000);
  await page.addInitScript(() => {
    const limit = AbortSignal.timeout.bind(AbortSignal);
    AbortSignal.timeout = (ms) => limit(ms === 5000 ? 60_000 : ms);
  });
  await page.reload({ waitUntil: 'commit' });

  const spinner = page.getByRole('status').filter({ hasText: 'Loading' });
  await expect(spinner).toBeVisible();
  const box = (await spinner.locator('.mantine-Loader-root').boundingBox())!;
  const { width, height } = page.viewportSize()!;
  expect(Math.abs(box.x + box.width / 2 - width / 2)).toBeLessThan(10);
  expect(Math.abs(box.y + box.height / 2 - height / 2)).toBeLessThan(10);
  await expect(navigation(page)).toBeHidden();

  answer();
  for (const name of ['Licenses', 'Customers'])
    await expect(navigation(page).getByRole('link', { name })).toBeVisible();
  await expect(page.getByRole('banner')).toContainText('Robin viewer');

  // The console waits for its permissions only briefly: axe may take longer.
  await page.route(`**${session.me.path}`, () => {});
  await page.reload({ waitUntil: 'commit' });
  await expect(spinner).toBeVisible();
  await expectNoAxeViolations(page);
  await page.unrouteAll({ behavior: 'ignoreErrors' });

  await test.step('rights that cannot be refreshed leave the session as it was stored', async () => {
    expectStatus(page, 'aborted');
    const warnings = logged(page, 'Permissions');
    await page.route(`**${session.me.path}`, (route) => route.abort());
    // A page without the console, so that nothing else writes to the storage.
    await page.goto('/favicon.svg');
    await page.evaluate(() => {
      const user = JSON.parse(localStorage.getItem('user')!) as object;
      localStorage.setItem('user', JSON.stringify({ ...user, name: '' }));
    });
    await page.goto('/licenses');
    for (const name of ['Licenses', 'Customers'])
      await expect(navigation(page).getByRole('link', { name })).toBeVisible();
    await test.step('someone without a name is called User', () =>
      expect(page.getByRole('banner').getByText('User', { exact: true })).toBeVisible());
    // twice, where the page before the reload was asking at that moment
    expect(new Set(warnings)).toEqual(new Set(['Permissions could not be refreshed']));
  });

  await test.step('a corrupt stored user clears all four items', async () => {
    await page.goto('/favicon.svg');
    await page.evaluate(() => localStorage.setItem('user', '[]'));
    await page.goto('/licenses');
    await expect(page).toHaveURL(/\/login\?redirect=%2Flicenses$/);
    expect(await sessionItems(page)).toEqual([]);
  });
});

test('Logout ends the session here and on the server, and here even if the call fails', async ({
  page,
  server,
}) => {
  await signInAs(page, 'viewer', '/customers', server);
  const cookies = await page.context().cookies();
  await page.getByRole('button', { name: 'Logout' }).click();
  await expect(heading(page, 'Sign in')).toBeVisible();
  await expect(page.getByText('Your session ended.')).toHaveCount(0);
  expect(await sessionItems(page)).toEqual([]);
  // The device is still recognized: failed sign-ins elsewhere do not throttle it.
  expect((await page.context().cookies()).map(({ name }) => name)).toEqual(['lanyard_device']);
  await page.context().addCookies(cookies);
  expect((await page.context().request.get(`${server.url}${session.me.path}`)).status()).toBe(401);

  expectStatus(page, 'aborted');
  const warnings = logged(page, 'Logout');
  const failing = { refused: (route: Route) => route.abort(), silent: () => undefined };
  for (const [how, answer] of Object.entries(failing)) {
    await signInAs(page, 'viewer', '/customers', server);
    const before = await page.context().cookies();
    await page.route(`**${session.logout.path}`, answer);
    await page.getByRole('button', { name: 'Logout' }).click();
    await expect(heading(page, 'Sign in'), how).toBeVisible();
    expect(await sessionItems(page), how).toEqual([]);
    await page.unroute(`**${session.logout.path}`, answer);
    // told once the server is reached: until then the cookie would open the session to the next user
    const names = async () => (await page.context().cookies()).map(({ name }) => name);
    await expect.poll(names, how).toEqual(['lanyard_device']);
    await page.context().addCookies(before);
    expect((await page.context().request.get(`${server.url}${session.me.path}`)).status(), how).toBe(401);
  }
  expect(warnings).toEqual(['Logout failed', 'Logout failed']);
});

test('what one user did is neither shown to the next one nor undone by them', async ({ page, server }) => {
  const { customerId, name } = await makeCustomer(server.admin);
  const next = await server.person('admin');
  await signInAs(page, 'super_admin', `/customers?search=${encodeURIComponent(name)}`, server);
  await page.getByRole('row').filter({ hasText: name }).getByRole('button', { name: 'Delete' }).click();
  await dialog(page, 'Delete Customer').getByRole('button', { name: 'Confirm' }).click();
  await expect(button(page, 'Undo')).toBeVisible();
  // a toast stays while the mouse is over it
  await button(page, 'Undo').hover();
  await page.getByRole('button', { name: 'Logout' }).press('Enter');
  await expect(heading(page, 'Sign in')).toBeVisible();
  await signInByForm(page, next.email);
  await expect(page.getByRole('button', { name: 'Logout' })).toBeVisible();
  await quiet(page);
  // not awaited for long: it would end by itself
  await expect(button(page, 'Undo')).toHaveCount(0, { timeout: 1000 });
  await page.keyboard.press('Control+z');
  await quiet(page);
  const left = await server.admin.ok(customers.list, { query: { search: name } });
  expect(left.map((one) => one.customerId)).not.toContain(customerId);
});

test('what one user asked for is neither told to the next one nor asked of them', async ({
  page,
  server,
}) => {
  const next = await server.person('admin');
  const { licenseId } = await makeLicense(server.admin);
  const logout = () => page.getByRole('button', { name: 'Logout' });
  const change = async () => {
    await logout().click();
    await expect(heading(page, 'Sign in')).toBeVisible();
    await signInByForm(page, next.email);
    await expect(logout()).toBeVisible();
  };
  await signInAs(page, 'super_admin', `/licenses/${licenseId}`, server);
  let answer = () => {};
  const late = new Promise<void>((resolve) => (answer = resolve));
  await page.route(`**${licenses.update.path.replace('{id}', licenseId)}`, async (route) => {
    if (route.request().method() !== licenses.update.method) return route.fallback();
    const response = await route.fetch();
    await late;
    return route.fulfill({ response });
  });
  const begun = page.waitForRequest((one) => one.method() === licenses.update.method);
  await button(page, '+1 year').click();
  await begun;
  await change();
  const answered = page.waitForResponse((one) => one.request().method() === licenses.update.method);
  answer();
  await answered;
  await quiet(page);
  await expect(button(page, 'Undo')).toHaveCount(0, { timeout: 1000 });

  expectStatus(page, 409);
  await goTo(page, '/releases/approvals');
  await page.getByRole('button', { name: /^(Require|Stop Requiring) Approval on alpha$/ }).click();
  await expect(dialog(page, 'Ask a Second Person')).toBeVisible();
  // as another tab does it
  await page.evaluate(() => {
    localStorage.clear();
    window.dispatchEvent(new StorageEvent('storage'));
  });
  await expect(heading(page, 'Sign in')).toBeVisible();
  await signInByForm(page, (await server.person('super_admin')).email);
  await expect(logout()).toBeVisible();
  await quiet(page);
  await expect(dialog(page, 'Ask a Second Person')).toHaveCount(0);
});

test('Logout cancels the pending calls of a screen, and no screen makes new ones', async ({
  page,
  server,
}) => {
  await signInAs(page, 'viewer', '/licenses', server);
  await expect(heading(page, 'License Management')).toBeVisible();
  await quiet(page);
  const isList = (request: Request) => new URL(request.url()).pathname === customers.list.path;
  const asked = page.waitForEvent('request', isList);
  const takenBack = page.waitForEvent('requestfailed', isList).then(() => true);
  const refused = page.waitForEvent('requestfinished', isList).then(() => false);
  // The server receives the request for the list after the session has ended there, before the console knows.
  const endIt = await holdBack(page, `**${customers.list.path}?*`);
  await page.route(`**${session.logout.path}`, async (route) => {
    const response = await route.fetch();
    endIt();
    await Promise.race([takenBack, refused]);
    await comeBack(page);
    await route.fulfill({ response });
  });
  await navigation(page).getByRole('link', { name: 'Customers' }).click();
  await asked;
  await page.getByRole('button', { name: 'Logout' }).click();
  await expect(heading(page, 'Sign in')).toBeVisible();
  expect(await Promise.race([takenBack, refused])).toBe(true);
  expect(await sessionItems(page)).toEqual([]);
});

test('two tabs share one session', async ({ page, context, server }) => {
  const { email } = await server.person('viewer');
  await signInAs(page, 'viewer', '/licenses', server);
  const second = await context.newPage();
  await second.goto('/customers');
  await expect(heading(second, 'Customers')).toBeVisible();
  // The other tab cancels its requests only when it learns of the end.
  await quiet(second);

  await page.getByRole('button', { name: 'Logout' }).click();
  await expect(heading(second, 'Sign in')).toBeVisible();
  await signInByForm(second, email);
  await expect(heading(second, 'Customers')).toBeVisible();
  await expect(heading(page, 'License Management')).toBeVisible();
});

test('a tab that finds somebody else signed in asks again for all that it shows, and keeps no input', async ({
  page,
  server,
}) => {
  await signInAs(page, 'super_admin', '/customers?dialog=create', server);
  const name = page.getByRole('textbox', { name: 'Company Name' });
  await name.fill('Typed by another');
  await quiet(page);
  const { email } = await server.person('admin');
  const other = await server.api().ok(session.login, { body: { email, password } });
  let answerRights = () => {};
  const late = new Promise<void>((resolve) => (answerRights = resolve));
  await page.route(
    `**${session.me.path}`,
    async (route) => {
      const response = await route.fetch();
      await late;
      await route.fulfill({ response });
    },
    { times: 1 },
  );
  const rights = page.waitForResponse(`**${session.me.path}`);
  const asking = page.waitForRequest(`**${session.me.path}`);
  // as of a tab that heard of other rights
  await page.evaluate(() => window.dispatchEvent(new StorageEvent('storage', { key: 'permissions' })));
  await asking;
  // the list, and not the customers whose names are like the one that was typed
  const asked = page.waitForRequest(
    (one) =>
      new URL(one.url()).pathname === customers.list.path &&
      one.headers()['authorization'] === `Bearer ${other.accessToken}`,
  );
  // as of a tab that the browser froze while another one signed out and in
  await page.evaluate(
    (values) => {
      for (const [key, value] of Object.entries(values)) localStorage.setItem(key, value);
      window.dispatchEvent(new StorageEvent('storage'));
    },
    {
      user: JSON.stringify(other.user),
      accessToken: other.accessToken,
      permissions: JSON.stringify(other.permissions),
      roles: JSON.stringify(other.roles),
    },
  );
  await asked;
  await expect(name).toHaveValue('');
  // the rights of the one before are not those of the next
  answerRights();
  await rights;
  await quiet(page);
  expect(await page.evaluate(() => localStorage.getItem('user'))).toBe(JSON.stringify(other.user));
});

test('an access token that ran out is renewed unseen, once for all calls of all tabs', async ({
  page,
  context,
  server,
}) => {
  expectStatus(page, 401);
  await signInAs(page, 'license_manager', '/licenses', server);
  const second = await context.newPage();
  await second.goto('/licenses');
  const tabs = [page, second];
  for (const tab of tabs) await expect(heading(tab, 'License Management')).toBeVisible();
  // before it runs out, neither asks for anything
  for (const tab of tabs) await quiet(tab);
  const { userId } = await server.person('license_manager');
  const access_expires_at = new Date(Date.now() - 1000);
  const token = () => page.evaluate(() => localStorage.getItem('accessToken'));
  const before = await token();
  let renewals = 0;
  context.on('request', (request) => (renewals += Number(request.url().endsWith(session.refresh.path))));
  await server.changeSessions((tx) =>
    tx.updateTable('sessions').set({ access_expires_at }).where('user_id', '=', userId).execute(),
  );
  await Promise.all(tabs.map((tab) => navigation(tab).getByRole('link', { name: 'Customers' }).click()));
  for (const tab of tabs) {
    await expect(tab.getByRole('link', { name: /^Soft Deleted \(\d+\)$/ })).toBeVisible();
    await expect(tab).toHaveURL('/customers');
  }
  expect(renewals).toBe(1);
  expect(await token()).not.toBe(before);
});

test('a session that is over leads to the sign-in page and back', async ({ page, server }) => {
  expectStatus(page, 401);
  await signInAs(page, 'support_agent', '/licenses', server);
  await expect(heading(page, 'License Management')).toBeVisible();
  const { email } = await server.person('support_agent');
  await endSessions(page, 'support_agent', server, customers.list);
  await navigation(page).getByRole('link', { name: 'Customers' }).click();
  await expect(page).toHaveURL('/login?redirect=%2Fcustomers');
  await expect(page.getByText('Your session ended. Sign in again.', { exact: true })).toBeVisible();
  expect(await sessionItems(page)).toEqual([]);
  await signInByForm(page, email);
  await expect(page).toHaveURL('/customers');
  await expect(heading(page, 'Customers')).toBeVisible();

  // the browser makes this one, and says nothing
  await endSessions(page, 'support_agent', server, session.me);
  await page.getByRole('link', { name: 'Export CSV' }).click();
  await expect(page).toHaveURL('/login?redirect=%2Fcustomers');
});
