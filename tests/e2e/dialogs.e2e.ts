import type { Page } from '@playwright/test';
import { apiKeys } from '../../contract/api-keys.ts';
import { customers } from '../../contract/customers.ts';
import { licenses } from '../../contract/licenses.ts';
import { releases } from '../../contract/releases.ts';
import { users } from '../../contract/users.ts';
import { archive } from '../binaries.ts';
import { makeApiKey, makeCustomer, makeLicense, unique } from '../factories.ts';
import { endSessions } from './calls.ts';
import { holdBack } from './hold-back.ts';
import { fileOnDisk, makeRelease } from './releases.ts';
import { editing, stored } from './releases-screen.ts';
import {
  button,
  chooseInMenu,
  comeBack,
  dialog,
  expect,
  expectInSight,
  expectNoMoreFailures,
  expectStatus,
  goTo,
  loseSession,
  quiet,
  signInAs,
  signInByForm,
  test,
} from './support.ts';
import { makeUser } from './users-screen.ts';

// Behavior of all dialogs, mostly tested with the dialogs of customers.

const row = (page: Page, name: string) => page.getByRole('row', { name });
const mayUnload = (page: Page) =>
  page.evaluate(() => window.dispatchEvent(new Event('beforeunload', { cancelable: true })));
const phone = (page: Page) => dialog(page, 'Edit Customer').getByRole('textbox', { name: 'Phone' });

test('leaving a dialog with input asks first, however it is left', async ({ page, server }) => {
  const { name } = await makeCustomer(server.admin, { phone: '1' });
  await signInAs(page, 'super_admin', `/customers?search=${encodeURIComponent(name)}`, server);
  const question = dialog(page, 'Discard changes?');
  const edit = row(page, name).getByRole('button', { name: 'Edit' });

  // Closes without a question, since nothing was typed.
  await edit.click();
  await expect(phone(page)).toHaveValue('1');
  await page.mouse.click(4, 400);
  await expect(dialog(page, 'Edit Customer')).toBeHidden();

  await edit.click();
  // screen readers would say it before the first field
  await expect(dialog(page, 'Edit Customer')).toHaveAccessibleDescription('');
  await expect(phone(page)).toHaveValue('1');
  // The second click of a double click does not close: it may have begun on a dialog above, which is closed by then.
  await page.mouse.move(4, 400);
  await page.mouse.down({ clickCount: 2 });
  await page.mouse.up({ clickCount: 2 });
  await phone(page).fill('2');
  const waysOut = [
    () => page.keyboard.press('Escape'),
    () => page.mouse.click(4, 400),
    () => dialog(page, 'Edit Customer').getByRole('button', { name: 'Close' }).click(),
    () => dialog(page, 'Edit Customer').getByRole('button', { name: 'Cancel' }).click(),
    () => page.goBack(),
    () => dialog(page, 'Edit Customer').getByRole('link', { name: 'All changes' }).click(),
  ];
  for (const leave of waysOut) {
    await leave();
    await expect(question).toHaveAccessibleDescription('What you entered is not saved.');
    await page.keyboard.press('Escape');
    await expect(question).toBeHidden();
    await expect(phone(page)).toHaveValue('2');
    expect(new URL(page.url()).pathname).toBe('/customers');
  }
  // Forward after Back is another way to stay, as often as one likes.
  for (const _ of [1, 2]) {
    await page.goBack();
    await expect(question).toBeVisible();
    await page.goForward();
    await expect(question).toBeHidden();
    await expect(phone(page)).toHaveValue('2');
  }
  // The browser itself asks before closing the tab.
  expect(await mayUnload(page)).toBe(false);
  await page.keyboard.press('Escape');
  await button(page, 'Discard').click();
  await expect(page.getByRole('dialog')).toHaveCount(0);
  expect(await mayUnload(page)).toBe(true);
  await edit.click();
  await expect(phone(page)).toHaveValue('1');

  // Back leaves after the user confirms.
  await phone(page).fill('3');
  await page.goBack();
  await button(page, 'Discard').click();
  await expect(page.getByRole('dialog')).toHaveCount(0);
});

test('where the focus goes, what does not exist, and what an input method takes', async ({
  page,
  server,
}) => {
  await signInAs(page, 'super_admin', '/today', server);

  await test.step('the focus goes back to what opened a dialog, or near it; the title names the dialog', async () => {
    const family = unique('Focused');
    const { name } = await makeCustomer(server.admin, { name: `${family} A` });
    await goTo(page, `/customers?search=${encodeURIComponent(name)}`);
    await expect(page).toHaveTitle('Customers · Lanyard');
    const edit = row(page, name).getByRole('button', { name: 'Edit' });
    await edit.press('Enter');
    await expect(phone(page)).toBeVisible();
    await expect(page).toHaveTitle(`Edit Customer ${name} · Customers · Lanyard`);
    await page.keyboard.press('Escape');
    await expect(edit).toBeFocused();
    await expect(page).toHaveTitle('Customers · Lanyard');

    await button(page, 'Create Customer').press('Enter');
    await expect(dialog(page, 'Add Customer').getByRole('textbox', { name: 'Company Name' })).toBeFocused();
    await dialog(page, 'Add Customer').getByRole('button', { name: 'Cancel' }).press('Enter');
    await expect(button(page, 'Create Customer')).toBeFocused();

    // The row is removed with its record, and the table stays for the others.
    await makeCustomer(server.admin, { name: `${family} B` });
    await page.goto(`/customers?search=${family}`);
    await row(page, name).getByRole('button', { name: 'Delete' }).press('Enter');
    // whom it affects is counted first
    await expect(button(page, 'Confirm')).toBeEnabled();
    await button(page, 'Confirm').press('Enter');
    await expect(row(page, name)).toBeHidden();
    await expect(page.getByRole('region', { name: 'Customers' })).toBeFocused();
  });

  await test.step('a dialog of a record that does not exist says so', async () => {
    expectStatus(page, 400, 404);
    const { customerId } = await makeCustomer(server.admin);
    await goTo(page, '/account');
    const none = '018f0000-0000-7000-8000-000000000000';
    for (const [address, title] of [
      ['/licenses?edit=nope', 'License not found'],
      ['/licenses?activations=nope', 'License not found'],
      [`/customers?edit=${none}`, 'Customer not found'],
      ['/customers?edit=nope', 'Customer not found'],
      ['/customers?policy=nope', 'Customer not found'],
      [`/customers/${customerId}?license=nope`, 'License not found'],
      ['/releases?edit=nope', 'Release not found'],
      ['/users?edit=nope', 'User not found'],
      [`/audit?entry=${none}`, 'Entry not found'],
      ['/api-keys?key=nope', 'API key not found'],
    ] as const) {
      await goTo(page, address);
      const opened = page.getByRole('dialog');
      await expect(opened.getByRole('heading', { name: title }), address).toBeVisible();
      await expect(opened.getByRole('button', { name: 'Retry' })).toHaveCount(0);
      await page.keyboard.press('Escape');
      await expect(opened).toHaveCount(0);
      await expect(page).toHaveURL(address.replace(/\?.*/, ''));
    }
    await expectNoMoreFailures(page);
  });

  await test.step('a key that an input method takes neither sends a form nor changes what is written', async () => {
    const release = await makeRelease(server);
    await makeCustomer(server.admin);
    await goTo(page, `/releases?search=${release.version}`);
    const devtools = await page.context().newCDPSession(page);
    /** Writes a text with an input method, and accepts it with a key. */
    const compose = async (text: string) => {
      const { length } = text;
      await devtools.send('Input.imeSetComposition', { text, selectionStart: length, selectionEnd: length });
      await page.keyboard.press('Enter');
      await devtools.send('Input.insertText', { text });
    };
    await page.getByRole('button', { name: `Delete ${release.version}` }).click();
    const reason = dialog(page, 'Delete Release').getByRole('textbox', { name: 'Reason' });
    await reason.focus();
    await compose('不具合');
    await expect(reason).toHaveValue(/不具合/);
    // as in Safari, where the composition has ended by then
    await reason.dispatchEvent('keydown', { key: 'Enter', keyCode: 229 });
    await expect(reason).toBeEditable();
    await reason.press('Escape');
    await button(page, 'Discard').click();

    await goTo(page, '/licenses/new');
    const seats = page.getByRole('textbox', { name: 'Max Activations' });
    await seats.focus();
    await compose('１２');
    await seats.press('Tab');
    await expect(seats).toHaveValue('12');
    expect((await stored(server, release)).version).toBe(release.version);
  });
});

test('a form that is refused shows and focuses its first wrong field', async ({ page, server }) => {
  await page.setViewportSize({ width: 390, height: 780 });
  await makeCustomer(server.admin);
  await signInAs(page, 'super_admin', '/licenses', server);
  await button(page, 'Create License').first().click();
  const license = dialog(page, 'Create License');
  await license.getByRole('button', { name: 'Create License' }).click();
  const customer = license.getByRole('combobox', { name: 'Customer' });
  await expect(customer).toBeFocused();
  await expectInSight(customer);
  // the wheel scrolls nothing behind, without a variable for which all styles of the page are computed again
  await page.evaluate(() =>
    addEventListener('wheel', (event) => Object.assign(window, { isPrevented: event.defaultPrevented })),
  );
  await page.mouse.move(2, 2);
  await page.mouse.wheel(0, 100);
  const isPrevented = () => page.evaluate(() => (window as { isPrevented?: boolean }).isPrevented);
  await expect.poll(isPrevented).toBe(true);
  await expect(page.locator('body')).not.toHaveAttribute('data-scroll-locked');
  // nor does a key
  const scrolled = page.evaluate(() => {
    document.body.style.minHeight = '5000px';
    return new Promise((tell) => {
      addEventListener('scroll', () => tell(scrollY));
      addEventListener('keyup', () => setTimeout(() => tell(0), 300));
    });
  });
  await license.getByRole('button', { name: 'Cancel' }).press('PageDown');
  expect(await scrolled).toBe(0);

  // what only the server refuses, also while the user goes on
  await page.goto('/api-keys');
  await button(page, 'Create API Key').first().click();
  const key = dialog(page, 'Create API Key');
  const field = (name: string) => key.getByRole('textbox', { name });
  await field('Name').fill(unique('Refused key'));
  await field('Expiration Date').fill('2099-01-01');
  await field('IP Whitelist').fill('"10.0.0.1-9", ::1, 10.1');
  const refusal = key.getByText('10.0.0.1-9, 10.1 are neither IP addresses nor CIDR ranges');
  expectStatus(page, 422);
  await key.getByRole('button', { name: 'Create API Key' }).click();
  await expect(refusal).toBeVisible();
  await expect(field('IP Whitelist')).toBeFocused();
  await expectInSight(field('IP Whitelist'));

  await field('IP Whitelist').press('Space');
  await expect(refusal).toBeHidden();
  await page.route('**/api-keys', async (route) => {
    await field('Rate Limit').focus();
    await route.continue();
  });
  await key.getByRole('button', { name: 'Create API Key' }).click();
  await expect(refusal).toBeVisible();
  await expect(field('Rate Limit')).toBeFocused();
});

test('what was typed is kept through signing in again, and sent once', async ({ page, server }) => {
  expectStatus(page, 401);
  const customer = await makeCustomer(server.admin, { name: unique('Kept Work') });
  const { email } = await server.person('license_manager');
  await signInAs(page, 'license_manager', '/licenses?dialog=create', server);
  const form = dialog(page, 'Create License');
  await form.getByRole('combobox', { name: 'Customer' }).pressSequentially(customer.name);
  await form.getByRole('option', { name: customer.name, exact: true }).click();
  await form.getByRole('textbox', { name: 'Max Activations' }).fill('');
  await page.keyboard.type('7');
  await form.getByRole('checkbox', { name: 'Lung Nodule' }).press('Space');

  await endSessions(page, 'license_manager', server, licenses.create);
  await form.getByRole('button', { name: 'Create License' }).click();
  await expect(
    page.getByText('Your session ended. Sign in again: your input is kept.', { exact: true }),
  ).toBeVisible();
  expect(await mayUnload(page)).toBe(false);
  await signInByForm(page, email);
  await expect(form.getByRole('combobox', { name: 'Customer' })).toHaveValue(customer.name);
  await expect(form.getByRole('textbox', { name: 'Max Activations' })).toHaveValue('7');
  await expect(form.getByRole('checkbox', { name: 'Lung Nodule' })).toBeChecked();
  await page.keyboard.press('Escape');
  await dialog(page, 'Discard changes?').getByRole('button', { name: 'Keep Editing' }).click();

  await form.getByRole('button', { name: 'Create License' }).click();
  await expect(form).toContainText(`License created for ${customer.name}`);
  const made = await server.admin.ok(licenses.list, { query: { customerId: customer.customerId } });
  expect(made.map(({ maxActivations, moduleIds }) => [maxActivations, moduleIds])).toEqual([
    [7, ['mod_lung_nodule']],
  ]);
  // Input is no longer kept once the form has restored it.
  await form.getByRole('button', { name: 'Done' }).click();
  await button(page, 'Create License').first().click();
  await expect(form.getByRole('textbox', { name: 'Max Activations' })).toHaveValue('1');
});

test('an edit continues from the version that it started with; another user never sees it', async ({
  page,
  server,
}) => {
  expectStatus(page, 401, 409);
  const { name, customerId } = await makeCustomer(server.admin, { phone: '1', contactName: 'Ada' });
  const [mine, other] = [await server.person('admin'), await server.person('super_admin')];
  const path = `/customers?search=${encodeURIComponent(name)}&edit=${customerId}`;
  const endAndSend = async () => {
    await endSessions(page, 'admin', server, customers.update);
    await dialog(page, 'Edit Customer').getByRole('button', { name: 'Update Customer' }).click();
    await expect(page.getByText('your input is kept')).toBeVisible();
  };
  await signInAs(page, 'admin', path, server);
  await phone(page).fill('2');
  await endAndSend();
  await server.admin.ok(customers.update, {
    params: { id: customerId },
    body: { name, country: 'DE', phone: '1', contactName: 'Grace' },
  });
  await signInByForm(page, mine.email);
  await expect(phone(page)).toHaveValue('2');
  await dialog(page, 'Edit Customer').getByRole('button', { name: 'Update Customer' }).click();
  await expect(page.getByRole('dialog')).toHaveCount(0);
  expect(await server.admin.ok(customers.get, { params: { id: customerId } })).toMatchObject({
    phone: '2',
    contactName: 'Grace',
  });

  await page.goto(path);
  await phone(page).fill('3');
  await endAndSend();
  await signInByForm(page, other.email);
  await expect(phone(page)).toHaveValue('2');
  await page.keyboard.press('Escape');
  await button(page, 'Logout').click();
  await expect(page.getByRole('heading', { name: 'Sign in' })).toBeVisible();
  await expect(page.getByText('Your session ended.')).toHaveCount(0);
  await signInByForm(page, mine.email);
  await row(page, name).getByRole('button', { name: 'Edit' }).click();
  await expect(phone(page)).toHaveValue('2');
});

test('a form stays when its record is revoked meanwhile, and its save says why', async ({ page, server }) => {
  expectStatus(page, 401, 409);
  const seats = '17';
  const license = await makeLicense(server.admin);
  const key = await makeApiKey(server.admin);
  await signInAs(page, 'super_admin', `/licenses?search=${license.licenseKey}`, server);
  await row(page, license.licenseKey).getByRole('button', { name: 'Edit' }).click();
  const edit = dialog(page, 'Edit License');
  const maximum = edit.getByRole('textbox', { name: 'Max Activations' });
  await maximum.fill(seats);
  await server.admin.ok(licenses.revoke, { params: { id: license.licenseId } });
  await edit.getByRole('button', { name: 'Update License' }).click();
  await expect(edit).toContainText('Revoked licenses cannot be edited');
  await expect(page.getByText('No active licenses found')).toBeVisible();
  await expect(maximum).toHaveValue(seats);

  await page.goto(`/api-keys?key=${key.id}&dialog=edit`);
  const name = dialog(page, 'Edit API Key').getByRole('textbox', { name: 'Name' });
  await name.fill('CI upload');
  await server.admin.ok(apiKeys.revoke, { params: { keyId: key.id } });
  await dialog(page, 'Edit API Key').getByRole('button', { name: 'Save Changes' }).click();
  await expect(dialog(page, 'Edit API Key')).toContainText('A revoked API key cannot be changed.');
  await expect(page.locator('tr', { hasText: key.name })).toContainText('Revoked');
  await expect(name).toHaveValue('CI upload');

  // the last customer is deleted while a license is typed
  await page.goto('/licenses/new');
  const newSeats = page.getByRole('textbox', { name: 'Max Activations' });
  await newSeats.fill(seats);
  const none = { success: true, data: [], meta: { total: 0, limit: 50, offset: 0, deleted: 1 } };
  const list = `**${customers.list.path}?*`;
  await page.route(list, (route) => route.fulfill({ json: none }));
  const asked = page.waitForResponse(list);
  await comeBack(page);
  await asked;
  await quiet(page);
  await expect(newSeats).toHaveValue(seats);
  await page.unroute(list);
  await button(page, 'Cancel').click();
  await button(page, 'Discard').click();

  const revoked = await makeLicense(server.admin);
  const { email } = await server.person('super_admin');
  await page.goto(`/licenses?search=${revoked.licenseKey}`);
  await row(page, revoked.licenseKey).getByRole('button', { name: 'Edit' }).click();
  await maximum.fill(seats);
  await endSessions(page, 'super_admin', server, licenses.update);
  await edit.getByRole('button', { name: 'Update License' }).click();
  await expect(page.getByText('your input is kept')).toBeVisible();
  await server.admin.ok(licenses.revoke, { params: { id: revoked.licenseId } });
  await signInByForm(page, email);
  await expect(maximum).toHaveValue(seats);
  await page.keyboard.press('Escape');
  await button(page, 'Discard').click();
  expect(await mayUnload(page)).toBe(true);
});

test('input of a record that is gone after signing in again does not keep the tab from closing', async ({
  page,
  server,
}) => {
  expectStatus(page, 404);
  const { id, email } = await makeUser(server, 'viewer');
  const mine = await signInAs(page, 'super_admin', `/users?search=${email}&edit=${id}`, server);
  await dialog(page, 'Edit User').getByRole('textbox', { name: 'Name' }).fill('Robin');
  await loseSession(page);
  await expect(page.getByText('your input is kept')).toBeVisible();
  await server.admin.ok(users.delete, { params: { id } });
  const answer = await holdBack(page, `**/users/${id}`);
  await signInByForm(page, mine.email);
  await expect(dialog(page, 'Edit User')).toBeVisible();
  expect(await mayUnload(page), 'while the form may still come back').toBe(false);
  answer();
  await expect(page.getByRole('dialog')).toContainText('User not found');
  await page.keyboard.press('Escape');
  expect(await mayUnload(page)).toBe(true);
});

test('every dialog and form keeps what was typed, also a reason, a matrix, a number and a file', async ({
  page,
  server,
}) => {
  const { email } = await server.person('super_admin');
  const release = await makeRelease(server);
  const { licenseKey } = await makeLicense(server.admin);
  const machineText = dialog(page, 'Offline Activation').getByRole('textbox', { name: 'Request' });
  const path = await fileOnDisk('Lanyard-9.9.1-arm64-mac.zip', archive(1000));
  const reason = page.getByRole('textbox', { name: 'Reason' });
  const cell = page.getByRole('checkbox', { name: 'Licenses: update' });
  const days = page.getByRole('textbox', { name: 'Keep entries for (days)' });
  const file = dialog(page, 'Upload New Release').getByText('Lanyard-9.9.1-arm64-mac.zip');
  const name = dialog(page, 'Create New User').getByRole('textbox', { name: 'Name' });
  const walk: [path: string, enter: () => Promise<unknown>, isThere: () => Promise<unknown>][] = [
    [
      `/releases?search=${release.version}`,
      async () => {
        await chooseInMenu(page.getByRole('row', { name: release.version }), 'Withdraw');
        await reason.fill('Crashes at start');
      },
      () => expect(reason).toHaveValue('Crashes at start'),
    ],
    ['/users?tab=roles&role=viewer', () => cell.check(), () => expect(cell).toBeChecked()],
    [
      '/audit',
      async () => {
        await button(page, 'Retention').click();
        await days.fill('431');
      },
      () => expect(days).toHaveValue('431'),
    ],
    [
      '/releases?dialog=create',
      () => dialog(page, 'Upload New Release').locator('input[type=file]').setInputFiles(path),
      () => expect(file).toBeVisible(),
    ],
    ['/users?dialog=create', () => name.fill('Robin'), () => expect(name).toHaveValue('Robin')],
    [
      `/licenses?activations=${licenseKey}`,
      async () => {
        await button(page, 'Offline Activation').click();
        await machineText.fill('eyJ');
      },
      () => expect(machineText).toHaveValue('eyJ'),
    ],
  ];
  const sent: string[] = [];
  page.on('request', (request) => {
    if (request.method() !== 'GET' && !request.url().includes('/auth/')) sent.push(request.url());
  });
  await signInAs(page, 'super_admin', '/customers', server);
  for (const [at, enter, isThere] of walk) {
    await goTo(page, at);
    await enter();
    await isThere();
    await loseSession(page);
    await expect(page.getByText('your input is kept'), at).toBeVisible();
    await signInByForm(page, email);
    await isThere();
    if (at.startsWith('/releases?search')) {
      // The Enter key that signed in may still be held down: it must not confirm the withdrawal.
      await reason.dispatchEvent('keydown', { key: 'Enter', repeat: true });
    }
    if (at.startsWith('/releases?dialog')) {
      await page.reload();
      await expect(
        page.getByText('The page was reloaded: choose Lanyard-9.9.1-arm64-mac.zip again.'),
      ).toBeVisible();
      await page.getByRole('textbox', { name: 'Release Notes' }).fill('typed');
    }
    // and it still asks before discarding
    await page.getByRole('link', { name: 'Customers', exact: true }).dispatchEvent('click');
    await dialog(page, 'Discard changes?').getByRole('button', { name: 'Discard' }).click();
    await expect(page).toHaveURL('/customers');
    expect(sent, at).toEqual([]);
  }
});

test('a key that is held down or pressed twice confirms nothing in the dialog that it opened', async ({
  page,
  server,
}) => {
  const release = await makeRelease(server);
  const isActive = async () => (await stored(server, release)).isActive;
  await server.admin.ok(releases.update, {
    params: { releaseId: release.id },
    body: { isActive: false },
  });
  await signInAs(page, 'binary_manager', `/releases?edit=${release.id}`, server);
  await editing(page).getByRole('checkbox', { name: 'Active Release' }).check();
  await editing(page).getByRole('textbox', { name: 'Minimum App Version' }).focus();
  const question = dialog(page, 'Offer to More Users');
  await page.keyboard.down('Enter');
  await expect(question.getByText(/of this platform, architecture and channel/)).toBeVisible();
  await expect(question.getByText(/^Offer version/)).toBeFocused();
  await page.keyboard.down('Enter');
  await page.keyboard.down('Enter');
  await page.keyboard.up('Enter');
  await page.keyboard.press('Enter');
  await expect(question).toBeVisible();
  expect(await isActive()).toBe(false);
  await button(page, 'Offer').press('Enter');
  await expect(editing(page)).toBeHidden();
  expect(await isActive()).toBe(true);
});
