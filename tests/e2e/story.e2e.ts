import { makeApiKey } from '../factories.ts';
import { validation } from '../../contract/validation.ts';
import {
  dialog,
  expect,
  expectBriefly,
  expectSaid,
  navigation,
  rowOf,
  signInByForm,
  test,
  type ConsoleServer,
} from './support.ts';

const customer = 'Klinikum Freiburg';

test.use({ permissions: ['clipboard-read', 'clipboard-write'], viewport: { width: 1440, height: 900 } });

/** A desktop program: plain HTTP with an API key. Returns the code. */
async function desktop(server: ConsoleServer) {
  const { headers } = await makeApiKey(server.admin);
  const api = server.api(headers);
  return async (licenseKey: string, machineId: string) =>
    (await api.ok(validation.validate, { body: { licenseKey, machineId } })).code;
}

test('from the first sign-in to a customer that is gone for good', async ({ page, freshServer: server }) => {
  const validate = await desktop(server);
  let licenseKey = '';
  const row = () => rowOf(page.getByRole('region', { name: 'Licenses' }), licenseKey);
  const machine = (id: string) => rowOf(dialog(page, 'License Activations'), id);
  const tab = (name: RegExp) => page.getByRole('tab', { name });

  await test.step('staff sign in with the printed password', async () => {
    await page.goto(server.url);
    await expect(page).toHaveURL(/\/login\?redirect=/);
    await signInByForm(page, server.printed.email, server.printed.password);
    await expect(page.getByRole('heading', { level: 1, name: 'License Management' })).toBeVisible();
  });

  await test.step('a license needs a customer first', async () => {
    await page.getByRole('button', { name: 'Create License' }).first().click();
    const modal = dialog(page, 'Create License');
    await expect(modal.getByRole('heading', { name: 'No Customers Found' })).toBeVisible();
    await expect(modal.getByText('Please create a customer before creating a license.')).toBeVisible();
    await modal.getByRole('link', { name: 'Create a customer' }).click();
  });

  await test.step('create a customer with a country', async () => {
    const modal = dialog(page, 'Add Customer');
    await modal.getByRole('textbox', { name: 'Company Name' }).fill(customer);
    await modal.getByRole('textbox', { name: 'Email' }).fill('it@klinikum-freiburg.example');
    await modal.getByRole('combobox', { name: 'Country' }).fill('germ');
    await page.getByRole('option', { name: 'Germany' }).click();
    await modal.getByRole('button', { name: 'Create Customer' }).click();
    await expectSaid(page, 'Customer created successfully');
    await expect(rowOf(page, customer)).toContainText('Germany');
    await expect(rowOf(page, customer)).toContainText('Active');
  });

  await test.step('issue an enterprise license with modules of two categories and 3 activations', async () => {
    await navigation(page).getByRole('link', { name: 'Licenses' }).click();
    await page.getByRole('button', { name: 'Create License' }).first().click();
    const modal = dialog(page, 'Create License');
    await modal.getByRole('combobox', { name: 'Customer' }).click();
    await modal.getByRole('option', { name: customer }).click();
    await modal.getByRole('combobox', { name: 'License Type' }).click();
    await modal.getByRole('option', { name: 'Enterprise' }).click();
    await modal.getByRole('textbox', { name: 'Max Activations' }).fill('3');
    await modal.getByRole('checkbox', { name: 'Lung Nodule' }).check();
    await modal.getByRole('checkbox', { name: 'Diabetes' }).check();
    await modal.getByRole('button', { name: 'Create License' }).click();
    await expect(modal.getByText(`License created for ${customer}: Enterprise`)).toBeVisible();
    await modal.getByRole('button', { name: 'Done' }).click();
    await expect(modal).toBeHidden();
  });

  await test.step('copy the key', async () => {
    const license = page.getByRole('region', { name: 'Licenses' }).getByRole('row').nth(2);
    await expectBriefly(license.getByRole('status').filter({ hasText: 'Copied!' }), () =>
      license.getByRole('button', { name: /^Copy license key/ }).click(),
    );
    licenseKey = await page.evaluate(() => navigator.clipboard.readText());
    expect(licenseKey).toMatch(/^[0-9A-HJKMNP-TV-Z]{5}(-[0-9A-HJKMNP-TV-Z]{5}){4}$/);
    await expect(row()).toContainText('Enterprise');
    await expect(row()).toContainText('0/3');
  });

  await test.step('three machines validate, the fourth is refused', async () => {
    for (const id of ['machine-1', 'machine-2', 'machine-3'])
      expect(await validate(licenseKey, id)).toBe('VALID');
    expect(await validate(licenseKey, 'machine-4')).toBe('TOO_MANY_ACTIVATIONS');
  });

  await test.step('Activations shows 3/3 and Full; one machine is deactivated', async () => {
    await page.reload();
    await expect(row()).toContainText('3/3');
    await expect(row()).toContainText('Full');
    await row().getByRole('button', { name: 'Activations' }).click();
    const modal = dialog(page, 'License Activations');
    await expect(modal.getByText('3/3')).toBeVisible();
    await expect(modal.getByText('Full', { exact: true })).toBeVisible();
    await machine('machine-2').getByRole('button', { name: 'Deactivate' }).click();
    await dialog(page, 'Deactivate Machine').getByRole('button', { name: 'Deactivate' }).click();
    await expect(machine('machine-2')).toContainText('Deactivated');
    await expect(modal.getByText('2/3')).toBeVisible();
    await page.keyboard.press('Escape');
    await expect(row()).toContainText('2/3');
  });

  await test.step('the fourth validates, the deactivated one does not', async () => {
    expect(await validate(licenseKey, 'machine-4')).toBe('VALID');
    expect(await validate(licenseKey, 'machine-2')).toBe('MACHINE_DEACTIVATED');
  });

  await test.step('revoke, and reactivate', async () => {
    await row().getByRole('button', { name: 'Revoke' }).click();
    await dialog(page, 'Revoke License').getByRole('button', { name: 'Revoke' }).click();
    await expect(page.getByText(new RegExp(`^License ${licenseKey} for .+ revoked$`))).toBeVisible();
    await expect(tab(/^Revoked/)).toHaveText('Revoked1');
    expect(await validate(licenseKey, 'machine-1')).toBe('REVOKED');
    await tab(/^Revoked/).click();
    await row().getByRole('button', { name: 'Reactivate' }).click();
    await dialog(page, 'Reactivate License').getByRole('button', { name: 'Reactivate' }).click();
    await expect(tab(/^Active/)).toHaveText('Active1');
    expect(await validate(licenseKey, 'machine-1')).toBe('VALID');
  });

  const softDelete = () =>
    test.step('soft-delete the customer', async () => {
      await navigation(page).getByRole('link', { name: 'Customers' }).click();
      await rowOf(page, customer).getByRole('button', { name: 'Delete' }).click();
      const question = dialog(page, 'Delete Customer');
      await expect(
        question.getByText(`Are you sure you want to delete customer "${customer}"?`),
      ).toBeVisible();
      await question.getByRole('button', { name: 'Confirm' }).click();
      await expect(page.getByRole('link', { name: 'Soft Deleted (1)' })).toBeVisible();
    });
  await softDelete();

  await test.step('its license shows the note, its machines are refused', async () => {
    await navigation(page).getByRole('link', { name: 'Licenses' }).click();
    await expect(page.getByRole('button', { name: `${customer} (Deleted)` })).toBeVisible();
    await expect(row()).toContainText('Customer is soft-deleted');
    await expect(row().getByRole('button')).toHaveText(['', '+1', 'Activations', '']);
    expect(await validate(licenseKey, 'machine-1')).toBe('CUSTOMER_INACTIVE');
  });

  await test.step('restore the customer', async () => {
    await page.goto(`${server.url}/customers/trash`);
    await rowOf(page, customer).getByRole('button', { name: 'Reactivate' }).click();
    await dialog(page, 'Reactivate Customer').getByRole('button', { name: 'Reactivate' }).click();
    await expect(page.getByText('No deleted customers')).toBeVisible();
    expect(await validate(licenseKey, 'machine-1')).toBe('VALID');
    await page.getByRole('link', { name: 'Back to Customers' }).click();
  });
  await softDelete();

  await test.step('delete it for good after the deletable check', async () => {
    await page.getByRole('link', { name: 'Soft Deleted (1)' }).click();
    const checked = page.waitForResponse(/\/check-deletable$/);
    await rowOf(page, customer).getByRole('button', { name: 'Permanently Delete' }).click();
    expect(await (await checked).json()).toMatchObject({ data: { canDelete: true } });
    const question = dialog(page, 'Permanently Delete Customer');
    await question.getByRole('button', { name: 'Yes, Delete Permanently' }).click();
    await expect(page.getByText('No deleted customers')).toBeVisible();
    expect(await validate(licenseKey, 'machine-1')).toBe('NOT_FOUND');
  });

  await test.step('licenses and activations are gone, the audit entries stay', async () => {
    const { db } = server;
    expect(await db.selectFrom('licenses').selectAll().execute()).toEqual([]);
    expect(await db.selectFrom('activations').selectAll().execute()).toEqual([]);
    const entries = await db
      .selectFrom('audit_entries')
      .select('event_type')
      .where('resource_type', 'in', ['customer', 'license', 'activation'])
      .orderBy('audit_id')
      .execute();
    expect(entries.map((entry) => entry.event_type)).toEqual([
      'customer.created',
      'license.created',
      'activation.created',
      'activation.created',
      'activation.created',
      'activation.deactivated',
      'activation.created',
      'license.revoked',
      'license.reactivated',
      'customer.soft_deleted',
      'customer.restored',
      'customer.soft_deleted',
      'customer.deleted',
    ]);
  });
});
