import { readFile } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { licenses } from '../../contract/licenses.ts';
import { validation } from '../../contract/validation.ts';
import { makeCustomer } from '../factories.ts';
import { password, hours } from '../harness.ts';
import {
  button,
  day,
  dialog,
  expect,
  expectStatus,
  inDays,
  option,
  rowOf,
  signInByForm,
  test,
  type ConsoleServer,
  type Page,
  stayWithin,
} from './support.ts';

test.use({ permissions: ['clipboard-read', 'clipboard-write'], viewport: { width: 1440, height: 900 } });

const links = (page: Page) => page.getByRole('navigation', { name: 'Main' }).getByRole('link');
const goTo = (page: Page, name: string) => links(page).filter({ hasText: name }).click();
const entries = (page: Page) => page.getByRole('region', { name: 'Audit entries' }).locator('tbody tr');

const manager = { email: 'mira.lindqvist@lanyard.test', name: 'Mira Lindqvist', password };
const clinic = 'Sahlgrenska Hospital';

type Answered = { status: number; error?: string };

/** Validates as a desktop that has nothing but the key; `from` is its address. */
function desktop(server: ConsoleServer, key: string, licenseKey: string) {
  const { hostname, port } = new URL(server.url);
  return (machineId: string, from = '127.0.0.1') =>
    new Promise<Answered>((resolve, reject) => {
      const call = httpRequest(
        {
          host: hostname,
          port,
          localAddress: from,
          method: 'POST',
          path: validation.validate.path,
          headers: { 'x-api-key': key, 'content-type': 'application/json' },
        },
        (answer) => {
          let body = '';
          answer.setEncoding('utf8');
          answer.on('data', (chunk: string) => (body += chunk));
          answer.on('end', () =>
            resolve({ status: answer.statusCode!, ...(JSON.parse(body) as { error?: string }) }),
          );
        },
      );
      call.on('error', reject);
      call.end(JSON.stringify({ licenseKey, machineId }));
    });
}

test('staff from the first person with a role to the figures of what they did', async ({
  page,
  otherPage,
  freshServer: server,
}) => {
  test.setTimeout(180_000);
  await stayWithin(day);
  const today = new Date().toISOString().slice(0, 10);
  let licenseKey = '';
  let key = '';

  await test.step('the super admin creates a license manager', async () => {
    await page.goto(`${server.url}/users`);
    await signInByForm(page, server.printed.email, server.printed.password);
    await button(page, 'Create New User').click();
    const create = dialog(page, 'Create New User');
    await create.getByRole('textbox', { name: 'Email' }).fill(manager.email);
    await create.getByRole('textbox', { name: 'Name' }).fill(manager.name);
    await create.getByRole('textbox', { name: 'Password' }).fill(manager.password);
    await create.getByRole('combobox', { name: 'Role' }).click();
    await option(page, /^License Manager/).click();
    await button(page, 'Create User').click();
    await expect(rowOf(page, manager.email)).toContainText('License Manager');
    // This role only reads customers.
    await makeCustomer(server.admin, { name: clinic, country: 'SE' });
  });

  await test.step('who sees the customers, and may not create one', async () => {
    await otherPage.goto(`${server.url}/`);
    await signInByForm(otherPage, manager.email, manager.password);
    await goTo(otherPage, 'Customers');
    await expect(rowOf(otherPage, clinic)).toBeVisible();
    await expect(button(otherPage, 'Create Customer')).toHaveCount(0);
  });

  await test.step('who issues a license and changes it', async () => {
    await otherPage.goto(`${server.url}/licenses`);
    await button(otherPage, 'Create License').first().click();
    const create = dialog(otherPage, 'Create License');
    await create.getByRole('combobox', { name: 'Customer' }).click();
    await create.getByRole('option', { name: clinic }).click();
    await create.getByRole('combobox', { name: 'License Type' }).click();
    await create.getByRole('option', { name: 'Enterprise' }).click();
    await create.getByRole('textbox', { name: 'Max Activations' }).fill('2');
    await create.getByRole('checkbox', { name: 'Lung Nodule' }).check();
    await create.getByRole('button', { name: 'Create License' }).click();
    await create.getByRole('button', { name: 'Done' }).click();
    const [license] = await server.admin.ok(licenses.list);
    licenseKey = license!.licenseKey;
    await otherPage.goto(`${server.url}/licenses?edit=${license!.licenseId}`);
    const edit = dialog(otherPage, 'Edit License');
    await edit.getByRole('textbox', { name: 'Max Activations' }).fill('5');
    await edit.getByRole('button', { name: 'Update License' }).click();
    await expect(otherPage.getByText(new RegExp(`^License ${licenseKey} for .+ updated$`))).toBeVisible();
  });

  await test.step('the super admin finds that by person and day, and sees before and after', async () => {
    await goTo(page, 'Audit Log');
    await button(page, 'Filters').click();
    const filters = page.getByRole('region', { name: 'Filters' });
    await filters.getByRole('combobox', { name: 'User', exact: true }).click();
    await option(page, manager.email).click();
    await page.getByLabel('From', { exact: true }).fill(today);
    await page.getByLabel('To', { exact: true }).fill(today);
    await expect(button(page, 'Filters (3)')).toBeVisible();
    await expect(rowOf(page, 'license.updated')).toContainText('maxActivations: 2 → 5');
    for (const row of await entries(page).all()) await expect(row).toContainText(manager.email);
    await rowOf(page, 'license.updated').getByText('Success').click();
    const entry = dialog(page, 'Audit Entry');
    const changes = entry.getByRole('group', { name: 'Changes' });
    await expect(rowOf(changes, 'maxActivations')).toHaveText('maxActivations25');
    await page.keyboard.press('Escape');
  });

  await test.step('exports exactly that filter', async () => {
    const shown = await entries(page).count();
    const [download] = await Promise.all([page.waitForEvent('download'), button(page, 'Export CSV').click()]);
    const [head, ...lines] = (await readFile(await download.path(), 'utf8')).trim().split('\n');
    expect(head).toMatch(/^\uFEFF?Timestamp,User,Role,Action,/);
    expect(lines).toHaveLength(shown);
    expect(lines.every((line) => line.includes(manager.email) && line.includes(today))).toBe(true);
    for (const event of ['license.created', 'license.updated', 'session.login'])
      expect(lines.filter((line) => line.includes(event)).length, event).toBeGreaterThan(0);
  });

  await test.step('and verifies the chain', async () => {
    await button(page, 'Verify').click();
    await expect(page.getByText('The chain is whole')).toBeVisible();
    await page.keyboard.press('Escape');
  });

  const row = () => rowOf(page.getByRole('region', { name: 'API keys' }), 'Ward desktops');
  await test.step('creates an API key for one address with a limit, and copies it', async () => {
    await goTo(page, 'API Keys');
    await button(page, 'Create API Key').first().click();
    const create = dialog(page, 'Create API Key');
    await create.getByRole('textbox', { name: 'Name' }).fill('Ward desktops');
    await create.getByRole('textbox', { name: 'Expiration Date' }).fill(inDays(30).slice(0, 16));
    await create.getByRole('textbox', { name: 'Rate Limit' }).fill('3');
    await create.getByRole('textbox', { name: 'IP Whitelist' }).fill('127.0.0.1/32');
    await create.getByRole('button', { name: 'Create API Key' }).click();
    const made = dialog(page, 'API Key Created');
    await made.getByRole('button', { name: 'Copy key' }).click();
    await expect(made.getByRole('button', { name: 'Copied!' })).toBeVisible();
    key = await page.evaluate(() => navigator.clipboard.readText());
    await made.getByRole('button', { name: 'Done' }).click();
    await expect(row()).toContainText('Never used');
  });

  const validate = desktop(server, key, licenseKey);
  await test.step('uses it, and sees its usage rise', async () => {
    await stayWithin(hours(1));
    expect((await validate('ward-1')).status).toBe(200);
    expect((await validate('ward-2')).status).toBe(200);
    await expect(row()).toContainText('2 requests · 3 per hour', { timeout: 30_000 });
    await expect(row()).toContainText('Last used just now');
  });

  await test.step('is refused from another address and above the limit', async () => {
    expect(await validate('ward-3', '127.0.0.2')).toMatchObject({
      status: 403,
      error: 'The API key may not be used from this address.',
    });
    expect((await validate('ward-3')).status).toBe(200);
    expect(await validate('ward-3')).toMatchObject({
      status: 429,
      error: 'The API key has used its 3 requests of this hour.',
    });
  });

  await test.step('revokes it: refused at once', async () => {
    page.once('dialog', (question) => void question.accept());
    await row().getByRole('button', { name: 'Revoke' }).click();
    await expect(row()).toContainText('Revoked');
    expect(await validate('ward-1')).toMatchObject({ status: 401, error: 'The API key has been revoked.' });
  });

  await test.step('a reset password ends the open session on its next call', async () => {
    await goTo(page, 'Users');
    await rowOf(page, manager.email).getByRole('button', { name: 'Reset Password' }).click();
    const reset = dialog(page, 'Reset Password');
    await reset.getByRole('textbox', { name: 'New Password' }).fill('fresh and long enough');
    await reset.getByRole('textbox', { name: 'Confirm Password' }).fill('fresh and long enough');
    // any call may be the next one, also of a notice that is loaded anew
    expectStatus(otherPage, 401);
    await reset.getByRole('button', { name: 'Reset Password' }).click();
    await expect(page.getByText('Password reset successfully')).toBeVisible();
    await otherPage.goto(`${server.url}/customers`);
    await expect(otherPage).toHaveURL(/\/login\?redirect=/);
  });

  await test.step('the figures show the validations of this story', async () => {
    await goTo(page, 'Analytics');
    const tile = (name: string) => page.getByLabel('Totals').locator('div').filter({ hasText: name });
    await expect(tile('Active Customers')).toContainText('1');
    await expect(tile('Active Licenses')).toContainText('1');
    await expect(tile('Error Rate')).toContainText('0.00%');
    const card = (name: string) => page.getByRole('region', { name, exact: true });
    await card('Active Users').getByText('Table').click();
    await expect(card('Active Users').getByRole('row').last()).toContainText('3');
    await card('Top 10 Customers').getByText('Table').click();
    await expect(rowOf(card('Top 10 Customers'), clinic).getByRole('cell')).toHaveText(['3', '1']);
  });
});
