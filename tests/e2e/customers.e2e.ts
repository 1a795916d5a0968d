import { readFile } from 'node:fs/promises';
import { customers } from '../../contract/customers.ts';
import { makeCustomer, softDelete, unique } from '../factories.ts';
import { names, search } from './customers-screen.ts';
import { importCustomers } from './import.ts';
import {
  button,
  comeBack,
  dialog,
  expect,
  expectAccessible,
  expectColor,
  expectNoMoreFailures,
  expectSaid,
  expectStatus,
  option,
  rowOf,
  goTo,
  signInAs,
  test,
  type Page,
} from './support.ts';

/** The body of the next request with this method. */
const sent = (page: Page, method: string) =>
  page
    .waitForRequest((request) => request.method() === method)
    .then((request) => request.postDataJSON() as unknown);

test('the list: columns, country names, badges, search, empty text', async ({ page, server }) => {
  const word = unique('Listing');
  const { customerId } = await makeCustomer(server.admin, { name: `${word} Bergen`, country: 'NO' });
  await makeCustomer(server.admin, {
    name: `${word} Kyoto`,
    country: 'JP',
    email: `it@${word.replace(' ', '')}.example`,
  });
  await server.db
    .updateTable('customers')
    .set({ status: 'inactive' })
    .where('customer_id', '=', customerId)
    .execute();
  await signInAs(page, 'super_admin', '/customers', server);

  await expect(page.getByRole('heading', { level: 1, name: 'Customers' })).toBeVisible();
  await expect(page).toHaveTitle('Customers · Lanyard');
  await search(page).fill(word.toUpperCase());
  await expect(names(page)).toHaveText([`${word} Bergen`, `${word} Kyoto`]);
  await expect(page.getByRole('columnheader')).toHaveText([
    '',
    'Name',
    'Email',
    'Country',
    'Status',
    'Actions',
  ]);

  const inactive = rowOf(page, 'Bergen');
  await expect(inactive.locator('td')).toHaveText([
    '',
    `${word} Bergen`,
    '—',
    'Norway',
    'Inactive',
    'EditDelete',
  ]);
  await expectColor(inactive.getByText('Inactive'), 'red');
  const active = rowOf(page, 'Kyoto');
  await expect(active).toContainText('Japan');
  await expectColor(active.getByText('Active'), 'green');

  await search(page).fill(`IT@${word.replace(' ', '')}`);
  await expect(names(page)).toHaveText([`${word} Kyoto`]);
  await expectAccessible(page);

  await search(page).fill('no customer has this name');
  await expect(
    page.getByText('No customers found. Try adjusting your search.', { exact: true }),
  ).toBeVisible();
  await expect(page.getByText(/^Showing/)).toHaveCount(0);
  await page.getByRole('button', { name: 'Clear Search and Filters' }).click();
  await expect(names(page).first()).toBeVisible();
});

test('a country is chosen by typing, with Tab or Enter; a text that is none stays', async ({
  page,
  server,
}) => {
  await signInAs(page, 'super_admin', '/customers?dialog=create', server);
  const add = dialog(page, 'Add Customer');
  await add.getByRole('textbox', { name: 'Company Name' }).fill(unique('Typed Country'));
  const country = add.getByRole('combobox', { name: 'Country' });
  const type = async (text: string, key: string) => {
    await country.press('ControlOrMeta+a');
    await page.keyboard.type(text);
    await page.keyboard.press(key);
  };
  const posts: string[] = [];
  page.on('request', (request) => void (request.method() === 'POST' && posts.push(request.url())));

  await type('ger', 'Tab');
  await expect(country).toHaveValue('Germany');
  await expect(country).not.toBeFocused();
  await type('fra', 'Enter');
  await expect(country).toHaveValue('France');
  await expect(add).toBeVisible();

  await type('atlantis', 'Tab');
  await expect(country).toHaveValue('atlantis');
  await expect(country).toHaveAccessibleDescription('No such country');
  await add.getByRole('button', { name: 'Create Customer' }).click();
  await expect(country).toHaveValue('atlantis');
  expect(posts).toEqual([]);

  // Submitted from within the field: Enter selects the typed option first.
  await type('niger', 'Enter');
  const created = sent(page, 'POST');
  await page.keyboard.press('Enter');
  expect(await created).toMatchObject({ country: 'NE' });
});

test('the customer modal: fields, rules, what it sends', async ({ page, server }) => {
  const name = unique('Modal Hospital');
  await signInAs(page, 'super_admin', '/customers', server);
  await button(page, 'Create Customer').click();
  const add = dialog(page, 'Add Customer');
  await expect(page).toHaveURL('/customers?dialog=create');
  await expect(add.getByRole('textbox', { name: 'Company Name' })).toBeFocused();
  for (const field of ['Company Name', 'Contact Name', 'Email', 'Phone'])
    await expect(add.getByRole('textbox', { name: field })).toBeVisible();
  await expect(add.getByRole('button')).toHaveText(['', 'Cancel', 'Create Customer']);

  const country = add.getByRole('combobox', { name: 'Country' });
  await expect(country).toHaveAttribute('required', '');
  await expect(add.getByRole('textbox', { name: 'Company Name' })).toHaveAttribute('required', '');
  await country.click();
  await expect(page.getByRole('option').first()).toHaveText('Select a country');
  await expect(page.getByRole('option')).toHaveCount(198);
  // A dropdown that opens upwards must not be covered by the header of the dialog.
  await option(page, 'Select a country').click();

  // A second record of the same hospital would split its licenses.
  const twins = unique('Twin Hospital');
  for (const one of ['', ' East', ' North', ' West'])
    await makeCustomer(server.admin, { name: `${twins}${one}`, email: 'it@twins.example' });
  await add.getByRole('textbox', { name: 'Company Name' }).fill(twins.toUpperCase());
  await expect(add.getByRole('status')).toHaveText(
    `Already a customer: ${twins}, ${twins} East, ${twins} North and 1 more`,
  );
  await expectAccessible(page);
  await add.getByRole('link', { name: twins, exact: true }).click();
  await button(page, 'Keep Editing').click();
  // found by an email that contains the name
  const listed = page.waitForResponse(/search=twins/);
  await add.getByRole('textbox', { name: 'Company Name' }).fill('twins');
  await listed;
  await expect(add.getByRole('status')).toBeEmpty();
  await add.getByRole('textbox', { name: 'Company Name' }).fill('');

  // Nothing is sent without the required fields.
  const posts: string[] = [];
  page.on('request', (request) => void (request.method() === 'POST' && posts.push(request.url())));
  await add.getByRole('textbox', { name: 'Email' }).fill('not an address');
  await button(page, 'Create Customer').last().click();
  await expect(add.getByText('Company Name is required')).toBeVisible();
  await expect(add.getByText('Country is required')).toBeVisible();
  await expect(add.getByText('Must be an email address')).toBeVisible();
  expect(posts).toEqual([]);
  await expectAccessible(page);

  // What is too long is not cut: a name would be saved that nobody typed.
  const tooLong = 'A'.repeat(201);
  await add.getByRole('textbox', { name: 'Company Name' }).fill(tooLong);
  await button(page, 'Create Customer').last().click();
  await expect(add.getByText('Must be at most 200 characters')).toBeVisible();
  await expect(add.getByRole('textbox', { name: 'Company Name' })).toHaveValue(tooLong);

  await add.getByRole('textbox', { name: 'Company Name' }).fill(name);
  await add.getByRole('textbox', { name: 'Email' }).fill('');
  await add.getByRole('textbox', { name: 'Phone' }).focus();
  await expect(add.getByText('Must be an email address')).toHaveCount(0);
  await add.getByRole('textbox', { name: 'Email' }).fill('not an address');
  // the error that this press shows moves the field away from the mouse
  await country.hover();
  await page.mouse.down();
  await expect(add.getByText('Must be an email address')).toBeVisible();
  await page.mouse.up();
  await expect(country).toHaveAttribute('aria-expanded', 'true');
  await add.getByRole('textbox', { name: 'Email' }).fill('');
  await country.fill('portu');
  await option(page, 'Portugal').click();
  const created = sent(page, 'POST');
  await add.getByRole('textbox', { name: 'Company Name' }).press('Enter');
  expect(await created).toEqual({ name, country: 'PT' });
  await expectSaid(page, 'Customer created successfully');
  await expect(page).toHaveURL('/customers');

  await search(page).fill(name);
  await expect(names(page)).toHaveText([name]);
  await rowOf(page, name).getByRole('button', { name: 'Edit' }).click();
  const edit = dialog(page, 'Edit Customer');
  await expect(edit.getByRole('textbox', { name: 'Company Name' })).toHaveValue(name);
  await expect(edit.getByRole('combobox', { name: 'Country' })).toHaveValue('Portugal');
  await edit.getByRole('textbox', { name: 'Phone' }).fill('+351 21 000 000');
  await edit.getByRole('textbox', { name: 'Contact Name' }).fill('Ana');
  const updated = sent(page, 'PUT');
  await edit.getByRole('button', { name: 'Update Customer' }).click();
  expect(await updated).toMatchObject({ name, country: 'PT', contactName: 'Ana', phone: '+351 21 000 000' });
  await expectSaid(page, 'Customer updated successfully');

  // The dialog is part of the URL.
  await rowOf(page, name).getByRole('button', { name: 'Edit' }).click();
  await expect(edit.getByRole('textbox', { name: 'Phone' })).toHaveValue('+351 21 000 000');
  await page.reload();
  await expect(edit.getByRole('textbox', { name: 'Contact Name' })).toHaveValue('Ana');
  await edit.getByRole('button', { name: 'Cancel' }).click();
  await expect(edit).toBeHidden();
});

test('two people who edit one customer: the second sees what differs', async ({ page, server }) => {
  const { customerId, name } = await makeCustomer(server.admin, { country: 'DE', phone: '1' });
  await signInAs(page, 'super_admin', `/customers?edit=${customerId}`, server);
  const form = dialog(page, 'Edit Customer');
  await expect(form.getByRole('textbox', { name: 'Phone' })).toHaveValue('1');
  const theirs = { name, country: 'AT', phone: '2', contactName: 'Ana' };
  await server.admin.ok(customers.update, { params: { id: customerId }, body: theirs });

  expectStatus(page, 409);
  await form.getByRole('textbox', { name: 'Phone' }).fill('3');
  await form.getByRole('combobox', { name: 'Country' }).fill('Portugal');
  await option(page, 'Portugal').click();
  const update = form.getByRole('button', { name: 'Update Customer' });
  const conflict = dialog(page, 'Someone else changed this meanwhile');
  await update.press('Enter');
  await expect(conflict.getByText(/^It was saved by someone else/)).toBeFocused();
  // pressed twice: the second Enter decides nothing
  await page.keyboard.press('Enter');
  // The contact, which this user did not change, keeps the other user's value.
  await expect(conflict.getByRole('row')).toHaveText([
    'FieldTheirsYours',
    'Phone23',
    'CountryAustriaPortugal',
  ]);
  await expectAccessible(page);
  await page.keyboard.press('Escape');
  await expect(conflict).toBeHidden();
  await expect(update).toBeFocused();
  await page.keyboard.press('Enter');
  await conflict.getByRole('button', { name: 'Save Mine Anyway' }).click();
  await expectSaid(page, 'Customer updated successfully');
  const now = await server.admin.ok(customers.get, { params: { id: customerId } });
  expect(now).toMatchObject({ name, phone: '3', country: 'PT', contactName: 'Ana' });
});

test('what is refused of a deletion and of a form', async ({ page, server }) => {
  await signInAs(page, 'super_admin', '/today', server);

  await test.step('a customer that a colleague renames while its deletion is asked about is not deleted', async () => {
    const { customerId, name } = await makeCustomer(server.admin);
    await goTo(page, `/customers?search=${encodeURIComponent(name)}`);
    await rowOf(page, name).getByRole('button', { name: 'Delete' }).click();
    const question = dialog(page, 'Delete Customer');
    await expect(question.getByRole('button', { name: 'Confirm' })).toBeEnabled();
    const body = { name: unique('Hospital'), country: 'DE' };
    await server.admin.ok(customers.update, { params: { id: customerId }, body });
    expectStatus(page, 409);
    await question.getByRole('button', { name: 'Confirm' }).click();
    await expect(question.getByRole('alert')).toContainText('This customer was changed since you saw it.');
    const now = await server.admin.ok(customers.get, { params: { id: customerId } });
    expect(now).toMatchObject({ name: body.name, deletedAt: null });
    await page.keyboard.press('Escape');
    await expectNoMoreFailures(page);
  });

  await test.step('what the server refuses of no field is said at the end of the form', async () => {
    await goTo(page, '/customers?dialog=create');
    const add = dialog(page, 'Add Customer');
    await add.getByRole('textbox', { name: 'Company Name' }).fill(unique('Refused'));
    await add.getByRole('combobox', { name: 'Country' }).fill('France');
    await option(page, 'France').click();
    expectStatus(page, 422);
    const details = [{ path: 'type', message: 'Not a type of this house' }];
    const create = button(page, 'Create Customer').last();
    await page.route(`**${customers.create.path}`, async (route) => {
      // disabled while it waits
      await expect(create).not.toBeFocused();
      await route.fulfill({ status: 422, json: { success: false, error: 'Refused.', details } });
    });
    await create.click();
    await expect(add.getByRole('alert')).toContainText('type: Not a type of this house');
    await expect(create).toBeFocused();
  });
});

test('search, filters, order and page live in the address; the CSV holds the filtered list', async ({
  page,
  server,
}) => {
  const word = unique('Paging').replace(' ', '');
  const [zero, ...french] = [...Array(53).keys()].map((n) => `${word} ${String(n).padStart(2, '0')}`);
  const italian = french.pop()!;
  await importCustomers(server.admin, french, 'FR');
  await importCustomers(server.admin, [italian], 'IT');
  await makeCustomer(server.admin, {
    name: zero!,
    country: 'FR',
    contactName: '=1+1',
    email: 'zero@paging.example',
  });
  await signInAs(page, 'super_admin', '/customers', server);
  await search(page).fill(word);
  await expect(page.getByText('Showing 1 to 50 of 53 results')).toBeVisible();
  await page.getByRole('combobox', { name: 'Filter by country' }).fill('fran');
  await option(page, 'France').click();
  await expect(page.getByText('Showing 1 to 50 of 52 results')).toBeVisible();
  await page.getByRole('columnheader', { name: 'Name' }).getByRole('button').click();
  await expect(names(page).first()).toHaveText(`${word} 51`);
  await expect(page.getByRole('columnheader', { name: 'Name' })).toHaveAttribute('aria-sort', 'descending');
  await page.getByRole('button', { name: 'Next page' }).click();
  await expect(names(page)).toHaveText([`${word} 01`, `${word} 00`]);
  const address = page.url();
  expect(Object.fromEntries(new URL(address).searchParams)).toEqual({
    search: word,
    country: 'FR',
    sort: '-name',
    page: '2',
  });

  await page.reload();
  await expect(names(page)).toHaveText([`${word} 01`, `${word} 00`]);
  await expect(search(page)).toHaveValue(word);
  await expect(page.getByRole('combobox', { name: 'Filter by country' })).toHaveValue('France');
  await page.goBack();
  await expect(page.getByText('Showing 1 to 50 of 52 results')).toBeVisible();
  await page.goForward();
  await expect(page.getByText('Showing 51 to 52 of 52 results')).toBeVisible();

  const download = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Export CSV' }).click();
  const file = await download;
  expect(file.suggestedFilename()).toMatch(/^customers-\d{4}-\d\d-\d\d\.csv$/);
  const lines = (await readFile(await file.path(), 'utf8')).trimEnd().split('\n');
  expect(lines[0]).toMatch(/^\uFEFFName,/);
  expect(lines).toHaveLength(53);
  expect(lines[1]).toContain(`${word} 51`);
  expect(lines[52]).toContain('zero@paging.example');
  expect(lines[52], 'a formula is no formula').toContain("'=1+1");

  // Another filter starts at the first page, and a page that no longer exists redirects to the last.
  await search(page).fill(`${word} 0`);
  await expect(page).not.toHaveURL(/page=/);
  await page.goto(`/customers?search=${word}&page=9`);
  await expect(page).toHaveURL(/page=2$/);
  await expect(page.getByText('Showing 51 to 53 of 53 results')).toBeVisible();

  await page.getByRole('button', { name: 'Columns' }).click();
  await page.getByRole('checkbox', { name: 'Contact Name' }).check();
  await expectAccessible(page);
  await page.keyboard.press('Escape');
  await page.reload();
  await expect(page.getByRole('columnheader', { name: 'Contact Name' })).toBeVisible();
});

test('Back skips a page that no longer exists', async ({ page, server }) => {
  await makeCustomer(server.admin);
  await signInAs(page, 'super_admin', '/licenses', server);
  await expect(page.getByRole('heading', { level: 1, name: 'License Management' })).toBeVisible();
  for (const path of ['/customers', '/customers/trash', '/audit']) {
    await page.goto(`${path}?page=9000`);
    await expect(page).not.toHaveURL(/page=9000/);
    await page.goBack();
    await expect(page).toHaveURL('/licenses');
    await expect(page.getByRole('heading', { level: 1, name: 'License Management' })).toBeVisible();
  }
});

test('data stays on the screen when it cannot be refetched', async ({ page, server }) => {
  const { customerId, name } = await makeCustomer(server.admin, { name: unique('Staying') });
  const path = `/customers?search=${encodeURIComponent(name)}`;
  await signInAs(page, 'super_admin', `${path}&edit=${customerId}`, server);
  const edit = dialog(page, 'Edit Customer');
  await edit.getByRole('textbox', { name: 'Contact Name' }).fill('Kim Sato');
  expectStatus(page, 418, 409);
  const refused: string[] = [];
  await page.route('**/api/customers**', (route) => {
    const isChange = route.request().method() !== 'GET';
    if (!isChange) refused.push(new URL(route.request().url()).pathname);
    return route.fulfill({ status: isChange ? 409 : 418, json: { error: 'Busy.' } });
  });
  // Refused as out of date, so that everything is refetched.
  await button(page, 'Update Customer').click();
  await expect(edit.getByRole('alert')).toHaveText('Busy.');
  await expect
    .poll(() => refused)
    .toEqual(expect.arrayContaining([customers.list.path, `${customers.list.path}/${customerId}`]));
  await page.unroute('**/api/customers**');
  await button(page, 'Update Customer').click();
  await expectSaid(page, 'Customer updated successfully');

  await softDelete(server.admin, { customerId });
  await page.goto(`/customers/trash?search=${encodeURIComponent(name)}`);
  await expect(rowOf(page, name)).toBeVisible();
  await page.route('**/api/customers/trash**', (route) => route.fulfill({ status: 418, body: '{}' }));
  const failed = page.waitForResponse((response) => response.status() === 418);
  await comeBack(page);
  await (await failed).finished();
  await rowOf(page, name).getByRole('button', { name: 'Reactivate' }).click();
  await expect(dialog(page, 'Reactivate Customer')).toBeVisible();
  await expect(page.getByText('Failed to load deleted customers')).toHaveCount(0);
});
