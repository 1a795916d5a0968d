import { readFile } from 'node:fs/promises';
import type { Locator } from '@playwright/test';
import { audit } from '../../contract/audit.ts';
import { customers } from '../../contract/customers.ts';
import { imports } from '../../contract/imports.ts';
import { bulkLicenses } from '../../contract/license-bulk.ts';
import { licenses, type License } from '../../contract/licenses.ts';
import type { Route } from '../../contract/route.ts';
import { users } from '../../contract/users.ts';
import { makeCustomer, makeLicense, softDelete, unique, validateOn } from '../factories.ts';
import { clickTwice, endSessions, loseAnswers } from './calls.ts';
import { holdFile } from './hold-back.ts';
import { importLicenses } from './import.ts';
import {
  chooseInMenu,
  dialog,
  expect,
  expectAccessible,
  expectSaid,
  expectStatus,
  goTo,
  rowOf,
  signInAs,
  signInByForm,
  test,
  type ConsoleServer,
  type Page,
} from './support.ts';
import { makeUser } from './users-screen.ts';

const row = (page: Page, license: Pick<License, 'licenseKey'>) => rowOf(page, license.licenseKey);
const get = (server: ConsoleServer, { licenseId }: License) =>
  server.admin.ok(licenses.get, { params: { id: licenseId } });

/** More than a page of the list. */
const untilMay = Array<string>(52).fill('2030-05-31');

/** The next call does not reach the service. */
const failOnce = (page: Page, { path }: Route) => {
  expectStatus(page, 'aborted');
  return page.route(`**${path}*`, (route) => route.abort('connectionreset'), { times: 1 });
};

test('a license is renewed in two actions and put back; a new customer gets one in four clicks', async ({
  page,
  server,
}) => {
  const customer = await makeCustomer(server.admin, { name: unique('Renewed') });
  const license = await makeLicense(server.admin, {
    customerId: customer.customerId,
    validUntil: '2032-02-29T17:30:00Z',
  });
  await signInAs(page, 'admin', `/licenses?customer=${customer.customerId}`, server);

  // by keyboard: the menu, and the key that it shows; without the menu, a stray key changes nothing
  await expect(row(page, license)).toBeVisible();
  await page.keyboard.press('j');
  await expect(row(page, license)).toBeFocused();
  await page.keyboard.press('d');
  await page.keyboard.press('y');
  const more = row(page, license).getByRole('button', { name: 'More actions' });
  await more.press('Enter');
  await expect(page.getByRole('menuitem', { name: '+30 days' })).toHaveText('+30 daysd');
  await expect(page.getByRole('menuitem', { name: '+1 year' })).toHaveText('+1 yeary');
  await page.keyboard.press('y');
  await page.getByRole('button', { name: 'Undo' }).hover();
  await expect(
    page.getByText(`License ${license.licenseKey} for ${customer.name} extended to 28 Feb 2033`),
  ).toBeVisible();
  await expect(row(page, license)).toContainText('28 Feb 2033');
  await expect(more).toBeFocused();
  await expect(page.getByRole('tooltip', { name: 'Ctrl Z' })).toBeVisible();
  await page.getByPlaceholder('Search licenses...').press('Control+z');
  await expect(page.getByRole('button', { name: 'Undo' })).toBeVisible();
  await more.press('Control+z');
  await expect(row(page, license)).toContainText('29 Feb 2032');

  // Escape hides a tooltip alone, then deselects
  await row(page, license).focus();
  await page.keyboard.press('x');
  await row(page, license).locator('button[data-hint]').first().focus();
  await expect(page.getByRole('tooltip')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('tooltip')).toBeHidden();
  await expect(page.getByText('1 selected')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.getByText('1 selected')).toBeHidden();
  expect((await get(server, license)).validUntil).toBe('2032-02-29T17:30:00.000Z');

  expectStatus(page, 409);
  // by mouse; then someone else changes the license, which Undo must not lose
  await chooseInMenu(row(page, license), '+30 days');
  const undo = page.getByRole('button', { name: 'Undo' });
  await undo.hover();
  const changed = await server.admin.ok(licenses.update, {
    params: { id: license.licenseId },
    body: { validUntil: '2040-01-01T00:00:00Z' },
  });
  await undo.click();
  await expectSaid(page, 'Not undone: the license was changed meanwhile.');
  expect(await get(server, license)).toEqual(changed);

  // in the form
  await goTo(page, `/licenses/new?customer=${customer.customerId}`);
  await expect(page.getByRole('combobox', { name: 'Customer' })).toHaveValue(customer.name);
  await page.goto('/licenses');

  // click 1
  await page.getByRole('button', { name: 'Create License' }).first().click();
  const modal = dialog(page, 'Create License');
  const end = modal.getByRole('textbox', { name: 'Valid Until' });
  await end.fill('31.01.2028');
  await modal.getByRole('button', { name: '+1 year' }).click();
  await expect(end).toHaveValue('31 Jan 2029');
  await modal.getByRole('button', { name: '+30 days' }).click();
  await expect(end).toHaveValue('2 Mar 2029');

  const name = unique("St. Mary's <b>Clinic</b>");
  await modal.getByRole('combobox', { name: 'Customer' }).fill(name);
  // click 2
  await page.getByRole('option', { name: `Create “${name}”` }).click();
  const add = dialog(page, 'Add Customer');
  await expect(add.getByRole('textbox', { name: 'Company Name' })).toHaveValue(name);
  await add.getByRole('combobox', { name: 'Country' }).fill('irel');
  await page.keyboard.press('Enter');
  // click 3
  const customersSent = await clickTwice(
    add.getByRole('button', { name: 'Create Customer' }),
    customers.create,
    'atOnce',
  );
  await expect(add).toBeHidden();
  await expect(modal.getByRole('combobox', { name: 'Customer' })).toHaveValue(name);
  // click 4
  const licensesSent = await clickTwice(
    modal.getByRole('button', { name: 'Create License' }),
    licenses.create,
  );
  await expect(page.getByText(`License created for ${name}: Trial, valid until 2 Mar 2029.`)).toBeVisible();
  expect([customersSent(), licensesSent()]).toEqual([1, 1]);
});

test('all licenses of a filter are extended as previewed, and put back', async ({ page, server }) => {
  const customer = await makeCustomer(server.admin, { name: unique('Many') });
  const [first, ...others] = await importLicenses(server.admin, customer, untilMay);
  await signInAs(page, 'license_manager', `/licenses?customer=${customer.customerId}`, server);

  const selectAll = async () => {
    await page.getByRole('checkbox', { name: 'Select all rows' }).check();
    await expect(page.getByText('50 selected')).toBeVisible();
    await page.getByRole('button', { name: 'Select All 52' }).click();
    await expect(page.getByText('52 selected')).toBeVisible();
  };
  await selectAll();
  // another page ends the choice, also for who comes back
  await page.getByRole('button', { name: 'Next page' }).click();
  await expect(page.getByText('Page 2 of 2')).toBeVisible();
  await expect(page.getByText('52 selected')).toHaveCount(0);
  await page.goBack();
  await expect(page.getByText('Page 1 of 2')).toBeVisible();
  await expect(page.getByRole('checkbox', { checked: true })).toHaveCount(0);
  await selectAll();
  await page.getByRole('button', { name: 'Extend…' }).click();
  const modal = dialog(page, 'Extend Licenses');
  await expect(modal.getByText('Extend Licenses')).toBeFocused();
  await expect(modal.getByRole('status')).toHaveText('52 licenses change.');
  await expect(modal.getByRole('list', { name: 'Preview' })).toContainText('31 May 2030 → 31 May 2031');
  await expect(modal.getByRole('link', { name: customer.name }).first()).toHaveAttribute(
    'href',
    `/customers/${customer.customerId}`,
  );
  await expectAccessible(page);
  await modal.getByText('To a date').click();
  const day = modal.getByRole('textbox', { name: 'Valid Until' });
  await day.pressSequentially('1.1.');
  await expect(day).not.toHaveAttribute('aria-invalid', 'true');
  await day.press('Tab');
  await expect(day).toHaveAttribute('aria-invalid', 'true');
  await day.fill('2030-01-01');
  await page.keyboard.press('Tab');
  await expect(modal.getByRole('status')).toHaveText(
    '0 licenses change. 52 licenses stay as they are: Ends on that day or later already (52).',
  );
  await modal.getByText('+30 days').click();
  await expect(modal.getByRole('status')).toHaveText('52 licenses change.');

  // after the preview: one license changes, and another begins to match the filter
  const edited = await server.admin.ok(licenses.update, {
    params: { id: first!.licenseId },
    body: { maxActivations: 7 },
  });
  const later = await makeLicense(server.admin, { customerId: customer.customerId });
  await modal.getByRole('button', { name: 'Extend 52 licenses' }).press('Enter');
  await expect(modal.getByRole('alert')).toHaveText('51 licenses extended. 1 license could not be extended:');
  await expect(modal.getByRole('list', { name: 'Licenses' })).toContainText(
    `${edited.licenseKey} ${customer.name}Was changed by someone else meanwhile`,
  );
  // not Close: a second Enter would end the list unread
  await expect(modal.getByRole('alert')).toBeFocused();
  await expectAccessible(page);
  expect(await get(server, later)).toEqual(later);
  expect(await get(server, edited)).toEqual(edited);
  expect((await get(server, others[0]!)).validUntil).toBe('2030-06-30T00:00:00.000Z');

  await modal.getByRole('button', { name: 'Undo' }).click();
  await expect(modal.getByRole('status')).toHaveText('51 licenses put back.');
  await modal.getByText('Close', { exact: true }).click();
  for (const license of [others[0]!, others.at(-1)!])
    expect((await get(server, license)).validUntil).toBe('2030-05-31T00:00:00.000Z');

  await row(page, first!).getByRole('checkbox').check();
  await page.getByRole('button', { name: 'Modules…' }).click();
  const modules = dialog(page, 'Change Modules');
  await modules.getByText('Remove modules').click();
  await modules.getByRole('checkbox', { name: 'Diabetes' }).check();
  await expect(modules.getByRole('list', { name: 'Preview' })).toContainText('− Diabetes');
  await modules.getByRole('button', { name: 'Change 1 license' }).click();
  await expect(modules.getByText('1 license changed.')).toBeVisible();
  expect((await get(server, first!)).moduleIds).toEqual(['mod_lung_nodule']);
});

/** Drags files over an element, which says so, and drops them. */
async function drop(target: Locator, ...texts: string[]): Promise<void> {
  const dataTransfer = await target.page().evaluateHandle((contents) => {
    const dragged = new DataTransfer();
    for (const text of contents) dragged.items.add(new File([text], 'dropped.csv'));
    return dragged;
  }, texts);
  const marked = target.page().locator('[data-over]');
  await target.dispatchEvent('dragover', { dataTransfer });
  await expect(marked).toBeVisible();
  await target.dispatchEvent('drop', { dataTransfer });
  await expect(marked).toBeHidden();
}
test('all licenses of a filter are revoked once their number is typed, and a lost answer is asked for again', async ({
  page,
  server,
}) => {
  // last in the list, whose first page other tests of this server expect to see
  const customer = await makeCustomer(server.admin, { name: unique('ZZ Closed Clinic') });
  const made = await importLicenses(server.admin, customer, untilMay);
  await validateOn(server.admin, made[0]!, 'machine of the closed clinic');
  await signInAs(page, 'license_manager', `/licenses?customer=${customer.customerId}`, server);
  await page.getByRole('checkbox', { name: 'Select all rows' }).check();
  await page.getByRole('button', { name: 'Select All 52' }).click();
  await failOnce(page, bulkLicenses.preview);
  await page.getByRole('button', { name: 'Revoke…' }).click();
  const modal = dialog(page, 'Revoke Licenses');
  await modal.getByRole('button', { name: 'Try again' }).click();
  await expect(modal.getByRole('status')).toHaveText('52 licenses change.');
  await expect(modal).toContainText('1 machine is refused from its next check.');
  await expect(modal.getByRole('list', { name: 'Preview' })).toContainText('Active → Revoked');
  const number = modal.getByRole('textbox', { name: 'Number of licenses' });
  await number.fill('5');
  await expect(modal.getByRole('button', { name: 'Revoke', exact: true })).toBeDisabled();
  await number.fill('52');
  await expectAccessible(page);

  // the service does it, and the answer is lost, four times
  const lost = await loseAnswers(page, bulkLicenses.change, { times: 4 });
  await page.clock.install();
  await modal.getByRole('button', { name: 'Revoke 52 licenses' }).click();
  for (let tries = 1; tries < 4; tries++) {
    await expect.poll(lost).toBeGreaterThanOrEqual(tries);
    await page.clock.runFor(5000);
  }
  await expect(modal.getByRole('alert')).toHaveText(
    '0 licenses revoked. No response for 50 licenses: they may or may not have been revoked. Stopped: 2 licenses not revoked.',
  );
  // which two are left depends on the order in which they were made, all at once
  const left = (await Promise.all(made.map((one) => get(server, one)))).filter(
    (one) => one.status === 'active',
  );
  expect(left).toHaveLength(2);
  await modal.getByRole('button', { name: 'Ask Again' }).click();
  await expect(modal.getByRole('status')).toHaveText('52 licenses revoked.');
  for (const one of [made[0]!, ...left]) expect((await get(server, one)).status).toBe('revoked');
  const entries = await server.admin.ok(audit.list, { query: { resourceId: made[0]!.licenseId } });
  expect(entries.entries.filter(({ event_type }) => event_type === 'license.revoked')).toHaveLength(1);

  // the session ends while they are put back: the last two are, without an answer, and are asked for again
  await endSessions(page, 'license_manager', server, bulkLicenses.change, 2);
  let calls = 0;
  await page.route(`**${bulkLicenses.change.path}`, async (route) => {
    if (++calls !== 2) return route.fallback();
    await route.fetch();
    await route.abort('connectionreset');
  });
  expectStatus(page, 401);
  await modal.getByRole('button', { name: 'Undo' }).click();
  await expect(page).toHaveURL(/login/);
  await page.unrouteAll();
  await signInByForm(page, (await server.person('license_manager')).email);
  await expect(modal.getByRole('alert')).toHaveText(
    '50 licenses put back. No response for 2 licenses: they may or may not have been put back.',
  );
  await modal.getByRole('button', { name: 'Ask Again' }).click();
  await expect(modal.getByRole('status')).toHaveText('52 licenses put back.');
  for (const one of [made[0]!, ...left]) expect((await get(server, one)).status).toBe('active');

  // what was stopped stays so: Ask Again finds out about those without an answer alone
  await page.reload();
  await page.getByRole('checkbox', { name: 'Select all rows' }).check();
  await page.getByRole('button', { name: 'Select All 52' }).click();
  await page.getByRole('button', { name: 'Revoke…' }).click();
  await number.fill('５２');
  const stop = modal.getByRole('button', { name: 'Stop' });
  await page.route(`**${bulkLicenses.change.path}`, async (route) => {
    await stop.click();
    await route.fetch();
    await route.abort('connectionreset');
  });
  await modal.getByRole('button', { name: 'Revoke 52 licenses' }).click();
  await expect(modal.getByRole('alert')).toHaveText(
    '0 licenses revoked. No response for 50 licenses: they may or may not have been revoked. Stopped: 2 licenses not revoked.',
  );
  await page.unrouteAll();
  await modal.getByRole('button', { name: 'Ask Again' }).click();
  await expect(modal.getByRole('status')).toHaveText('50 licenses revoked. Stopped: 2 licenses not revoked.');
  await modal.getByRole('button', { name: 'Undo' }).click();
  await expect(modal.getByRole('status')).toHaveText('50 licenses put back.');
});

test('customers and licenses come from files: errors by line, a dry run, and the keys', async ({
  page,
  server,
}) => {
  const [north, south] = [unique('Klinik Nörd'), unique('=Süd <b>')];
  await signInAs(page, 'admin', '/customers?dialog=import', server);
  const people = dialog(page, 'Import Customers');
  const choose = (file: string, content: Buffer) =>
    page.locator('input[type=file]').setInputFiles({ name: file, mimeType: 'text/csv', buffer: content });

  // as Excel saves it on Windows: semicolons, Windows-1252
  await choose(
    'customers.csv',
    Buffer.from(`Company Name;Country;Email\r\n${north};DE;nobody\r\n`, 'latin1'),
  );
  await expect(people.getByRole('alert')).toHaveText('1 error. No customer is made until the file has none.');
  await expect(people.getByRole('list', { name: 'Errors' })).toHaveText(
    'Line 2, Email: Must be an email address',
  );
  await expect(people.getByRole('button', { name: 'Import', exact: true })).toBeDisabled();
  const guess = people.getByRole('note');
  await expect(guess).toHaveText(
    'This file is not Unicode. If letters look wrong, save it as CSV UTF-8 and choose that.',
  );
  await expectAccessible(page);
  await choose('good.csv', Buffer.from(`Company Name,Country\n${north},DE\n`));
  await expect(people.getByRole('button', { name: 'Import 1 customer' })).toBeEnabled();
  await expect(guess).toBeHidden();
  // of two files that are read at once, the last one counts
  const slow = await holdFile(page, 'arrayBuffer');
  await choose('slow.csv', Buffer.from(`Company Name,Country\n${south},AT\n`));
  await expect(people.getByRole('button', { name: 'Import', exact: true })).toBeDisabled();
  await choose('good.csv', Buffer.from(`Company Name,Country\n${north},CH\n`));
  await expect(people.getByRole('region', { name: 'Preview' })).toContainText('Switzerland');
  await slow();
  await expect(people.getByRole('button', { name: 'Import 1 customer' })).toBeEnabled();
  await expect(people.getByRole('region', { name: 'Preview' })).toContainText('Switzerland');
  // the same file may be chosen again: browsers say nothing of a file that the field has already
  const choosing = page.waitForEvent('filechooser');
  await people.getByRole('button', { name: 'Choose File' }).click();
  await choosing;
  await expect(page.locator('input[type=file]')).toHaveValue('');
  await choose('customers.xlsx', Buffer.from('PK\u0003\u0004\0\0'));
  await expect(people.getByRole('alert')).toHaveText(
    'customers.xlsx is not a CSV file. Save the sheet as CSV first.',
  );
  await expect(people.getByRole('button', { name: 'Import', exact: true })).toBeDisabled();
  const field = people.getByRole('textbox', { name: 'CSV' });
  await field.press('ControlOrMeta+A');
  await page.keyboard.insertText(`Company Name\tCountry\n${north}\tGermany\n`);
  await expect(people.getByRole('region', { name: 'Preview' })).toContainText(`${north}———Germany`);
  // the service does it, and the answer is lost
  await loseAnswers(page, imports.customers);
  await people.getByRole('button', { name: 'Import 1 customer' }).click();
  await expect(people.getByRole('alert')).toContainText('Send it again unchanged: it is applied only once');
  const sent = await clickTwice(people.getByRole('button', { name: 'Import 1 customer' }), imports.customers);
  await expectSaid(page, '1 customer created');
  await expect(people).toBeHidden();
  expect(sent()).toBe(1);

  await page.goto(`/licenses?search=${encodeURIComponent(north)}&dialog=import`);
  const modal = dialog(page, 'Import Licenses');
  const csv = `\ufeffCustomer;Country;Type;Max Activations;Modules\r\n${north};;enterprise;5;COPD\r\n${south};AT;;;\r\n`;
  const target = modal.getByRole('textbox', { name: 'CSV' });
  await target.fill('Customer\nNobody\n');
  await drop(target, csv, csv);
  await expect(modal.getByRole('alert')).toHaveText('Drop one file at a time.');
  // the text before would be taken for what was dropped last
  await expect(target).toHaveValue('');
  await drop(target, csv);
  await expect(modal.getByRole('list', { name: 'Errors' })).toHaveText(
    'Line 3, Customer: There is no such customer',
  );
  await modal.getByRole('checkbox', { name: 'Create 1 customer that does not exist' }).check();
  await expect(modal.getByRole('status')).toHaveText('2 licenses without an error.');
  await expect(modal.getByRole('row').nth(2)).toContainText(`${south} NewTrial1`);
  await expectAccessible(page);
  // a colleague deletes a customer after the dry run
  expectStatus(page, 422);
  const [known] = await server.admin.ok(customers.list, { query: { search: north } });
  await softDelete(server.admin, known!);
  await modal.getByRole('button', { name: 'Issue 2 licenses' }).click();
  await expect(modal.getByRole('alert')).toHaveText('1 error. No license is made until the file has none.');
  await expect(modal.getByRole('list', { name: 'Errors' })).toHaveText(
    'Line 2, Customer: Customer is soft-deleted',
  );
  await expect(modal.getByText('Customer is soft-deleted')).toHaveCount(1);
  await expect(modal.getByRole('button', { name: 'Issue', exact: true })).toBeDisabled();
  await server.admin.ok(customers.restore, { params: { id: known!.customerId } });
  // the same file again is checked again, also when its text is pasted
  await drop(target, csv);
  await expect(modal.getByRole('status')).toHaveText('2 licenses without an error.');
  await softDelete(server.admin, known!);
  await drop(target, csv);
  await expect(modal.getByText('Customer is soft-deleted')).toBeVisible();
  await server.admin.ok(customers.restore, { params: { id: known!.customerId } });
  await target.press('ControlOrMeta+A');
  await target.press('ControlOrMeta+C');
  await target.press('ControlOrMeta+V');
  await expect(modal.getByRole('status')).toHaveText('2 licenses without an error.');
  await failOnce(page, imports.checkLicenses);
  await drop(target, csv);
  await expect(modal.getByRole('alert')).toContainText('The file could not be checked.');
  await modal.getByRole('button', { name: 'Try again' }).click();
  await expect(modal.getByRole('status')).toHaveText('2 licenses without an error.');
  await modal.getByRole('button', { name: 'Issue 2 licenses' }).press('Enter');
  await expect(modal.getByRole('status')).toHaveText(
    '2 licenses issued, 1 customer created. Send the keys to the customers:',
  );
  const keys = await modal.locator('.mono').allTextContents();
  expect(keys.map((key) => key[0])).toEqual(['E', 'T']);
  const downloading = page.waitForEvent('download');
  await modal.getByRole('link', { name: 'Download CSV' }).click();
  const file = await readFile(await (await downloading).path(), 'utf8');
  for (const key of keys) expect(file).toContain(key);
  await modal.getByRole('button', { name: 'Done' }).click();
  await expect(row(page, { licenseKey: keys[0]! })).toBeVisible();
});

test('an import goes on without the customers that its user may not create any more', async ({
  page,
  server,
}) => {
  const { name } = await makeCustomer(server.admin, { country: 'DE' });
  const { id, email } = await makeUser(server, 'admin');
  await page.goto('/licenses?dialog=import');
  await signInByForm(page, email);
  const modal = dialog(page, 'Import Licenses');
  const field = modal.getByRole('textbox', { name: 'CSV' });
  await field.fill(`Customer,Country\n${unique('New')},DE`);
  const create = modal.getByRole('checkbox', { name: /^Create / });
  await create.check();
  const issue = modal.getByRole('button', { name: 'Issue 1 license' });
  await expect(issue).toBeEnabled();
  const currentPassword = server.printed.password;
  const body = { role: 'license_manager', currentPassword };
  await server.admin.ok(users.update, { params: { id }, body });
  expectStatus(page, 403);
  await issue.click();
  await expect(modal.getByRole('alert')).toContainText('You lack the permission customers:create.');
  await field.fill(`Customer,Country\n${name},DE`);
  // it goes with its mark
  await create.click();
  await issue.click();
  await expect(modal.getByRole('status')).toContainText('1 license issued');
});

test('an import that would create another customer than it showed, as one that was renamed since, asks again', async ({
  page,
  server,
}) => {
  const [known, name] = [await makeCustomer(server.admin, { country: 'DE' }), unique('New')];
  const lengthOf = async (search: string) =>
    (await server.admin.ok(customers.list, { query: { search } })).length;
  await signInAs(page, 'admin', '/licenses?dialog=import', server);
  const modal = dialog(page, 'Import Licenses');
  const csv = `Customer,Country\n${known.name},DE\n${name},DE`;
  await modal.getByRole('textbox', { name: 'CSV' }).fill(csv);
  await modal.getByRole('checkbox', { name: 'Create 1 customer that does not exist' }).check();
  const issue = modal.getByRole('button', { name: 'Issue 2 licenses' });
  await expect(issue).toBeEnabled();
  const body = { name: unique('Renamed'), country: 'DE' };
  await server.admin.ok(customers.update, { params: { id: known.customerId }, body });
  expectStatus(page, 409);
  await issue.click();
  await expect(modal.getByRole('alert')).toHaveText(
    'The file would do something else than when it was checked. Look at it again.',
  );
  expect(await lengthOf(known.name)).toBe(0);
  await expect(modal.getByRole('row').nth(1)).toContainText(`${known.name} New`);

  // done, but unanswered before the session ends: once they exist, a check finds no new customers
  expectStatus(page, 401);
  await loseAnswers(page, imports.licenses);
  await issue.click();
  await expect(modal.getByRole('alert')).toContainText('Send it again unchanged: it is applied only once');
  await endSessions(page, 'admin', server, imports.licenses);
  await issue.click();
  await signInByForm(page, (await server.person('admin')).email);
  await issue.click();
  await expect(modal.getByRole('status')).toContainText('2 licenses issued, 2 customers created');
  expect(await server.admin.ok(licenses.list, { query: { search: name } })).toHaveLength(1);
});
