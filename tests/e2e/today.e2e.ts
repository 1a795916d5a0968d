import { account } from '../../contract/account.ts';
import { today } from '../../contract/today.ts';
import { makeCustomer, makeLicense, unique } from '../factories.ts';
import { dialog, expect, expectAccessible, signInAs, test, type Page } from './support.ts';

const line = (page: Page, kind: string) => page.locator(`[data-kind="${kind}"]`);
const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name });
const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();

test('a line leads to its records, as many as it counts, and opens the most urgent', async ({
  page,
  server,
}) => {
  const { customerId, name } = await makeCustomer(server.admin, { name: unique('Morning Hospital') });
  await makeLicense(server.admin, { customerId, validUntil: new Date(Date.now() + 60_000).toISOString() });
  await makeLicense(server.admin, { customerId, validUntil: inDays(29) });
  await signInAs(page, 'license_manager', '/licenses', server);
  await expect(heading(page, 'License Management')).toBeVisible();
  await page.keyboard.press('g');
  await page.keyboard.press('t');
  await expect(heading(page, 'Today')).toBeVisible();
  await expect(page).toHaveURL('/today');
  const ending = line(page, 'licensesEnding');
  await expect(ending).toContainText(`${name} ends in`);
  await expectAccessible(page);
  const count = /^[\d,]+/.exec((await ending.getByRole('link').first().textContent())!)![0];
  await ending.getByRole('link').first().press('Enter');
  await expect(page.getByRole('checkbox', { name: 'Expires within 30 days' })).toBeChecked();
  await expect(page.getByRole('tab', { name: /^Active/ })).toContainText(count);
  await page.goBack();
  await ending.getByRole('link', { name: `Extend: ${name}` }).click();
  await expect(dialog(page, 'Edit License')).toBeVisible();
  await expect(page).toHaveURL(/expiring=30/);
});

test('a morning on which nothing needs anybody is quiet, and the chosen first screen', async ({
  page,
  server,
}) => {
  await page.route(`**${today.get.path}`, async (route) => {
    const answer = await route.fetch();
    const body = (await answer.json()) as { data: object };
    await route.fulfill({ response: answer, json: { ...body, data: { ...body.data, lines: [] } } });
  });
  await signInAs(page, 'viewer', '/account', server);
  const choice = page.getByRole('combobox', { name: 'First screen' });
  await expect(choice).toHaveValue('Licenses (default)');
  await choice.click();
  await expect(page.getByRole('option', { name: 'Users' })).toHaveCount(0);
  const saved = page.waitForResponse(`**${account.setFirstScreen.path}`);
  await page.getByRole('option', { name: 'Today', exact: true }).click();
  expect((await saved).status()).toBe(200);
  await expect(page.getByText('First screen saved')).toBeVisible();
  await page.goto('/');
  await expect(page).toHaveURL('/today');
  await expect(page.getByRole('heading', { name: 'Nothing needs you' })).toBeVisible();
  await expect(page.getByRole('table', { name: 'Since midnight UTC' })).toBeVisible();
  await expectAccessible(page);
  await page.goto('/account');
  await choice.click();
  await page.getByRole('option', { name: 'Licenses (default)' }).click();
  await expect(page.getByText('First screen saved')).toBeVisible();
  await page.goto('/');
  await expect(page).toHaveURL('/licenses');
});
