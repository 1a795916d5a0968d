import { licenses, type License } from '../../contract/licenses.ts';
import { makeCustomer, makeLicense, revoke, softDelete, unique } from '../factories.ts';
import {
  chooseInMenu,
  dialog,
  expect,
  expectAccessible,
  expectColor,
  expectInSight,
  goTo,
  inDays,
  signInAs,
  test,
  type ConsoleServer,
  type Page,
} from './support.ts';
import { list, of, only, row, searchBox, tab } from './licenses-screen.ts';

const keys = (page: Page) => list(page).locator('tbody td .mono');

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
  const c = await makeCustomer(server.admin, { name: `${word} Gamma` });
  const first = await makeLicense(server.admin, of(a));
  await makeLicense(server.admin, of(a));
  const other = await makeLicense(server.admin, of(b));
  const last = await makeLicense(server.admin, of(c));
  const revoked = await makeLicense(server.admin, of(b));
  await revoke(server.admin, revoked);
  const expired = await makeLicense(server.admin, { ...of(b), validUntil: inDays(-1) });
  await signInAs(page, 'super_admin', `/licenses?search=${word}`, server);

  await expect(page.getByRole('heading', { level: 1, name: 'License Management' })).toBeVisible();
  await expect(page.getByRole('tab')).toHaveText(['Active4', 'Revoked1', 'Expired1']);
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
  await expect(keys(page)).toHaveCount(4);
  await expect(row(page, first).getByRole('button', { name: '1 more: Diabetes' })).toBeVisible();
  await expect(row(page, first)).toContainText('Lung Nodule');
  await expectAccessible(page);

  await group(`${word} Alpha`).click();
  await expect(group(`${word} Alpha`)).toHaveAttribute('aria-expanded', 'false');
  await expect(keys(page)).toHaveText([other.licenseKey, last.licenseKey]);
  await group(`${word} Alpha`).press('Enter');
  await expect(keys(page)).toHaveCount(4);

  await test.step('Shift and a click select the rows that are seen between', async () => {
    const box = (license: License) => row(page, license).getByRole('checkbox');
    await list(page).getByRole('checkbox').nth(1).check();
    await group(`${word} Beta`).click();
    await expect(keys(page)).toHaveCount(3);
    await box(last).click({ modifiers: ['Shift'] });
    await expect(page.getByText('3 selected')).toBeVisible();
    await group(`${word} Beta`).click();
    await expect(box(other)).not.toBeChecked();
    await page.getByRole('button', { name: 'Clear', exact: true }).click();
  });

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
  await goTo(page, only(none));
  await expect(page.getByRole('heading', { name: 'No active licenses found' })).toBeVisible();
  await expectAccessible(page);
  await goTo(page, `${only(b)}&search=${expired.licenseKey}`);
  await page.getByRole('button', { name: 'Show 1 expired' }).click();
  await expect(keys(page)).toHaveText([expired.licenseKey]);
});

test('what a viewer sees of licenses', async ({ page, server }) => {
  await signInAs(page, 'viewer', '/today', server);

  await test.step('search finds what the list shows, and all again once it is empty', async () => {
    const customer = await makeCustomer(server.admin);
    const wanted = await makeLicense(server.admin, { ...of(customer), moduleIds: ['mod_heart_failure'] });
    await makeLicense(server.admin, of(customer));
    await goTo(page, only(customer));
    await expect(keys(page)).toHaveCount(2);
    for (const text of [wanted.licenseKey.slice(3, 17).toLowerCase(), 'Heart failure']) {
      await searchBox(page).fill(text);
      await expect(keys(page), text).toHaveText([wanted.licenseKey]);
      await searchBox(page).fill('');
      await expect(keys(page)).toHaveCount(2);
    }
  });

  await test.step('badges and colors say which licenses are full, end or start soon', async () => {
    const customer = await makeCustomer(server.admin);
    const [high, over] = [
      await makeLicense(server.admin, { ...of(customer), maxActivations: 5 }),
      await makeLicense(server.admin, { ...of(customer), maxActivations: 1 }),
    ];
    await write(server, high, 4);
    await write(server, over, 2);
    const ending = await makeLicense(server.admin, { ...of(customer), validUntil: inDays(9) });
    const starting = await makeLicense(server.admin, { ...of(customer), validFrom: inDays(10) });
    const revoked = await makeLicense(server.admin, { ...of(customer), validUntil: inDays(5) });
    await revoke(server.admin, revoked);
    await goTo(page, `${only(customer)}&tab=revoked`);
    await expect(row(page, revoked)).toBeVisible();
    await expect(row(page, revoked)).not.toContainText('Expires in');
    await goTo(page, only(customer));
    const part = (license: License, text: string) => row(page, license).getByText(text, { exact: true });
    await expectColor(part(ending, '0/3'), 'gray');
    await expectColor(part(high, '4/5'), 'yellow');
    await expect(row(page, high)).not.toContainText('Full');
    await expectColor(part(over, '2/1'), 'red');
    await expectColor(part(over, 'Full'), 'red');
    await expectColor(part(ending, 'Expires in 9 days'), 'yellow', 'red');
    await expect(row(page, starting)).toContainText('Starts in 10 days');
    await expect(row(page, starting)).not.toContainText('Active');
    await expectAccessible(page);
  });
});

test('rows of licenses that are full, late, or of no customer', async ({ page, server }) => {
  await signInAs(page, 'super_admin', '/today', server);

  await test.step('on a laptop no column of a full license, or of one that starts later, is behind the buttons', async () => {
    const customer = await makeCustomer(server.admin);
    const full = await makeLicense(server.admin, { ...of(customer), maxActivations: 25 });
    await write(server, full, 25);
    const dates = { validFrom: inDays(36), validUntil: inDays(366) };
    const later = await makeLicense(server.admin, { ...of(customer), ...dates });
    await goTo(page, only(customer));
    // sorted by anything else, the customer is a column as well
    for (const [sort, columns] of [
      ['', 0],
      ['&sort=validUntil', 1],
    ] as const) {
      await goTo(page, only(customer) + sort);
      await expect(page.getByRole('columnheader', { name: 'Customer' })).toHaveCount(columns);
      for (const width of [1280, 1361]) {
        await page.setViewportSize({ width, height: 720 });
        await expectInSight(row(page, full).getByText('Full', { exact: true }));
        for (const license of [full, later]) await expectInSight(row(page, license).locator('time'));
      }
    }
    await page.setViewportSize({ width: 1280, height: 720 });
  });

  await test.step('why a license has no actions is said in a list by another column too', async () => {
    const customer = await makeCustomer(server.admin);
    const license = await makeLicense(server.admin, of(customer));
    await softDelete(server.admin, customer);
    await goTo(page, `${only(customer)}&sort=validUntil`);
    await expect(row(page, license).getByText('Customer is soft-deleted')).toBeVisible();
    expect(await list(page).evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
  });

  await test.step('licenses whose customer is unknown stand together', async () => {
    const customer = await makeCustomer(server.admin);
    const license = await makeLicense(server.admin, of(customer));
    await goTo(page, '/customers');
    // The database prevents such rows, but the screen handles them.
    await page.route(`**${licenses.list.path}?*`, async (route) => {
      const answer = await route.fetch();
      const body = (await answer.json()) as { data: License[] };
      await route.fulfill({ json: { ...body, data: body.data.map((one) => ({ ...one, customer: null })) } });
    });
    await goTo(page, only(customer));
    await expect(list(page).getByRole('button', { name: 'Unknown Customers (Deleted)' })).toBeVisible();
    await expect(row(page, license)).toContainText('Customer is soft-deleted');
  });
});

test('a link shows exactly what it was made from', async ({ page, server }) => {
  const customer = await makeCustomer(server.admin, { name: unique('Linked University Hospital') });
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
  // nothing is out of view on a laptop
  const box = page.getByRole('region', { name: 'Licenses' });
  expect(await box.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
  await chooseInMenu(row(page, soon), 'Activations');
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
  await page.goto('/licenses?tab=nonsense&edit=..&sort=drop&page=-3');
  await expect(page.getByRole('tab', { name: 'Active' })).toHaveAttribute('aria-selected', 'true');
  await expect(page.getByRole('dialog')).toHaveCount(0);
});

test('an export of ticked licenses has the order of the list', async ({ page, server }) => {
  const customer = await makeCustomer(server.admin);
  const soon = await makeLicense(server.admin, { ...of(customer), validUntil: inDays(9) });
  const late = await makeLicense(server.admin, { ...of(customer), validUntil: inDays(99) });
  await signInAs(page, 'super_admin', `${only(customer)}&sort=-validUntil`, server);
  await page.getByRole('checkbox', { name: 'Select all rows' }).check();
  const url = await page.getByRole('link', { name: 'Export CSV' }).getAttribute('href');
  const file = await (await page.request.get(url!)).text();
  expect(file.indexOf(soon.licenseKey)).toBeGreaterThan(file.indexOf(late.licenseKey));
});
