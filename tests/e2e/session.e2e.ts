import type { Request, Route } from '@playwright/test';
import {
  hasPermission,
  roleMatrix,
  roleNames,
  type Action,
  type Resource,
} from '../../contract/permissions.ts';
import { customers } from '../../contract/customers.ts';
import { licenses } from '../../contract/licenses.ts';
import { session } from '../../contract/session.ts';
import { users } from '../../contract/users.ts';
import { makeCustomer, makeLicense } from '../factories.ts';
import { password, minutes } from '../harness.ts';
import { holdBack } from './hold-back.ts';
import {
  button,
  comeBack,
  dialog,
  endSessions,
  expect,
  expectAccessible,
  expectNoAxeViolations,
  expectStatus,
  goTo,
  heading,
  quiet,
  signInAs,
  signInByForm,
  stored,
  test,
  type Page,
  stayWithin,
} from './support.ts';
import { makeUser } from './users-screen.ts';

const four = ['user', 'accessToken', 'permissions', 'roles'];
const navigation = (page: Page) => page.getByRole('navigation', { name: 'Main' });

const protectedPaths = [
  '/licenses',
  '/licenses/new',
  '/customers',
  '/customers/trash',
  '/analytics',
  '/users',
  '/audit',
  '/releases',
  '/releases/trash',
  '/machines/machine-1',
  '/api-keys',
];

/** The browser's message for a failed call, without the reason after the colon. */
function logged(page: Page): string[] {
  const sentences: string[] = [];
  page.on('console', (line) => {
    if (line.type() === 'warning') sentences.push(line.text().split(':')[0]!);
  });
  return sentences;
}

test('sign-in sends back to where the person was going', async ({ page, server }) => {
  const { email } = await server.person('viewer');
  expectStatus(page, 401);
  for (const path of [...protectedPaths, '/nowhere']) {
    await page.goto(path);
    await expect(page).toHaveURL(`/login?redirect=${encodeURIComponent(path)}`);
  }
  await page.goto('/customers?search=klinik');
  await expect(page).toHaveURL('/login?redirect=%2Fcustomers%3Fsearch%3Dklinik');
  await expect(heading(page, 'Sign in')).toBeVisible();
  await expect(page.getByText(/^\d+\.\d+\.\d+ · build \d+ · \w+$/)).toBeVisible();

  const answer = await holdBack(page, `**${session.login.path}`);
  await signInByForm(page, email, 'not the password');
  const address = page.getByRole('textbox', { name: 'Email' });
  await address.click();
  answer();
  await expect(page.getByRole('alert')).toHaveText('Email or password is not right.');
  await expect(address).toBeFocused();
  expect(await stored(page)).toEqual([]);
  await expectAccessible(page);

  await signInByForm(page, email);
  await expect(page).toHaveURL('/customers?search=klinik');
  expect((await stored(page)).toSorted()).toEqual(four.toSorted());
  await expect(page.getByRole('banner')).toContainText('Robin viewer');

  await expect(page.getByRole('link', { name: 'Lanyard' })).toHaveAttribute('href', '/');
  await page.goto('/');
  await expect(page).toHaveURL('/licenses');
  await page.goto('/login');
  await expect(page).toHaveURL('/licenses');
});

test('a sign-in link leads to no other place than this one', async ({ page, server }) => {
  await signInAs(page, 'viewer', '/licenses', server);
  for (const target of [
    'https://evil.example/',
    '//evil.example',
    '/\\evil.example',
    'javascript:alert(1)',
    '/login',
  ]) {
    await page.goto(`/login?redirect=${encodeURIComponent(target)}`);
    await expect(page, target).toHaveURL('/licenses');
  }
  await page.goto(`/login?redirect=${encodeURIComponent('/customers/trash')}`);
  await expect(page).toHaveURL('/customers/trash');
});

test('a call that cannot be made and one without a sentence fall back to the words of the console', async ({
  page,
}) => {
  expectStatus(page, 'aborted', 418);
  const warnings = logged(page);
  await page.goto('/login');
  await page.route(`**${session.login.path}`, (route) => route.abort(), { times: 1 });
  await signInByForm(page, 'someone@lanyard.test', 'secret');
  await expect(page.getByRole('alert')).toHaveText(
    'Login failed. The server cannot be reached. Check the connection and try again.',
  );
  await page.route(`**${session.login.path}`, (route) => route.fulfill({ status: 418, body: '{}' }));
  await signInByForm(page, 'someone@lanyard.test', 'secret');
  await expect(page.getByRole('alert')).toHaveText('Login failed');
  const json = { success: false, error: 'Sign-in is closed today.' };
  await page.route(`**${session.login.path}`, (route) => route.fulfill({ status: 200, json }));
  await signInByForm(page, 'someone@lanyard.test', 'secret');
  await expect(page.getByRole('alert')).toHaveText('Sign-in is closed today.');
  expect(await stored(page)).toEqual([]);
  expect(warnings).toEqual(['Login failed', 'Login failed', 'Login failed']);
});

test('too many wrong passwords are throttled in words', async ({ page, server }) => {
  expectStatus(page, 429);
  const credentials = { email: 'nobody@lanyard.test', password: 'wrong' };
  await stayWithin(minutes(15));
  const attempts = Array.from({ length: 25 }, () => server.api().call(session.login, { body: credentials }));
  expect((await Promise.all(attempts)).map(({ status }) => status)).toContain(429);
  await page.goto('/login');
  await signInByForm(page, credentials.email, credentials.password);
  await expect(page.getByRole('alert')).toHaveText(
    'Too many failed sign-ins. Wait a few minutes and try again.',
  );
});

test('a stored session is restored behind a spinner, with rights as they are now', async ({
  page,
  server,
}) => {
  await signInAs(page, 'viewer', '/licenses', server);
  await expect(heading(page, 'License Management')).toBeVisible();
  await page.evaluate(() => localStorage.setItem('permissions', '[null]'));
  const answer = await holdBack(page, `**${session.me.path}`);
  await page.reload();

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
  await page.reload();
  await expect(spinner).toBeVisible();
  await expectNoAxeViolations(page);
});

test('rights that cannot be refreshed leave the session as it was stored', async ({ page, server }) => {
  expectStatus(page, 'aborted');
  await signInAs(page, 'viewer', '/licenses', server);
  const warnings = logged(page);
  await page.route(`**${session.me.path}`, (route) => route.abort());
  await page.reload();
  for (const name of ['Licenses', 'Customers'])
    await expect(navigation(page).getByRole('link', { name })).toBeVisible();
  // twice, where the page before the reload was asking at that moment
  expect(new Set(warnings)).toEqual(new Set(['Permissions could not be refreshed']));
});

test('a corrupt stored user clears all four items', async ({ page, server }) => {
  await signInAs(page, 'viewer', '/licenses', server);
  // A page without the console, so that nothing else writes to the storage.
  await page.goto('/favicon.svg');
  await page.evaluate(() => localStorage.setItem('user', '[]'));
  await page.goto('/licenses');
  await expect(page).toHaveURL(/\/login\?redirect=%2Flicenses$/);
  expect(await stored(page)).toEqual([]);
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
  expect(await stored(page)).toEqual([]);
  // The device is still recognized: failed sign-ins elsewhere do not throttle it.
  expect((await page.context().cookies()).map(({ name }) => name)).toEqual(['lanyard_device']);
  await page.context().addCookies(cookies);
  expect((await page.context().request.get(`${server.url}${session.me.path}`)).status()).toBe(401);

  expectStatus(page, 'aborted');
  const warnings = logged(page);
  const failing = { refused: (route: Route) => route.abort(), silent: () => undefined };
  for (const [how, answer] of Object.entries(failing)) {
    await signInAs(page, 'viewer', '/customers', server);
    await page.route(`**${session.logout.path}`, answer);
    await page.getByRole('button', { name: 'Logout' }).click();
    await expect(heading(page, 'Sign in'), how).toBeVisible();
    expect(await stored(page), how).toEqual([]);
    await page.unroute(`**${session.logout.path}`, answer);
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
  await page.getByRole('button', { name: /^(Require|Stop requiring) approval on alpha$/ }).click();
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
  expect(await stored(page)).toEqual([]);
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
  const token = () => page.evaluate(() => localStorage.getItem('accessToken'));
  const before = await token();
  let renewals = 0;
  context.on('request', (request) => (renewals += Number(request.url().endsWith(session.refresh.path))));

  const { userId } = await server.person('license_manager');
  const access_expires_at = new Date(Date.now() - 1000);
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
  expect(await stored(page)).toEqual([]);
  await signInByForm(page, email);
  await expect(page).toHaveURL('/customers');
  await expect(heading(page, 'Customers')).toBeVisible();

  // the browser makes this one, and says nothing
  await endSessions(page, 'support_agent', server, session.me);
  await page.getByRole('link', { name: 'Export CSV' }).click();
  await expect(page).toHaveURL('/login?redirect=%2Fcustomers');
});

test('someone without a name is called User', async ({ page, server }) => {
  const { userId, name } = await server.person('admin');
  const rename = (to: string) =>
    server.changeSessions((tx) =>
      tx.updateTable('users').set({ name: to }).where('user_id', '=', userId).execute(),
    );
  await rename('');
  await signInAs(page, 'admin', '/licenses', server);
  await expect(page.getByRole('banner').getByText('User', { exact: true })).toBeVisible();
  await rename(name);
});

/** The links of the console after Today, in order: their targets, and the permission that each needs. */
const links = {
  Licenses: ['/licenses', 'licenses'],
  Customers: ['/customers', 'customers'],
  Analytics: ['/analytics', 'analytics'],
  Releases: ['/releases', 'releases'],
  Machines: ['/machines', 'releases'],
  Users: ['/users', 'users'],
  'Audit Log': ['/audit', 'audit'],
  'API Keys': ['/api-keys', 'api_keys'],
} as const satisfies Record<string, [path: string, resource: Resource]>;

test('every role begins where it may, sees the links and buttons that it may use, and asks for nothing else', async ({
  page,
  server,
}) => {
  await makeLicense(server.admin);
  const shown = () =>
    navigation(page)
      .getByRole('link')
      .evaluateAll((all) => all.map((link) => [link.textContent, link.getAttribute('href')]));
  const offered = async (...buttons: string[]) => {
    const counts = buttons.map((name) => page.getByRole('button', { name, exact: true }).count());
    return (await Promise.all(counts)).map((count) => count > 0);
  };
  // The button of the page, not the one of an empty list.
  const creates = page.locator('[data-hotkey="c"]');
  for (const role of roleNames.filter((name) => name !== 'service_account')) {
    await test.step(role, async () => {
      const may = (resource: Resource, action: Action) => hasPermission(roleMatrix[role], resource, action);
      await signInAs(page, role, '/', server);
      const readable = Object.entries(links).filter(([, [, resource]]) => may(resource, 'read'));
      await expect(page).toHaveURL(readable[0]![1][0]);
      await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
      expect(await shown()).toEqual([['Today', '/today'], ...readable.map(([link, [path]]) => [link, path])]);
      await expect(creates).toHaveText(may('licenses', 'create') ? ['Create License'] : []);
      if (may('licenses', 'read')) {
        // the header of that column is a button, too
        const rows = page.locator('tbody');
        await expect(rows.getByRole('button', { name: 'Activations', exact: true }).first()).toBeVisible();
        const update = may('licenses', 'update');
        expect(await offered('Edit', 'Revoke')).toEqual([update, update]);
      } else {
        await goTo(page, '/licenses');
        await expect(heading(page, 'You may not see this screen')).toBeVisible();
        await expect(page.getByText('It needs the permission licenses:read.')).toBeVisible();
      }
      // Users with all permissions make no call that is refused.
      for (const [link] of may('users', 'read') ? [] : readable) {
        await navigation(page).getByRole('link', { name: link, exact: true }).click();
        await expect(navigation(page).getByRole('link', { name: link, exact: true })).toHaveAttribute(
          'aria-current',
          'page',
        );
        await quiet(page);
        await expect(page.getByText(/lacks? the permission/)).toHaveCount(0);
        await expect(page.getByRole('alert')).toHaveCount(0);
      }
      if (!may('customers', 'read')) return;
      await navigation(page).getByRole('link', { name: 'Customers' }).click();
      await expect(page.getByRole('link', { name: /^Soft Deleted \(\d+\)$/ })).toBeVisible();
      await expect(creates).toHaveText(may('customers', 'create') ? ['Create Customer'] : []);
      expect(await offered('Edit', 'Delete')).toEqual([
        may('customers', 'update'),
        may('customers', 'delete'),
      ]);
    });
  }
});

test('who loses a permission is offered what is left, once a screen is refused', async ({ page, server }) => {
  expectStatus(page, 403);
  const { id, email } = await makeUser(server, 'admin');
  await page.goto('/customers');
  await signInByForm(page, email);
  await expect(heading(page, 'Customers')).toBeVisible();
  await server.admin.ok(users.update, { params: { id }, body: { role: 'viewer' } });
  await navigation(page).getByRole('link', { name: 'Users' }).click();
  await expect(heading(page, 'You may not see this screen')).toBeVisible();
  await expect(navigation(page).getByRole('link', { name: 'Users' })).toHaveCount(0);
  await navigation(page).getByRole('link', { name: 'Customers' }).click();
  await expect(heading(page, 'Customers')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Create Customer' })).toHaveCount(0);
});

test('what is typed, and a key that is shown once, stay when a right of the user is lost', async ({
  page,
  server,
}) => {
  expectStatus(page, 403);
  const { id, email } = await makeUser(server, 'admin');
  // with the password of the administrator, who may have signed in more than five minutes ago
  const become = (role: string) =>
    server.admin.ok(users.update, {
      params: { id },
      body: { role, currentPassword: server.printed.password },
    });
  await page.goto('/api-keys?dialog=create');
  await signInByForm(page, email);
  const form = page.getByRole('dialog');
  const name = form.getByRole('textbox', { name: 'Name' });
  await name.fill('Night build');
  await form.getByRole('textbox', { name: 'Expiration Date' }).fill('2031-12-31');

  await become('viewer');
  const refused = page.waitForResponse(`**${session.me.path}`);
  await comeBack(page);
  await refused;
  await quiet(page);
  await form.getByRole('button', { name: 'Create API Key' }).click();
  await expect(form.getByRole('alert')).toHaveText('You lack the permission api_keys:create.');
  await expect(name).toHaveValue('Night build');

  await become('admin');
  await form.getByRole('button', { name: 'Create API Key' }).click();
  await expect(form.getByText('This key will not be shown again.')).toBeVisible();
  await become('viewer');
  await comeBack(page);
  await quiet(page);
  await expect(form.getByText('This key will not be shown again.')).toBeVisible();
  await form.getByRole('button', { name: 'Done' }).click();
  await expect(heading(page, 'You may not see this screen')).toBeVisible();
});

test('a service account does not sign in', async ({ page, server }) => {
  expectStatus(page, 403);
  const { email } = await server.person('service_account');
  await page.goto('/login');
  await signInByForm(page, email);
  await expect(page.getByRole('alert')).toContainText('API key');
  expect(await stored(page)).toEqual([]);
});

test('a long address is whole after sign-in', async ({ page, server }) => {
  const { email } = await server.person('viewer');
  const path = `/customers?search=${'x'.repeat(190)}&country=DE&sort=-name`;
  await page.goto(path);
  await signInByForm(page, email);
  await expect(page).toHaveURL(path);
});
