import { audit } from '../../contract/audit.ts';
import { customers } from '../../contract/customers.ts';
import { releases } from '../../contract/releases.ts';
import { users, type User } from '../../contract/users.ts';
import { makeCustomer, makeLicense, revoke, softDelete, unique } from '../factories.ts';
import { importCustomers } from './import.ts';
import {
  chooseInMenu,
  comeBack,
  dialog,
  expect,
  expectAccessible,
  expectSaid,
  expectStatus,
  goTo,
  heading,
  inBothThemes,
  quiet,
  rowOf,
  signInAs,
  test,
} from './support.ts';
import { makeRelease } from './releases.ts';

// Behavior of all lists, mostly tested with the list of customers.

test('rows are reached, selected, opened and changed by keys, which the menu of a row and the help show', async ({
  page,
  server,
}) => {
  const family = unique('Keyboard');
  for (const one of ['A', 'B', 'C']) await makeCustomer(server.admin, { name: `${family} ${one}` });
  await signInAs(page, 'super_admin', `/customers?search=${encodeURIComponent(family)}`, server);
  const row = (one: string) => page.getByRole('row', { name: `${family} ${one}`, exact: true });
  const { keyboard } = page;
  await expect(row('C')).toBeVisible();

  await test.step('j and k, and arrows in the list, go from row to row', async () => {
    // no row yet: keys of rows do nothing
    await keyboard.press('e');
    await keyboard.press('j');
    await expect(row('A')).toBeFocused();
    await keyboard.press('j');
    await keyboard.press('ArrowDown');
    await expect(row('C')).toBeFocused();
    await keyboard.press('j');
    await expect(row('C')).toBeFocused();
    await keyboard.press('k');
    await expect(row('B')).toBeFocused();
    await inBothThemes(page, () => expectAccessible(page));
  });

  await test.step('x selects, and again deselects', async () => {
    await keyboard.press('x');
    await expect(row('B')).toHaveAttribute('aria-selected', 'true');
    await expect(page.getByText('1 selected')).toBeVisible();
    await keyboard.press('x');
    await expect(row('B')).toHaveAttribute('aria-selected', 'false');
  });

  await test.step('Shift with an arrow selects on, and back deselects; Escape deselects all', async () => {
    const selected = page.getByRole('row', { selected: true });
    await keyboard.press('k');
    await keyboard.press('Shift+ArrowDown');
    await keyboard.press('Shift+ArrowDown');
    await expect(selected).toHaveCount(3);
    await keyboard.press('Shift+ArrowDown');
    await expect(selected).toHaveCount(3);
    await keyboard.press('Shift+ArrowUp');
    await expect(selected).toHaveCount(2);
    await expect(row('C')).toHaveAttribute('aria-selected', 'false');
    await expect(row('B')).toBeFocused();
    // the menu of the row closes first
    await keyboard.press('m');
    // it has the focus once it is open
    await expect(page.getByRole('menu').locator(':focus')).toHaveCount(1);
    await keyboard.press('Escape');
    await expect(page.getByRole('menu')).toBeHidden();
    await expect(selected).toHaveCount(2);
    await keyboard.press('Escape');
    await expect(selected).toHaveCount(0);
    await expect(row('B')).toBeFocused();
  });

  await test.step('e edits; no key reaches the list from the dialog, and the row has the focus again', async () => {
    await keyboard.press('e');
    const edit = dialog(page, 'Edit Customer');
    await expect(edit.getByRole('textbox', { name: 'Company Name' })).toHaveValue(`${family} B`);
    await edit.getByRole('button', { name: 'Close' }).focus();
    for (const key of ['j', 'x', 'd', 'm']) await keyboard.press(key);
    await expect(page.getByRole('dialog')).toHaveCount(1);
    await keyboard.press('Escape');
    await expect(edit).toBeHidden();
    await expect(row('B')).toBeFocused();
  });

  await test.step('no key works while typing', async () => {
    await keyboard.press('/');
    await keyboard.type('xjd');
    await expect(page.getByRole('searchbox', { name: 'Search customers' })).toHaveValue('xjd');
    await expect(page.getByRole('dialog')).toHaveCount(0);
  });

  await test.step('a key reaches the rows, and the menu of one, as soon as they are there', async () => {
    await goTo(page, '/account');
    await expect(heading(page, 'Account')).toBeVisible();
    await page.evaluate((name) => {
      const pressWith = (what: string, key: string) =>
        new MutationObserver((_, changes) => {
          if (!document.querySelector(what)) return;
          changes.disconnect();
          document.activeElement!.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
        }).observe(document.body, { childList: true, subtree: true });
      pressWith(`tr[aria-label^="${name}"]`, 'j');
      pressWith('[role="menu"]', 'ArrowDown');
    }, family);
    await goTo(page, `/customers?search=${encodeURIComponent(family)}`);
    await expect(row('A')).toBeFocused();
    await keyboard.press('m');
  });

  await test.step('the menu shows all actions with their keys, the dangerous one last', async () => {
    const items = page.getByRole('menuitem');
    await expect(items).toHaveText(['Open Page', 'Edite', 'Updatesu', 'Peek', 'Deleted']);
    await expect(items.nth(1)).toBeFocused();
    await expectAccessible(page);
    await keyboard.press('Escape');
    await expect(items).toHaveCount(0);
    await expect(row('A')).toBeFocused();
    const more = row('A').getByRole('button', { name: 'More actions' });
    await more.press('Enter');
    await expect(items).toHaveCount(5);
    await keyboard.press('Escape');
    await expect(more).toBeFocused();
    await keyboard.press('Enter');
    await expect(items).toHaveCount(5);
    // a dangerous action asks, by its key too
    await keyboard.press('d');
    await expect(dialog(page, 'Delete Customer')).toContainText(`"${family} A"`);
    await keyboard.press('Escape');
    await expect(dialog(page, 'Delete Customer')).toBeHidden();
    await expect(row('A')).toBeVisible();
    await row('A').press('Enter');
    await expect(page.getByRole('heading', { level: 1, name: `${family} A` })).toBeVisible();
    await page.goBack();
    await expect(row('A')).toBeVisible();
  });

  await test.step('the help lists the keys of this screen', async () => {
    await keyboard.press('?');
    const help = dialog(page, 'Keyboard shortcuts');
    const keys = help.getByRole('region', { name: 'Customers' });
    await expect(keys.getByRole('row')).toHaveText([
      /^Next row/,
      /^Previous row/,
      'Select the rowx',
      /^Select on/,
      /^Deselect all/,
      'Open PageEnter',
      'Edite',
      'Updatesu',
      'PeekSpace',
      'Deleted',
      'Menu of the rowm',
    ]);
    await keyboard.press('Escape');
    await goTo(page, '/account');
    await expect(page.getByRole('heading', { level: 1, name: 'Account' })).toBeVisible();
    await keyboard.press('?');
    await expect(help).toContainText('Go to Customers');
    await expect(help).not.toContainText('Edit');
  });
});

test('a row is shown beside the list, which goes on to the next and the previous by key', async ({
  page,
  server,
}) => {
  const family = unique('Peeked');
  const made = [];
  for (const one of ['A', 'B', 'C']) {
    const customer = await makeCustomer(server.admin, { name: `${family} ${one}`, phone: `+49 1 ${one}` });
    made.push(await makeLicense(server.admin, { customerId: customer.customerId }));
  }
  await signInAs(page, 'super_admin', `/customers?search=${encodeURIComponent(family)}`, server);
  const row = (one: string) => page.getByRole('row', { name: `${family} ${one}`, exact: true });
  const { keyboard } = page;
  const panel = dialog(page, 'Customer');
  await expect(row('C')).toBeVisible();
  await keyboard.press('j');
  await keyboard.press('Space');
  await expect(panel).toContainText('+49 1 A');
  await expect(panel.getByText(`${family} A 1 of 3`)).toHaveAttribute('aria-live', 'polite');
  await expectAccessible(page);
  await expect(panel.getByRole('button', { name: 'Previous' })).toHaveAttribute('aria-disabled', 'true');

  // other keys of the list mean nothing here
  for (const key of ['k', 'j', 'x', 'e', 'j', 'j']) await keyboard.press(key);
  await expect(panel.getByText(`${family} C 3 of 3`)).toBeAttached();
  await panel.getByRole('button', { name: 'Previous' }).click();
  await expect(panel).toContainText('+49 1 B');
  await keyboard.press('Escape');
  await expect(panel).toBeHidden();
  await expect(row('B')).toBeFocused();
  await expect(row('B')).toHaveAttribute('aria-selected', 'false');

  await chooseInMenu(row('C'), 'Peek');
  await panel.getByRole('link', { name: 'Open page' }).click();
  await expect(page.getByRole('heading', { level: 1, name: `${family} C` })).toBeVisible();

  await goTo(page, `/licenses?search=${encodeURIComponent(family)}`);
  await expect(rowOf(page, made[0]!.licenseKey)).toBeVisible();
  await keyboard.press('j');
  await keyboard.press('Space');
  const license = dialog(page, 'License');
  await expect(license.getByRole('region', { name: 'Machines', exact: true })).toContainText('No machine');
  await expectAccessible(page);
  await keyboard.press('j');
  await expect(license).toContainText(made[1]!.licenseKey);
  await keyboard.press('Escape');
  await expect(page.getByRole('row', { name: made[1]!.licenseKey })).toBeFocused();
  await page.getByRole('row').getByRole('link', { name: made[1]!.licenseKey }).click();
  await expect(page).toHaveURL(`/licenses/${made[1]!.licenseId}`);

  await goTo(page, '/audit');
  const entry = dialog(page, 'Audit Entry');
  const entries = page.getByRole('region', { name: 'Audit entries' }).locator('tr[data-row]');
  await entries.first().getByText('Success').click();
  const place = entry.getByText(/^\d+ of \d/);
  await expect(place).toContainText('1 of');
  await keyboard.press('j');
  await expect(place).toContainText('2 of');
  await expect(page).toHaveURL(new RegExp(`entry=${await entries.nth(1).getAttribute('data-row')}`));
  await page.goBack();
  await expect(entry).toBeHidden();
  await expect(page).toHaveURL('/audit');
});

test('a row that was shown beside the list is not shown again by itself', async ({ page, server }) => {
  const name = unique('Flapping');
  const { customerId } = await makeCustomer(server.admin, { name });
  await signInAs(page, 'super_admin', `/customers?search=${encodeURIComponent(name)}`, server);
  await expect(rowOf(page, name)).toBeVisible();
  await page.keyboard.press('j');
  await page.keyboard.press('Space');
  await expect(dialog(page, 'Customer')).toBeVisible();
  await softDelete(server.admin, { customerId });
  await comeBack(page);
  await expect(page.getByText('No customers found.')).toBeVisible();
  await server.admin.ok(customers.restore, { params: { id: customerId } });
  await comeBack(page);
  await expect(rowOf(page, name)).toBeVisible();
  await quiet(page);
  await expect(page.getByRole('dialog')).toHaveCount(0);
});

test('what is not possible says why, and what loses the focus leaves it near', async ({ page, server }) => {
  await signInAs(page, 'super_admin', '/today', server);

  await test.step('an action that is not possible says why, in the menu and for its key', async () => {
    const license = await makeLicense(server.admin);
    await revoke(server.admin, license);
    const url = `/licenses?tab=revoked&search=${license.licenseKey}`;
    await goTo(page, url);
    await softDelete(server.admin, license);
    await page.reload();
    await expect(rowOf(page, license.licenseKey)).toContainText('Customer is soft-deleted');
    await page.keyboard.press('j');
    await page.keyboard.press('r');
    await expectSaid(page, 'Reactivate: Customer is soft-deleted');
    await page.keyboard.press('m');
    const item = page.getByRole('menuitem', { name: 'Reactivate' });
    await expect(item).toContainText('Customer is soft-deleted');
    await item.click({ force: true });
    await expect(page.getByRole('dialog')).toHaveCount(0);
    await page.keyboard.press('a');
    await expect(dialog(page, 'License Activations')).toBeVisible();
    await page.keyboard.press('Escape');
  });

  await test.step('what takes the focus with it leaves it to what is around: a filter, a row that a colleague deletes', async () => {
    const family = unique('Vanishing');
    const { customerId } = await makeCustomer(server.admin, { name: `${family} A` });
    await makeCustomer(server.admin, { name: `${family} B` });
    await goTo(page, `/customers?search=${family}&country=DE`);
    const list = page.getByRole('region', { name: 'Customers' });
    await expect(rowOf(list, family)).toHaveCount(2);
    await page.getByRole('button', { name: /^Remove filter/ }).press('Enter');
    await expect(page.getByRole('button', { name: /^Remove filter/ })).toHaveCount(0);
    await expect(page.getByRole('main')).toBeFocused();
    await page.keyboard.press('j');
    await expect(rowOf(list, `${family} A`)).toBeFocused();
    await page.keyboard.press('x');
    await expect(rowOf(list, `${family} A`)).toHaveAttribute('aria-selected', 'true');
    await softDelete(server.admin, { customerId });
    // what a browser reports when another window gets the focus
    await page.evaluate(() =>
      document.activeElement?.dispatchEvent(new FocusEvent('focusout', { bubbles: true })),
    );
    await comeBack(page);
    await expect(rowOf(list, family)).toHaveCount(1);
    await expect(list).toBeFocused();
    await page.keyboard.press('j');
    await expect(rowOf(list, `${family} B`)).toBeFocused();
    // a row that comes back, as by Undo, is not selected as it was
    await server.admin.ok(customers.restore, { params: { id: customerId } });
    await comeBack(page);
    await expect(rowOf(list, `${family} A`)).toHaveAttribute('aria-selected', 'false');
    // nor has it its menu, whose keys change records at once
    await page.keyboard.press('k');
    await page.keyboard.press('m');
    await expect(page.getByRole('menu')).toBeVisible();
    await softDelete(server.admin, { customerId });
    await comeBack(page);
    await expect(rowOf(list, family)).toHaveCount(1);
    await server.admin.ok(customers.restore, { params: { id: customerId } });
    await comeBack(page);
    const more = rowOf(list, `${family} A`).getByRole('button', { name: 'More actions' });
    await expect(more).toHaveAttribute('aria-expanded', 'false');

    // A button that waits for so short a time that it is enabled again right after it lost the focus.
    const button = page.getByRole('button', { name: 'Create Customer' });
    await button.focus();
    await button.evaluate((element: HTMLButtonElement) => {
      const enable = () => (element.disabled = false);
      document.addEventListener('focusout', enable, { once: true });
      element.disabled = true;
    });
    await expect(button).toBeEnabled();
    await expect(button).toBeFocused();
  });
});

test('a list whose rows are rendered while they are in view says how many there are', async ({
  page,
  server,
}) => {
  await page.route(`**${users.list.path}*`, async (route) => {
    const answer = await route.fetch();
    const body = (await answer.json()) as { data: User[] };
    const data = [...Array(250).keys()].map((index) => ({ ...body.data[0], id: `user ${index}` }));
    await route.fulfill({ response: answer, json: { ...body, data } });
  });
  await signInAs(page, 'super_admin', '/users', server);
  const table = page.getByRole('region', { name: 'Users' }).getByRole('table');
  await expect(table).toHaveAttribute('aria-rowcount', '251');
  await expect(table.getByRole('row').first()).toHaveAttribute('aria-rowindex', '1');
  await expect(table.getByRole('row').nth(1)).toHaveAttribute('aria-rowindex', '2');
});

test('a list that cannot be loaded says so, once, and offers to try again', async ({ page, server }) => {
  expectStatus(page, 'aborted', 418, 503);
  await makeCustomer(server.admin);
  await makeRelease(server);
  const { email } = await server.person('viewer');
  await signInAs(page, 'super_admin', '/licenses', server);
  await expect(heading(page, 'License Management')).toBeVisible();
  const away = 'The server cannot be reached. Check the connection and try again.';
  for (const [path, call, title, why, again] of [
    ['/customers', `${customers.list.path}?*offset=*`, 'Error loading customers', away, 'Retry Loading'],
    ['/releases', `${releases.list.path}?*`, 'Error loading releases', 'The list is lost', 'Retry'],
    ['/audit', `${audit.list.path}?*`, 'Failed to load audit logs', 'Not now.', 'Retry'],
    ['/users', `${users.list.path}*`, 'Failed to fetch users', '', 'Retry'],
  ] as const) {
    let requests = 0;
    await page.route(`**${call}`, (route) => {
      requests++;
      if (why === away) return route.abort();
      return route.fulfill({ status: 418, json: why ? { success: false, error: why } : {} });
    });
    await goTo(page, path);
    const said = page.getByRole('alert');
    await expect(said.getByRole('heading')).toHaveText(title);
    await expect(said).toHaveText(title + why + again);
    expect(requests, path).toBe(1);
    if (path === '/releases') await expectAccessible(page);
    await page.unroute(`**${call}`);
    await page.getByRole('button', { name: again }).click();
    await expect(page.getByRole('columnheader').first()).toBeVisible();
    await expect(said).toBeHidden();
  }
  // a failure of the server is asked about again without a word, in all lists but that of customers
  await page.route(`**${users.list.path}?*`, (route) => route.fulfill({ status: 503, body: '{}' }), {
    times: 1,
  });
  await goTo(page, `/users?search=${email}`);
  await expect(rowOf(page, email)).toBeVisible();
});

test('Back returns to the page of a list, also where it is loaded again', async ({ page, server }) => {
  const family = unique('Paged');
  await importCustomers(
    server.admin,
    [...Array(60).keys()].map((n) => `${family} ${n}.`),
  );
  const second = `/customers?search=${encodeURIComponent(family).replaceAll('%20', '+')}&page=2`;
  await page.clock.install();
  await signInAs(page, 'support_agent', second, server);
  const shown = page.getByText('Showing ');
  await expect(shown).toContainText('Showing 51 to 60');
  await goTo(page, `/customers?search=${encodeURIComponent(`${family} 7.`)}`);
  await expect(shown).toContainText('of 1 results');
  // longer than what is not shown is kept
  await page.clock.fastForward(6 * 60_000);
  await page.goBack();
  await expect(shown).toContainText('Showing 51 to 60');
  await expect(page).toHaveURL(second);
});

test('Back and a closed dialog return to the row that was left, in a list and on a phone', async ({
  page,
  server,
}) => {
  const family = unique('Scrolled');
  const name = (n: number) => `${family} ${String(n).padStart(2, '0')}`;
  await importCustomers(server.admin, [...Array(45).keys()].map(name));
  const list = `/customers?search=${encodeURIComponent(family)}`;
  await signInAs(page, 'support_agent', list, server);
  const left = page.getByRole('link', { name: name(40), exact: true });
  for (const size of [
    { width: 1280, height: 720 },
    { width: 390, height: 844 },
  ]) {
    await page.setViewportSize(size);
    await page.goto(server.url + list);
    await expect(left).not.toBeInViewport();
    // the list notices that it was scrolled with the next frame
    await left.scrollIntoViewIfNeeded();
    await page.evaluate(() => new Promise(requestAnimationFrame));
    await left.click();
    await expect(heading(page, name(40))).toBeVisible();
    await page.goBack();
    await expect(left).toBeInViewport();
    await expect(rowOf(page, name(40))).toBeFocused();
    // so does the link at the top of the page, which Enter on the row opens again
    await page.keyboard.press('Enter');
    await page.getByRole('main').getByRole('link', { name: 'Customers', exact: true }).click();
    await expect(left).toBeInViewport();
    await expect(rowOf(page, name(40))).toBeFocused();
    await expect(page).toHaveURL(list);
    await page.reload();
    await expect(left).toBeInViewport();
    // scrolled away from it, the list stays where it was
    await left.focus();
    const first = page.getByRole('link', { name: name(0), exact: true });
    await first.scrollIntoViewIfNeeded();
    await page.evaluate(() => new Promise(requestAnimationFrame));
    await goTo(page, '/account');
    await expect(heading(page, 'Account')).toBeVisible();
    await page.goBack();
    await expect(page.getByRole('main')).toBeFocused();
    await page.evaluate(() => new Promise(requestAnimationFrame));
    await expect(first).toBeInViewport();
    await left.scrollIntoViewIfNeeded();
    await page.evaluate(() => new Promise(requestAnimationFrame));
    const edit = rowOf(page, name(40)).getByRole('button', { name: 'Edit' });
    await edit.click();
    await expect(dialog(page, 'Edit Customer')).toBeVisible();
    await page.keyboard.press('Escape');
    await expect(edit).toBeFocused();
    await expect(edit).toBeInViewport();
  }
  // other rows are shown from the first one on
  await page.setViewportSize({ width: 1280, height: 720 });
  await left.scrollIntoViewIfNeeded();
  await page.getByRole('button', { name: 'Name', exact: true }).click();
  await expect(page).toHaveURL(/sort=-name/);
  await expect(page.getByRole('link', { name: name(44), exact: true })).toBeInViewport();
});
