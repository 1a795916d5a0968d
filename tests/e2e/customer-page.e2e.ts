import { readFile } from 'node:fs/promises';
import { customerExport, customerPage } from '../../contract/customer-page.ts';
import { customers } from '../../contract/customers.ts';
import { extended } from '../../contract/license-term.ts';
import { licenses } from '../../contract/licenses.ts';
import { every } from '../../web/live.ts';
import { makeApiKey, makeCustomer, makeLicense, softDelete, unique, validateOn } from '../factories.ts';
import { holdBack } from './hold-back.ts';
import { importLicenses } from './import.ts';
import {
  chooseInMenu,
  dialog,
  expect,
  expectAccessible,
  expectNoMoreFailures,
  expectSaid,
  expectStatus,
  inDays,
  quiet,
  rowOf,
  shortDay,
  goTo,
  signInAs,
  signInHolding,
  test,
  type Page,
} from './support.ts';

const card = (page: Page, name: string) => page.getByRole('region', { name, exact: true }).first();
const cell = (page: Page, table: string, text: string | RegExp) =>
  page.getByRole('region', { name: table }).getByRole('cell', { name: text });

test('a stopped workstation is found on the page of its customer, and its license is extended there', async ({
  page,
  server,
}) => {
  const customer = await makeCustomer(server.admin, {
    name: unique('Hôpital de Lyon'),
    contactName: 'Ana Roux',
    email: 'it@lyon.example',
  });
  const { customerId } = customer;
  const until = inDays(12).slice(0, 11) + '00:00:00.000Z';
  const license = await makeLicense(server.admin, { customerId, maxActivations: 1, validUntil: until });
  const key = license.licenseKey;
  const desktop = server.api((await makeApiKey(server.admin)).headers);
  await validateOn(desktop, license, `${customerId}-07`, { hostname: 'ONC-WS-07', appVersion: '4.2.1' });
  await validateOn(desktop, license, `${customerId}-08`, { hostname: 'ONC-WS-08' });

  await signInAs(page, 'super_admin', `/customers?search=${encodeURIComponent(customer.name)}`, server);
  await page.getByRole('link', { name: customer.name }).click();
  await expect(page).toHaveURL(new RegExp(`/customers/${customerId}$`));
  await expect(page.getByRole('heading', { level: 1 })).toContainText(customer.name);
  await expect(page.getByRole('link', { name: 'it@lyon.example' })).toBeVisible();
  await expect(page.getByText('All seats are in use: a further machine is refused.')).toBeVisible();
  await expect(rowOf(card(page, 'Machines'), 'ONC-WS-07')).toContainText('4.2.1');
  // the tile counts machines, the list has a row for each license that one has used
  await expect(page.getByRole('term').filter({ hasText: 'Machines With a Seat' })).toBeVisible();
  await expect(card(page, 'Machines')).toContainText('One row for each license that a machine has used');
  await expect(
    rowOf(page, 'All activations of this license are in use. Deactivate a machine first.'),
  ).toContainText(`${customerId}-08`);
  await expect(cell(page, 'Timeline', `${key}: issued to ${customer.name} (enterprise)`)).toBeVisible();
  const activated = rowOf(card(page, 'Timeline'), `Machine ONC-WS-07 on ${key}: activated`);
  await expect(activated.getByRole('link', { name: 'ONC-WS-07' })).toHaveAttribute('href', /^\/machines\//);
  await expect(activated.getByRole('link', { name: key })).toHaveAttribute(
    'href',
    `/licenses/${license.licenseId}`,
  );
  await expectAccessible(page);

  await page.getByPlaceholder('Search host name...').fill('ws-99');
  await expect(page.getByText('No machine of this customer matches.')).toBeVisible();
  await page.getByPlaceholder('Search host name...').fill('ws-07');
  await expect(rowOf(card(page, 'Machines'), 'ONC-WS-07')).toBeVisible();

  const row = rowOf(card(page, 'Licenses'), key);
  await chooseInMenu(row, '+1 year');
  const end = extended(until, { months: 12 });
  const shown = shortDay(new Date(end));
  await expect(page.getByText(`License ${key} for ${customer.name} extended to ${shown}`)).toBeVisible();
  await expect(row).toContainText(shown);
  const stored = await server.admin.ok(licenses.get, { params: { id: license.licenseId } });
  expect(stored.validUntil).toBe(end);

  await page.keyboard.press('?');
  const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
  await expect(help.getByRole('region', { name: 'Machines of the customer' })).toContainText('OpenEnter');
  await page.keyboard.press('Escape');
  await rowOf(card(page, 'Machines'), 'ONC-WS-07').press('Enter');
  await expect(page).toHaveURL(/\/machines\//);
  await page.goBack();

  const saved = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Export' }).click();
  const file = customerExport.parse(JSON.parse(await readFile(await (await saved).path(), 'utf8')));
  expect(file.licenses).toHaveLength(1);
  await page.getByRole('button', { name: 'Issue License' }).click();
  await expect(dialog(page, 'Create License').getByRole('combobox', { name: 'Customer' })).toHaveValue(
    customer.name,
  );
});

test('a license is transferred to another customer after it was said what changes, and back', async ({
  page,
  server,
}) => {
  const [from, to] = [
    await makeCustomer(server.admin, { name: unique('Old Clinic') }),
    await makeCustomer(server.admin, { name: unique('New Clinic') }),
  ];
  const license = await makeLicense(server.admin, { customerId: from.customerId });
  await validateOn(server.admin, license, `${to.customerId}-01`, { hostname: 'PATH-WS-01' });
  await page.clock.install();
  await signInAs(page, 'support_agent', `/customers/${from.customerId}`, server);
  await chooseInMenu(rowOf(card(page, 'Licenses'), license.licenseKey), 'Transfer');
  const transfer = dialog(page, 'Transfer License');
  await transfer.getByRole('button', { name: 'Transfer License' }).click();
  await expect(transfer.getByText('Customer is required')).toBeVisible();
  const count = await holdBack(page, `**${licenses.transferImpact.path.replace('{id}', '*')}?*`);
  // The consequences are also shown first to whoever takes longer to choose than a confirmation waits for them.
  await page.clock.fastForward(10_000);
  const customer = transfer.getByRole('combobox', { name: 'New Customer' });
  await customer.fill(to.name);
  await page.getByRole('option', { name: to.name }).click();
  await expect(transfer.getByRole('button', { name: 'Transfer License' })).toBeDisabled();
  // who chose the wrong one need not wait
  await page.keyboard.type(' 2');
  await expect(customer).toHaveValue(`${to.name} 2`);
  await customer.fill(to.name);
  await page.getByRole('option', { name: to.name }).click();
  count();
  await expect(transfer.getByRole('group', { name: 'Consequences' })).toContainText(
    `1 machine keeps its seat, and belongs to ${to.name}.`,
  );
  await expectAccessible(page);
  await transfer.getByRole('button', { name: 'Transfer License' }).click();
  await expect(page.getByText(`License ${license.licenseKey} transferred to ${to.name}`)).toBeVisible();
  await page.getByRole('button', { name: 'Undo' }).hover();
  await expect(page.getByText('No license was issued to this customer.')).toBeVisible();
  const moved = `${license.licenseKey}: transferred from ${from.name} to ${to.name}`;
  await expect(cell(page, 'Timeline', moved)).toBeVisible();
  await page.getByRole('button', { name: 'Undo' }).click();
  await expectSaid(page, `License ${license.licenseKey} is back with ${from.name}`);
  await expect(rowOf(card(page, 'Machines'), 'PATH-WS-01')).toBeVisible();
});

test('the licenses and the timeline of a customer', async ({ page, server }) => {
  await signInAs(page, 'super_admin', '/today', server);

  await test.step('Undo of a transfer gives the license back to whom a colleague had transferred it meanwhile', async () => {
    expectStatus(page, 409);
    const [from, theirs, yours] = [
      await makeCustomer(server.admin),
      await makeCustomer(server.admin),
      await makeCustomer(server.admin),
    ];
    const license = await makeLicense(server.admin, { customerId: from.customerId });
    await goTo(page, `/customers/${from.customerId}`);
    await chooseInMenu(rowOf(card(page, 'Licenses'), license.licenseKey), 'Transfer');
    const transfer = dialog(page, 'Transfer License');
    await transfer.getByRole('combobox', { name: 'New Customer' }).fill(yours.name);
    await page.getByRole('option', { name: yours.name }).click();
    const { customerId } = theirs;
    await server.admin.ok(licenses.transfer, { params: { id: license.licenseId }, body: { customerId } });
    await transfer.getByRole('button', { name: 'Transfer License' }).click();
    const conflict = dialog(page, 'Someone else changed this meanwhile');
    await expect(conflict.getByRole('row')).toHaveText([
      'FieldTheirsYours',
      `Customer${theirs.name}${yours.name}`,
    ]);
    await conflict.getByRole('button', { name: 'Save Mine Anyway' }).click();
    await expect(page.getByText(`License ${license.licenseKey} transferred to ${yours.name}`)).toBeVisible();
    await page.getByRole('button', { name: 'Undo' }).click();
    await expectSaid(page, `License ${license.licenseKey} is back with ${theirs.name}`);
  });

  await test.step('older entries of the timeline follow below, and say why they could not be loaded', async () => {
    expectStatus(page, 409);
    const customer = await makeCustomer(server.admin, { phone: '0' });
    const params = { id: customer.customerId };
    const { name, country } = customer;
    for (let phone = 1; phone < 12; phone++)
      await server.admin.ok(customers.update, { params, body: { name, country, phone: `${phone}` } });
    await goTo(page, `/customers/${customer.customerId}`);
    const timeline = page.getByRole('region', { name: 'Timeline' }).first();
    const older = timeline.getByRole('button', { name: 'Show Older' });
    await page.route(
      /\/timeline\?.*after=/,
      (route) => route.fulfill({ status: 409, json: { error: 'The entries are moving.' } }),
      { times: 1 },
    );
    await older.press('Enter');
    await expect(timeline.getByText('The entries are moving.')).toBeVisible();
    await expect(older).toBeFocused();
    await older.press('Enter');
    await expect(cell(page, 'Timeline', `${name}: created`)).toBeVisible();
    await expect(timeline.getByText('The entries are moving.')).toBeHidden();
    await expect(older).toBeHidden();
    await expectNoMoreFailures(page);
  });

  await test.step('the last license of a page leads to the page before, and another order to the first', async () => {
    const [from, to] = [await makeCustomer(server.admin), await makeCustomer(server.admin)];
    await importLicenses(
      server.admin,
      from,
      Array.from({ length: 21 }, (_, n) => `2030-01-${n + 10}`),
    );
    await goTo(page, `/customers/${from.customerId}`);
    const list = card(page, 'Licenses');
    const next = list.getByRole('button', { name: 'Next page' });
    await next.click();
    await expect(list.getByText('Showing 21 to 21 of 21 results')).toBeVisible();
    await list.getByRole('button', { name: 'Valid Until' }).click();
    await expect(list.getByText('Showing 1 to 20 of 21 results')).toBeVisible();
    await expect(list.getByRole('row').nth(1)).toContainText('10 Jan 2030');
    await list.getByRole('button', { name: 'Valid Until' }).click();
    await next.click();
    const last = list.getByRole('row').filter({ hasText: '10 Jan 2030' });
    await expect(last).toBeVisible();
    await page.reload();
    await chooseInMenu(last, 'Transfer');
    const transfer = dialog(page, 'Transfer License');
    await transfer.getByRole('combobox', { name: 'New Customer' }).fill(to.name);
    await page.getByRole('option', { name: to.name }).click();
    await transfer.getByRole('button', { name: 'Transfer License' }).click();
    await expect(transfer).toBeHidden();
    await expect(list.getByRole('row').filter({ hasText: '30 Jan 2030' })).toBeVisible();
  });

  await test.step('a release says which machines get it, as far as the process says so', async () => {
    const { customerId } = await makeCustomer(server.admin);
    const stable = { channel: 'stable', rolloutPercentage: 100 };
    const offered = [
      { ...stable, id: '5', version: '5.0.0', minimumAppVersion: '4.0.0' },
      { ...stable, id: '4', version: '4.0.5', minimumAppVersion: null, rolloutPercentage: 5 },
      // by a process of the previous version
      { ...stable, id: '3', version: '3.9.0' },
    ];
    await page.route(`**${customerPage.overview.path.replace('{id}', customerId)}`, async (route) => {
      const { data, ...rest } = await (await route.fetch()).json();
      const releases = [{ platform: 'linux', architecture: 'x64', channel: 'stable', offered, heldBack: [] }];
      await route.fulfill({ json: { ...rest, data: { ...data, releases } } });
    });
    await goTo(page, `/customers/${customerId}`);
    await expect(card(page, 'Updates').getByRole('listitem')).toHaveText([
      '5.0.0 (from 4.0.0)',
      '4.0.5 to 5 %',
      '3.9.0',
    ]);
  });
});

test.describe('west of Greenwich', () => {
  test.use({ timezoneId: 'America/Los_Angeles' });

  test('a license ends on the same day at the top of the page as in the list', async ({ page, server }) => {
    const { customerId } = await makeCustomer(server.admin);
    const validUntil = `${inDays(20).slice(0, 10)}T00:00:00Z`;
    await makeLicense(server.admin, { customerId, validUntil });
    await signInAs(page, 'super_admin', `/customers/${customerId}`, server);
    const said = await page.getByText(/^A license ends on /).textContent();
    const day = /^A license ends on (.*)\.$/.exec(said!)![1]!;
    await expect(card(page, 'Licenses').getByRole('row').nth(1)).toContainText(day);
    await expect(page.getByText(`Next License Ends${day}`)).toBeVisible();
  });
});

test('a customer that is restored and deleted again behind the question whether to restore it is not restored', async ({
  page,
  server,
}) => {
  expectStatus(page, 409);
  const customer = await makeCustomer(server.admin);
  const params = { id: customer.customerId };
  await softDelete(server.admin, customer);
  await page.clock.install();
  // who sees no licenses sees no verdict on a customer that is not deleted
  const permissions = (['read', 'update'] as const).map(
    (action) => ({ resource: 'customers', action }) as const,
  );
  await signInHolding(page, permissions, `/customers/${params.id}`, server);
  await page.getByRole('button', { name: 'Reactivate' }).click();
  const asking = dialog(page, 'Reactivate Customer');
  await expect(asking).toBeVisible();
  const next = async () => {
    const asked = page.waitForResponse((answer) => answer.url().includes(`${params.id}/overview`));
    await page.clock.fastForward(every);
    await asked;
    await quiet(page);
    await expect(asking).toBeVisible();
  };
  await server.admin.ok(customers.restore, { params });
  await next();
  await softDelete(server.admin, customer);
  await next();
  await asking.getByRole('button', { name: 'Reactivate' }).click();
  await expect(asking.getByRole('alert')).toBeVisible();
  const query = { includeDeleted: 'true' } as const;
  expect((await server.admin.ok(customers.get, { params, query })).deletedAt).not.toBeNull();
});
