import { activations } from '../../contract/activations.ts';
import { customers } from '../../contract/customers.ts';
import { licenses, type License } from '../../contract/licenses.ts';
import { modules } from '../../contract/modules.ts';
import { validation } from '../../contract/validation.ts';
import {
  deactivate,
  makeApiKey,
  machinesOf,
  makeCustomer,
  makeLicense,
  revoke,
  softDelete,
  unique,
  validateOn,
} from '../factories.ts';
import {
  dialog,
  expect,
  expectAccessible,
  expectColor,
  expectNoAxeViolations,
  expectStatus,
  inDays,
  rowOf,
  signInAs,
  test,
  type ConsoleServer,
  type Page,
} from './support.ts';

const day = 86_400_000;
const searchBox = (page: Page) => page.getByPlaceholder('Search licenses...');
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const list = (page: Page) => page.getByRole('region', { name: 'Licenses' });
const row = (page: Page, license: Pick<License, 'licenseKey'>) => rowOf(list(page), license.licenseKey);
const keys = (page: Page) => list(page).locator('tbody td .mono');
const tab = (page: Page, name: string) => page.getByRole('tab', { name });
/** The fields of a license that come from its customer. */
const of = ({ customerId }: { customerId: string }) => ({ customerId });
const only = (customer: { customerId: string }) => `/licenses?customer=${customer.customerId}`;

/** Sets values that no call can set. */
const write = (server: ConsoleServer, { licenseId }: License, seats: number) =>
  server.db
    .updateTable('licenses')
    .set({ current_activations: seats })
    .where('license_id', '=', licenseId)
    .execute();

test('tabs with counts, groups that fold, columns, what an empty tab says', async ({ page, server }) => {
  const word = unique('Tabs').replace(' ', '');
  const a = await makeCustomer(server.admin, { name: `${word} Alpha` });
  const b = await makeCustomer(server.admin, { name: `${word} Beta` });
  const first = await makeLicense(server.admin, of(a));
  await makeLicense(server.admin, of(a));
  const other = await makeLicense(server.admin, of(b));
  const revoked = await makeLicense(server.admin, of(b));
  await revoke(server.admin, revoked);
  const expired = await makeLicense(server.admin, { ...of(b), validUntil: inDays(-1) });
  await signInAs(page, 'super_admin', `/licenses?search=${word}`, server);

  await expect(page.getByRole('heading', { level: 1, name: 'License Management' })).toBeVisible();
  await expect(page.getByRole('tab')).toHaveText(['Active3', 'Revoked1', 'Expired1']);
  await expect(page.getByRole('columnheader')).toHaveText([
    '',
    'License Key',
    'Type',
    'Status',
    'Activations',
    'Modules',
    'Valid Until',
    'Actions',
  ]);
  const group = (name: string) => list(page).getByRole('button', { name });
  await expect(group(`${word} Alpha`)).toContainText('2 licenses');
  await expect(group(`${word} Beta`)).toContainText('1 license');
  await expect(keys(page)).toHaveCount(3);
  await expect(row(page, first).getByRole('button', { name: '1 more: Diabetes' })).toBeVisible();
  await expect(row(page, first)).toContainText('Lung Nodule');
  await expectAccessible(page);

  await group(`${word} Alpha`).click();
  await expect(group(`${word} Alpha`)).toHaveAttribute('aria-expanded', 'false');
  await expect(keys(page)).toHaveText([other.licenseKey]);
  await group(`${word} Alpha`).press('Enter');
  await expect(keys(page)).toHaveCount(3);

  await tab(page, 'Revoked').click();
  await expect(keys(page)).toHaveText([revoked.licenseKey]);
  await expectColor(row(page, revoked).getByText('Revoked', { exact: true }), 'red');
  await expect(page).toHaveURL(`/licenses?search=${word}&tab=revoked`);
  await tab(page, 'Expired').click();
  await expect(keys(page)).toHaveText([expired.licenseKey]);
  await expectColor(row(page, expired).getByText('Expired', { exact: true }), 'yellow');
  await page.goBack();
  await expect(keys(page)).toHaveText([revoked.licenseKey]);
  await page.reload();
  await expect(keys(page)).toHaveText([revoked.licenseKey]);
  await expect(tab(page, 'Revoked')).toHaveAttribute('aria-selected', 'true');

  const none = await makeCustomer(server.admin);
  await page.goto(only(none));
  await expect(page.getByRole('heading', { name: 'No active licenses found' })).toBeVisible();
  await expectAccessible(page);
  await page.goto(`${only(b)}&search=${expired.licenseKey}`);
  await page.getByRole('button', { name: 'Show 1 expired' }).click();
  await expect(keys(page)).toHaveText([expired.licenseKey]);
});

test('search finds every field that the list shows', async ({ page, server }) => {
  const customer = await makeCustomer(server.admin, { name: unique('Søkbart Sykehus') });
  const wanted = await makeLicense(server.admin, {
    ...of(customer),
    type: 'trial',
    validUntil: '2031-03-07T00:00:00Z',
    moduleIds: ['mod_heart_failure'],
  });
  await makeLicense(server.admin, of(customer));
  await signInAs(page, 'viewer', only(customer), server);
  await expect(keys(page)).toHaveCount(2);
  for (const text of [
    wanted.licenseKey.slice(3, 17).toLowerCase(),
    'TRIAL',
    'March 7, 2031',
    'mod_heart_failure',
    'Heart failure',
  ]) {
    await searchBox(page).fill(text);
    await expect(keys(page), text).toHaveText([wanted.licenseKey]);
    await searchBox(page).fill('');
    await expect(keys(page)).toHaveCount(2);
  }
  for (const text of ['active', customer.name.toUpperCase()]) {
    await page.goto(`/licenses?search=${encodeURIComponent(text)}&customer=${customer.customerId}`);
    await expect(keys(page), text).toHaveCount(2);
  }
});

test('badges and colors change exactly at their thresholds', async ({ page, server }) => {
  const customer = await makeCustomer(server.admin);
  const make = async (seats: number) => {
    const license = await makeLicense(server.admin, { ...of(customer), maxActivations: 100 });
    await write(server, license, seats);
    return license;
  };
  const [normal, high, almost, full, over] = await Promise.all([75, 76, 99, 100, 101].map(make));
  const validUntil = '2033-05-01T00:00:00.000Z';
  const ending = await makeLicense(server.admin, { ...of(customer), validUntil });
  await signInAs(page, 'viewer', only(customer), server);

  const seats = (license: License, text: string) => row(page, license).getByText(text, { exact: true });
  await expectColor(seats(normal!, '75/100'), 'gray');
  await expectColor(seats(high!, '76/100'), 'yellow');
  await expectColor(seats(almost!, '99/100'), 'yellow');
  for (const license of [normal, high, almost]) await expect(row(page, license!)).not.toContainText('Full');
  for (const [license, text] of [
    [full, '100/100'],
    [over, '101/100'],
  ] as const) {
    await expectColor(seats(license!, text), 'red');
    await expectColor(seats(license!, 'Full'), 'red');
  }
  await expectAccessible(page);

  const now = async (msBeforeEnd: number) => {
    await page.clock.setFixedTime(Date.parse(validUntil) - msBeforeEnd);
    await page.reload();
    await expect(row(page, ending)).toBeVisible();
  };
  const badge = row(page, ending).getByText(/^Expires in/);
  await now(31 * day);
  await expect(badge).toHaveCount(0);
  await now(30 * day + 1);
  await expect(badge).toHaveCount(0);
  await now(30 * day);
  await expect(badge).toHaveText('Expires in 30 days');
  await expectColor(badge, 'yellow', 'red');
  await now(day);
  await expect(badge).toHaveText('Expires in 1 day');
  await now(4 * 60_000);
  await expect(badge).toHaveText('Expires in 4 minutes');
  await expectNoAxeViolations(page);
  await page.clock.setFixedTime(Date.parse(ending.validFrom) - 10 * day);
  await page.reload();
  await expect(row(page, ending)).toContainText('Starts in 10 days');
  await expect(row(page, ending)).not.toContainText('Active');
});

test('a revoked license never shows that it expires soon', async ({ page, server }) => {
  const customer = await makeCustomer(server.admin);
  const license = await makeLicense(server.admin, { ...of(customer), validUntil: inDays(5) });
  await revoke(server.admin, license);
  await signInAs(page, 'viewer', `${only(customer)}&tab=revoked`, server);
  await expect(row(page, license)).toBeVisible();
  await expect(row(page, license)).not.toContainText('Expires in');
});

test('revoke and reactivate ask, naming the key; many at once too', async ({ page, server }) => {
  const customer = await makeCustomer(server.admin);
  const made = [];
  for (let n = 0; n < 3; n++) made.push(await makeLicense(server.admin, of(customer)));
  const [license, second] = made;
  const { headers } = await makeApiKey(server.admin);
  await validateOn(server.api(headers), license!, 'revoked-with-its-license');
  await signInAs(page, 'super_admin', only(customer), server);

  await row(page, license!).getByRole('button', { name: 'Revoke' }).click();
  const revoking = dialog(page, 'Revoke License');
  await expect(revoking).toContainText(`Are you sure you want to revoke license ${license!.licenseKey}?`);
  await expect(revoking).toContainText('1 machine is refused from its next check.');
  await expectAccessible(page);
  await revoking.getByRole('button', { name: 'Cancel' }).click();
  await expect(row(page, license!)).toBeVisible();
  await row(page, license!).getByRole('button', { name: 'Revoke' }).click();
  await revoking.getByRole('button', { name: 'Revoke' }).click();
  await expect(page.getByText(new RegExp(`^License ${license!.licenseKey} for .+ revoked$`))).toBeVisible();
  await expect(page.getByRole('tab')).toHaveText(['Active2', 'Revoked1', 'Expired0']);

  await tab(page, 'Revoked').click();
  await expect(row(page, license!).getByRole('button', { name: /Edit|Revoke/ })).toHaveCount(0);
  await row(page, license!).getByRole('button', { name: 'Reactivate' }).click();
  const reactivating = dialog(page, 'Reactivate License');
  await expect(reactivating).toContainText(
    `Are you sure you want to reactivate license ${license!.licenseKey}?`,
  );
  await expectAccessible(page);
  await reactivating.getByRole('button', { name: 'Reactivate' }).click();
  await expect(
    page.getByText(new RegExp(`^License ${license!.licenseKey} for .+ reactivated$`)),
  ).toBeVisible();
  await expect(page.getByRole('tab')).toHaveText(['Active3', 'Revoked0', 'Expired0']);

  await tab(page, 'Active').click();
  await page.getByRole('checkbox', { name: 'Select all rows' }).check();
  await expect(page.getByText('3 selected')).toBeVisible();
  await button(page, 'Revoke…').click();
  const bulk = dialog(page, 'Revoke 3 licenses');
  for (const { licenseKey } of made) await expect(bulk).toContainText(licenseKey);
  await expectAccessible(page);
  // Another user saves one of them first.
  await revoke(server.admin, second!);
  expectStatus(page, 409);
  await bulk.getByRole('button', { name: 'Revoke' }).click();
  await expect(bulk.getByRole('alert')).toContainText('2 licenses revoked. 1 license could not be revoked:');
  await expect(bulk.getByRole('listitem')).toContainText(`${second!.licenseKey}License is already revoked`);
  await expectNoAxeViolations(page);
  await bulk.getByRole('button', { name: 'Close' }).last().click();
  const undo = page
    .getByRole('status')
    .filter({ hasText: '2 licenses revoked' })
    .getByRole('button', { name: 'Undo' });
  await expect(undo).toBeVisible();
  await expect(page.getByRole('tab')).toHaveText(['Active0', 'Revoked3', 'Expired0']);
});

test('a license of a soft-deleted customer keeps only Activations', async ({ page, server }) => {
  const customer = await makeCustomer(server.admin, { name: unique('Owner gone') });
  const active = await makeLicense(server.admin, of(customer));
  const revoked = await makeLicense(server.admin, of(customer));
  await revoke(server.admin, revoked);
  await softDelete(server.admin, customer);
  await signInAs(page, 'super_admin', only(customer), server);

  for (const license of [active, revoked]) {
    await tab(page, license === active ? 'Active' : 'Revoked').click();
    await expect(row(page, license)).toContainText('Customer is soft-deleted');
    await expect(
      row(page, license).getByRole('button', { name: /^(Edit|View|Revoke|Reactivate)/ }),
    ).toHaveCount(0);
    await expect(row(page, license).getByRole('button', { name: 'Activations' })).toBeEnabled();
  }
  await expect(list(page).getByRole('button', { name: `${customer.name} (Deleted)` })).toBeVisible();
  await expectAccessible(page);
  await row(page, revoked).getByRole('button', { name: 'Activations' }).click();
  await expect(dialog(page, 'License Activations')).toBeVisible();
  await page.keyboard.press('Escape');

  // Also by a link to its dialog.
  await page.goto(`/licenses?edit=${active.licenseId}`);
  await expect(dialog(page, 'View License').getByRole('note')).toHaveText('Customer is soft-deleted');
  await expect(dialog(page, 'View License')).toContainText(`${customer.name} (Deleted)`);

  await page.goto(`${only(customer)}&tab=expired`);
  await expect(page.getByRole('combobox', { name: 'Customer' })).toHaveValue(new RegExp(customer.name));

  await page.goto(only(customer));
  const json = { success: true, data: { canDelete: false, message: '' } };
  await page.route('**/check-deletable', (route) => route.fulfill({ json }), { times: 1 });
  await list(page).getByRole('button', { name: 'Permanently Delete' }).click();
  await expect(dialog(page, 'Cannot Delete Customer')).toContainText(
    'This customer cannot be deleted at this time.',
  );
  await page.keyboard.press('Escape');
  await list(page).getByRole('button', { name: 'Permanently Delete' }).click();
  const question = dialog(page, 'Permanently Delete Customer');
  // The URL still names a customer that has been deleted since.
  expectStatus(page, 404);
  await question.getByRole('button', { name: 'Yes, Delete Permanently' }).click();
  await expect(page.getByText(`Customer "${customer.name}" permanently deleted`)).toBeVisible();
  await expect(page.getByRole('tab')).toHaveText(['Active0', 'Revoked0', 'Expired0']);
});

test('licenses whose customer is unknown stand together', async ({ page, server }) => {
  const customer = await makeCustomer(server.admin);
  const license = await makeLicense(server.admin, of(customer));
  await signInAs(page, 'super_admin', '/customers', server);
  // The database prevents such rows, but the screen handles them.
  await page.route(`**${licenses.list.path}?*`, async (route) => {
    const answer = await route.fetch();
    const body = (await answer.json()) as { data: License[] };
    await route.fulfill({ json: { ...body, data: body.data.map((one) => ({ ...one, customer: null })) } });
  });
  await page.goto(only(customer));
  await expect(list(page).getByRole('button', { name: 'Unknown Customers (Deleted)' })).toBeVisible();
  await expect(row(page, license)).toContainText('Customer is soft-deleted');
});

test('the license modal: fields, module categories, dates, required texts', async ({ page, server }) => {
  const customer = await makeCustomer(server.admin, { name: unique('Modal owner') });
  await page.clock.setFixedTime('2027-02-10T09:30:00Z');
  await signInAs(page, 'super_admin', only(customer), server);
  await button(page, 'Create License').first().click();
  const modal = dialog(page, 'Create License');
  const field = (name: string) => modal.getByRole('textbox', { name });
  await expect(modal.getByRole('combobox', { name: 'Customer' })).toBeVisible();
  await expect(modal.getByRole('combobox', { name: 'License Type' })).toHaveValue('Trial');
  await expect(field('Max Activations')).toHaveValue('1');
  await expect(field('Valid From')).toHaveValue('10 Feb 2027');
  await expect(field('Valid Until')).toHaveValue('12 Mar 2027');
  const categories = modal.getByRole('group', { name: 'Modules' }).getByRole('group');
  await expect(categories).toHaveCount(5);
  expect(await categories.evaluateAll((all) => all.map((one) => one.getAttribute('aria-label')))).toEqual([
    'Oncology',
    'Chronic Diseases',
    'Other',
    'Pathology',
    'Radiology',
  ]);
  await expectAccessible(page);

  await test.step('type and first day set the last day', async () => {
    await modal.getByRole('combobox', { name: 'License Type' }).click();
    await modal.getByRole('option', { name: 'Enterprise' }).click();
    await expect(field('Valid Until')).toHaveValue('10 Feb 2028');
    await field('Valid From').fill('29 Feb 2028');
    await field('Valid From').press('Tab');
    await expect(field('Valid Until')).toHaveValue('28 Feb 2029');
    await field('Valid Until').fill('1 Jan 2030');
    await field('Valid Until').press('Tab');
    await field('Max Activations').fill('2');
    await expect(field('Valid Until')).toHaveValue('1 Jan 2030');
    await modal.getByRole('combobox', { name: 'License Type' }).click();
    await modal.getByRole('option', { name: 'Trial' }).click();
    await expect(field('Valid Until')).toHaveValue('30 Mar 2028');
  });

  await test.step('the calendar goes by keyboard, and Escape closes it alone', async () => {
    await field('Valid From').press('ArrowDown');
    const calendar = modal.getByRole('dialog', { name: 'Calendar of Valid From' });
    await expect(calendar).toBeVisible();
    await expect.poll(() => calendar.evaluate((box) => box.contains(document.activeElement))).toBe(true);
    await page.keyboard.press('Escape');
    await expect(calendar).toBeHidden();
    await expect(modal).toBeVisible();
    await modal.getByRole('button', { name: 'Choose Valid From in a calendar' }).click();
    await calendar.getByRole('button', { name: '28 February 2028' }).click();
    await expect(field('Valid From')).toHaveValue('28 Feb 2028');
    await expect(field('Valid Until')).toHaveValue('29 Mar 2028');
  });

  await test.step('what is required', async () => {
    const posts: string[] = [];
    page.on('request', (request) => void (request.method() === 'POST' && posts.push(request.url())));
    const send = () => modal.getByRole('button', { name: 'Create License' }).click();
    await field('Max Activations').fill('');
    await send();
    await expect(modal.getByText('Customer is required')).toBeVisible();
    await expect(modal.getByText('Max activations is required')).toBeVisible();
    await field('Max Activations').pressSequentially('1.5');
    await send();
    await expect(modal.getByText('Must be a whole number')).toBeVisible();
    await expect(field('Max Activations')).toHaveValue('1.5');
    await field('Max Activations').fill('0');
    await send();
    await expect(modal.getByText('Must be at least 1')).toBeVisible();
    await field('Valid Until').fill('');
    await field('Valid Until').pressSequentially('31 Feb 2027');
    await page.keyboard.press('Enter');
    await expect(modal.getByText('There is no such day')).toBeVisible();
    await expect(field('Valid Until')).toHaveValue('31 Feb 2027');
    await field('Valid Until').fill('31.12.2026');
    await field('Valid Until').press('Tab');
    await expect(field('Valid Until')).toHaveValue('31 Dec 2026');
    await field('Valid Until').fill('1 Jan 2020');
    await field('Valid Until').press('Tab');
    await send();
    await expect(modal.getByText('Must be after Valid From')).toBeVisible();
    await expectAccessible(page);
    expect(posts).toEqual([]);
  });

  await test.step('what is sent', async () => {
    await modal.getByRole('combobox', { name: 'Customer' }).fill(customer.name);
    await modal.getByRole('option', { name: customer.name, exact: true }).click();
    await field('Valid Until').fill('1 Apr 2028');
    await field('Valid Until').press('Tab');
    await field('Max Activations').fill('');
    // formatted on blur only: a separator inserted while typing would turn the next digit into `12,000`
    await field('Max Activations').pressSequentially('12000');
    await expect(field('Max Activations')).toHaveValue('12000');
    await page.keyboard.press('Tab');
    await expect(field('Max Activations')).toHaveValue('12,000');
    await modal.getByRole('searchbox', { name: 'Search modules' }).fill('colo');
    await expect(categories).toHaveCount(1);
    await modal.getByRole('checkbox', { name: 'Colorectal Cancer' }).check();
    await modal.getByRole('searchbox', { name: 'Search modules' }).fill('');
    await modal.getByRole('checkbox', { name: 'Select all Pathology' }).check();
    await expect(modal.getByText('4 selected')).toBeVisible();
    const request = page.waitForRequest((one) => one.method() === 'POST');
    await modal.getByRole('button', { name: 'Create License' }).click();
    expect((await request).postDataJSON()).toEqual({
      customerId: customer.customerId,
      type: 'trial',
      validFrom: '2028-02-28T00:00:00.000Z',
      validUntil: '2028-04-01T00:00:00.000Z',
      maxActivations: 12_000,
      moduleIds: ['mod_colorectal_cancer', 'mod_cytology', 'mod_histology', 'mod_immunohistochemistry'],
    });
    await expect(modal).toContainText(`License created for ${customer.name}: Trial, valid until 1 Apr 2028.`);
    await expectAccessible(page);
    await modal.getByRole('button', { name: 'Done' }).click();
  });
});

test('the license modal edits, shows, and says when someone else was quicker', async ({ page, server }) => {
  const customer = await makeCustomer(server.admin);
  const license = await makeLicense(server.admin, of(customer));
  const revoked = await makeLicense(server.admin, of(customer));
  await revoke(server.admin, revoked);
  await signInAs(page, 'super_admin', only(customer), server);
  await row(page, license).getByRole('button', { name: 'Edit' }).click();
  const edit = dialog(page, 'Edit License');
  await expect(page).toHaveURL(`${only(customer)}&edit=${license.licenseId}`);
  await expect(edit).toContainText(license.licenseKey);
  await expect(edit.getByRole('combobox', { name: 'Customer' })).toHaveValue(customer.name);
  await expect(edit.getByRole('combobox', { name: 'License Type' })).toHaveValue('Enterprise');
  await expect(edit.getByRole('checkbox', { name: 'Lung Nodule' })).toBeChecked();
  await expect(edit.getByRole('textbox', { name: 'Valid Until' })).toHaveValue('1 Jan 2036');
  await expectAccessible(page);

  await server.admin.ok(licenses.update, {
    params: { id: license.licenseId },
    body: { maxActivations: 9, moduleIds: ['mod_copd'] },
  });
  expectStatus(page, 409);
  await edit.getByRole('textbox', { name: 'Max Activations' }).fill('5');
  await edit.getByRole('button', { name: 'Update License' }).click();
  const conflict = dialog(page, 'Someone else changed this meanwhile');
  await expect(conflict.getByRole('row')).toHaveText(['FieldTheirsYours', 'Max Activations95']);
  await expectAccessible(page);
  await conflict.getByRole('button', { name: 'Keep theirs' }).click();
  await expect(conflict).toBeHidden();
  await expect(row(page, license)).toContainText('0/9');

  await tab(page, 'Revoked').click();
  await row(page, revoked).getByRole('button', { name: 'View' }).click();
  const view = dialog(page, 'View License');
  await expect(view.getByRole('note')).toHaveText('Revoked licenses cannot be edited');
  await expect(view).toContainText('Oncology: Lung Nodule');
  await expect(view.getByRole('textbox')).toHaveCount(0);
  await expectAccessible(page);
});

test('modules that cannot be loaded: said, and tried again', async ({ page, server }) => {
  await makeCustomer(server.admin);
  expectStatus(page, 400);
  await signInAs(page, 'super_admin', '/customers', server);
  await page.route(`**${modules.list.path}`, (route) => route.fulfill({ status: 400, body: '{}' }));
  await page.goto('/licenses?dialog=create');
  const modal = dialog(page, 'Create License');
  await expect(modal.getByText('Failed to load modules', { exact: true })).toBeVisible();
  await expectAccessible(page);
  await page.unroute(`**${modules.list.path}`);
  await modal.getByRole('button', { name: 'Retry' }).click();
  await expect(modal.getByRole('group', { name: 'Oncology' })).toBeVisible();
});

test('the page /licenses/new has defaults of its own', async ({ page, server }) => {
  const customer = await makeCustomer(server.admin, { name: unique('Page owner') });
  await page.clock.setFixedTime('2027-01-31T12:00:00Z');
  expectStatus(page, 400);
  await signInAs(page, 'super_admin', '/customers', server);
  await page.route(`**${customers.list.path}?*`, (route) => route.fulfill({ status: 400, body: '{}' }));
  await page.goto('/licenses/new');
  await expect(page.getByRole('heading', { name: 'Failed to load customers' })).toBeVisible();
  await expectAccessible(page);
  await page.unroute(`**${customers.list.path}?*`);
  await page.getByRole('button', { name: 'Retry' }).click();

  const field = (name: string) => page.getByRole('textbox', { name });
  await expect(field('Valid From')).toHaveValue('31 Jan 2027');
  await expect(field('Valid Until')).toHaveValue('2 Mar 2027');
  await expect(field('Max Activations')).toHaveValue('1');
  await expect(page.getByRole('combobox', { name: 'License Type' })).toHaveValue('Trial');
  await page.getByRole('combobox', { name: 'License Type' }).click();
  await page.getByRole('option', { name: 'Enterprise' }).click();
  await expect(field('Valid Until')).toHaveValue('28 Feb 2027');
  await expectAccessible(page);
  await page.getByRole('combobox', { name: 'Customer' }).fill(customer.name);
  await page.getByRole('option', { name: customer.name }).click();
  const question = dialog(page, 'Discard changes?');
  const waysOut = [
    () => page.getByRole('link', { name: 'Analytics' }).click(),
    () => button(page, 'Cancel').click(),
    () => page.getByRole('link', { name: 'Back to Licenses' }).click(),
  ];
  for (const leave of waysOut) {
    await leave();
    await question.getByRole('button', { name: 'Keep editing' }).click();
    await expect(question).toBeHidden();
    await expect(page.getByRole('combobox', { name: 'Customer' })).toHaveValue(customer.name);
  }
  await button(page, 'Create License').click();
  await expect(
    page.getByText(`License created for ${customer.name}: Enterprise, valid until 28 Feb 2027.`),
  ).toBeVisible();

  await page.route(`**${customers.list.path}?*`, (route) =>
    route.fulfill({
      json: { success: true, data: [], meta: { total: 0, limit: 50, offset: 0, deleted: 0 } },
    }),
  );
  await page.goto('/licenses/new');
  await expect(page.getByRole('heading', { name: 'No Customers Found' })).toBeVisible();
  await expect(
    page.getByText('Please create a customer before creating a license.', { exact: true }),
  ).toBeVisible();
  await expectAccessible(page);
});

test('the activations modal: texts, actions, what goes wrong', async ({ page, server }) => {
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
  await expect(machine('workstation-7')).toContainText('ws7 · win32');
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
    await expect(page.getByText('Machine workstation-8 reactivated')).toBeVisible();
    await expect(modal.getByText('Full', { exact: true })).toBeVisible();
    await machine('workstation-7').getByRole('button', { name: 'Deactivate' }).click();
    await expect(dialog(page, 'Deactivate Machine')).toContainText('workstation-7');
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await expect(dialog(page, 'Deactivate Machine')).toBeHidden();
    await expect(modal).toBeVisible();
    await machine('workstation-7').getByRole('button', { name: 'Deactivate' }).click();
    await dialog(page, 'Deactivate Machine').getByRole('button', { name: 'Deactivate' }).click();
    await expect(machine('workstation-7')).toContainText('Deactivated');
  });

  await test.step('no free seat', async () => {
    await validateOn(server.admin, license, 'workstation-9');
    await machine('workstation-7').getByRole('button', { name: 'Reactivate' }).click();
    await expect(modal.getByRole('alert')).toContainText('TOO_MANY_ACTIVATIONS');
    await expect(machine('workstation-9')).toBeVisible();
    await expectAccessible(page);
  });

  await test.step('by a link, without machines', async () => {
    const unused = await makeLicense(server.admin);
    await page.goto(`/licenses?activations=${unused.licenseKey}`);
    await expect(modal.getByText('No activations found for this license.', { exact: true })).toBeVisible();
    await expectAccessible(page);
  });

  await test.step('not loaded', async () => {
    expectStatus(page, 400);
    const calls = `**${activations.list.path.replace('{licenseKey}', '*')}`;
    await page.route(calls, (route) => route.fulfill({ status: 400, json: { error: 'It is on fire' } }));
    await page.goto(`/licenses?activations=${license.licenseKey}`);
    await expect(modal.getByText('Error loading activations: It is on fire')).toBeVisible();
    await expectAccessible(page);
    await page.unroute(calls);
    await modal.getByRole('button', { name: 'Retry' }).click();
    await expect(machine('workstation-9')).toBeVisible();
  });
});

test('who may only look sees no buttons that change, and in the activations the reason', async ({
  page,
  server,
}) => {
  const license = await makeLicense(server.admin);
  await validateOn(server.admin, license, 'machine-a');
  const revoked = await makeLicense(server.admin);
  await revoke(server.admin, revoked);
  await signInAs(page, 'viewer', `/licenses?search=${revoked.licenseKey}&tab=revoked`, server);
  await expect(row(page, revoked).getByRole('button', { name: /^(View|Activations)$/ })).toHaveCount(2);
  await expect(page.getByRole('button', { name: 'Reactivate' })).toHaveCount(0);

  await page.goto(`/licenses?search=${license.licenseKey}`);
  await expect(row(page, license).getByRole('button', { name: /^(View|Activations)$/ })).toHaveCount(2);
  await expect(page.getByRole('button', { name: /^(Create License|Edit|Revoke)$/ })).toHaveCount(0);
  await expect(page.getByRole('checkbox', { name: /^Select/ })).toHaveCount(0);

  await row(page, license).getByRole('button', { name: 'Activations' }).click();
  const modal = dialog(page, 'License Activations');
  const disabled = modal.getByRole('button', { name: 'Deactivate' });
  await expect(disabled).toHaveAttribute('aria-disabled', 'true');
  await disabled.hover();
  await expect(page.getByRole('tooltip', { name: 'You may not update licenses' })).toBeVisible();
  await disabled.press('Enter');
  for (const name of ['Offline Activation', 'Return Receipt']) {
    await expect(button(page, name)).toHaveAttribute('aria-disabled', 'true');
    await button(page, name).press('Enter');
  }
  await expect(page.getByRole('dialog')).toHaveCount(1);
  await expectAccessible(page);
  await page.keyboard.press('Escape');

  await row(page, license).getByRole('button', { name: 'View' }).click();
  await expect(dialog(page, 'View License').getByRole('textbox')).toHaveCount(0);
  await page.goto('/licenses/new');
  await expect(page.getByRole('heading', { name: 'You may not see this screen' })).toBeVisible();
  await expectAccessible(page);
  await page.goto('/licenses?dialog=create');
  await expect(page.getByRole('tab', { name: 'Active' })).toBeVisible();
  await expect(page.getByRole('dialog')).toHaveCount(0);
});

test('a link shows exactly what it was made from', async ({ page, server }) => {
  const customer = await makeCustomer(server.admin, { name: unique('Linked') });
  const soon = await makeLicense(server.admin, { ...of(customer), type: 'trial', validUntil: inDays(9) });
  await makeLicense(server.admin, { ...of(customer), type: 'trial' });
  await makeLicense(server.admin, { ...of(customer), validUntil: inDays(9) });
  await signInAs(page, 'super_admin', only(customer), server);
  await page.getByRole('combobox', { name: 'Type' }).click();
  await page.getByRole('option', { name: 'Trial' }).click();
  await page.getByRole('checkbox', { name: 'Expires within 30 days' }).check();
  await page.getByRole('columnheader', { name: 'Valid Until' }).getByRole('button').click();
  await expect(keys(page)).toHaveText([soon.licenseKey]);
  await expect(page.getByRole('columnheader', { name: 'Customer' })).toBeVisible();
  await row(page, soon).getByRole('button', { name: 'Activations' }).click();
  await expect(dialog(page, 'License Activations')).toContainText(customer.name);
  const address = page.url();
  expect(Object.fromEntries(new URL(address).searchParams)).toEqual({
    customer: customer.customerId,
    type: 'trial',
    expiring: '30',
    sort: 'validUntil',
    activations: soon.licenseKey,
  });

  await page.goto('/customers');
  await page.goto(address);
  await expect(dialog(page, 'License Activations')).toContainText(soon.licenseKey);
  await expect(keys(page).first()).toHaveText(soon.licenseKey);
  await page.goBack();
  await expect(page).toHaveURL('/customers');
  await page.goForward();
  await expect(dialog(page, 'License Activations')).toContainText(soon.licenseKey);
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await expect(page.getByRole('checkbox', { name: 'Expires within 30 days' })).toBeChecked();
  await expect(page.getByRole('combobox', { name: 'Type' })).toHaveValue('Trial');
  await expect(page.getByRole('combobox', { name: 'Customer' })).toHaveValue(customer.name);
  const download = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Export CSV' }).click();
  expect((await download).suggestedFilename()).toMatch(/^licenses-\d{4}-\d\d-\d\d\.csv$/);

  // Invalid values in a URL are dropped.
  await page.goto('/licenses?tab=nonsense&edit=1&sort=drop&page=-3');
  await expect(page.getByRole('tab', { name: 'Active' })).toHaveAttribute('aria-selected', 'true');
  await expect(page.getByRole('dialog')).toHaveCount(0);
});

test('Back closes a dialog, and opens none again that was closed', async ({ page, server }) => {
  const customer = await makeCustomer(server.admin);
  const license = await makeLicense(server.admin, of(customer));
  await signInAs(page, 'super_admin', '/customers', server);
  await expect(page.getByRole('heading', { level: 1, name: 'Customers' })).toBeVisible();
  await page.goto(only(customer));
  for (const [name, title] of [
    ['Activations', 'License Activations'],
    ['Edit', 'Edit License'],
  ] as const) {
    await row(page, license).getByRole('button', { name, exact: true }).click();
    await expect(dialog(page, title)).toBeVisible();
    await page.goBack();
    await expect(dialog(page, title)).toHaveCount(0);
    await expect(page).toHaveURL(only(customer));
    await row(page, license).getByRole('button', { name, exact: true }).click();
    await dialog(page, title).getByRole('button', { name: 'Close' }).click();
    await expect(dialog(page, title)).toHaveCount(0);
    await page.goBack();
    await expect(page).toHaveURL(only(customer));
    await expect(dialog(page, title)).toHaveCount(0);
  }
  await page.goBack();
  await expect(page).toHaveURL('/customers');
});

test('a dialog stays where it is when its content arrives', async ({ page, server }) => {
  const license = await makeLicense(server.admin);
  let arrive = () => {};
  const arrives = new Promise<void>((resolve) => (arrive = resolve));
  await page.route(
    `**${activations.list.path.replace('{licenseKey}', license.licenseKey)}*`,
    async (route) => {
      await arrives;
      await route.continue();
    },
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
  await signInAs(page, 'super_admin', `/licenses?activations=${licenseKey}`, server);
  const modal = dialog(page, 'License Activations');
  const copy = modal.getByRole('button', { name: `Copy license key ${licenseKey}` });
  await copy.click();
  await expect(modal.getByRole('status').filter({ hasText: 'Copied!' })).toHaveCount(1);
  await page.keyboard.press('Escape');
  await searchBox(page).focus();
  await page.keyboard.press('Control+V');
  await expect(searchBox(page)).toHaveValue(licenseKey);
  await expect(page).toHaveURL(`/licenses?search=${licenseKey}`);

  await row(page, { licenseKey }).getByRole('button', { name: 'Activations' }).click();
  await page.evaluate(() => (document.execCommand = () => false));
  await copy.click();
  await expect(page.getByRole('alert')).toContainText(
    'Select the text and copy it by hand: the browser refuses.',
  );
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
  await expect(page.getByRole('alert')).toContainText('Machine workstation-1 was not reactivated: ');
  await expect(page.getByRole('alert')).toContainText('TOO_MANY_ACTIVATIONS');
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
