import { licenses } from '../../contract/licenses.ts';
import { account } from '../../contract/account.ts';
import { permit } from '../../contract/permissions.ts';
import { today } from '../../contract/today.ts';
import { makeCustomer, makeLicense, unique } from '../factories.ts';
import { holdBack } from './hold-back.ts';
import {
  button,
  expect,
  expectAccessible,
  expectNoMoreFailures,
  expectSaid,
  expectStatus,
  goByKeys,
  heading,
  type Page,
  placesOf,
  signInAs,
  signInHolding,
  test,
} from './support.ts';

const line = (page: Page, kind: string) => page.locator(`[data-kind="${kind}"]`);

/** On a server of its own, where no license ends before this one. */
const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();

test('a line leads to its records, as many as it counts, and opens the most urgent', async ({
  page,
  freshServer: server,
}) => {
  const { customerId, name } = await makeCustomer(server.admin, { name: unique('בית חולים') });
  const urgent = await makeLicense(server.admin, { customerId, validUntil: inHours(3) });
  const other = await makeLicense(server.admin, { customerId, validUntil: inHours(20) });
  await signInAs(page, 'license_manager', '/licenses', server);
  await expect(heading(page, 'License Management')).toBeVisible();
  await goByKeys(page, 't');
  await expect(heading(page, 'Today')).toBeVisible();
  await expect(page).toHaveURL(`${server.url}/today`);
  const ending = line(page, 'licensesEnding');
  await expect(ending).toContainText(`${name} ends in`);
  const shown = await placesOf(ending.getByRole('paragraph'), ['ends in', 'בית חולים']);
  expect(shown, 'the sentence is read from left to right').toEqual(['בית חולים', 'ends in']);
  await expectAccessible(page);
  const count = /^[\d,]+/.exec((await ending.getByRole('link').first().textContent())!)![0];
  await ending.getByRole('link').first().press('Enter');
  await expect(page.getByRole('checkbox', { name: 'Expires within 30 days' })).toBeChecked();
  await expect(page.getByRole('tab', { name: /^Active/ })).toContainText(count);
  await page.goBack();
  const extend = ending.getByRole('button', { name: `+1 year: ${name}` });
  await expect(extend).toBeVisible();
  // a double click extends one license, although the next one takes its place
  await extend.dblclick();
  await page.getByRole('button', { name: 'Undo' }).hover();
  await expect(page.getByText(new RegExp(`^License ${urgent.licenseKey} for .+ extended to`))).toBeVisible();
  await expect(ending).toContainText(new RegExp(`${name} ends in (19|20) hours`));
  const ends = await server.admin.ok(licenses.get, { params: { id: other.licenseId } });
  expect(ends.validUntil).toBe(other.validUntil);
  await page.getByRole('button', { name: 'Undo' }).click();
  await expectSaid(page, new RegExp(`License ${urgent.licenseKey} for .+ ends on .+ again`));
  // whichever license the line names by then: the button is disabled while it waits
  await extend.press('Enter');
  await expect(page.getByText(/^License \S+ for .+ extended to/)).toBeVisible();
  await expect(extend).toBeFocused();

  await test.step('Extend means the license that it named when it was pressed', async () => {
    const endingIn = async (hours: number) => {
      const pressed = await makeCustomer(server.admin, { name: unique('Pressed Hospital') });
      const fields = { customerId: pressed.customerId, validUntil: inHours(hours) };
      return { name: pressed.name, license: await makeLicense(server.admin, fields) };
    };
    const [named, next] = [await endingIn(1), await endingIn(2)];
    await page.reload();
    const extendOf = (whose: string) => page.getByRole('button', { name: `+1 year: ${whose}` });
    await expect(extendOf(named.name)).toBeVisible();
    const answer = await holdBack(page, `**${today.get.path}`);
    await page.getByRole('button', { name: 'Refresh', exact: true }).click();
    await extendOf(named.name).hover();
    await page.mouse.down();
    const { licenseId, updatedAt } = named.license;
    await server.admin.ok(licenses.update, {
      params: { id: licenseId },
      body: { validUntil: '2040-01-01T00:00:00.000Z', updatedAt },
    });
    answer();
    await expect(extendOf(next.name)).toBeVisible();
    await page.mouse.up();
    await expectSaid(page, 'extended');
    const { validUntil } = await server.admin.ok(licenses.get, { params: { id: next.license.licenseId } });
    expect(validUntil).toBe(next.license.validUntil);
  });
});

test('a morning on which nothing needs anybody is quiet, and the chosen first screen', async ({
  page,
  server,
}) => {
  expectStatus(page, 400);
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
  await expectSaid(page, 'First screen saved');
  await page.goto('/');
  await expect(page).toHaveURL(`${server.url}/today`);
  await expect(page.getByRole('heading', { name: 'Nothing needs you' })).toBeVisible();
  // other screens count downloads from their start
  await expect(
    page.getByRole('table', { name: 'Since midnight UTC' }).getByRole('rowheader', { name: /downloads/i }),
  ).toHaveText('Completed downloads');
  await expectAccessible(page);
  await page.unroute(`**${today.get.path}`);
  await page.route(`**${today.get.path}`, (route) => route.fulfill({ status: 400, body: '{}' }));
  const refreshed = page.locator('[aria-live="polite"]', { hasText: /refreshed/i });
  for (const _ of [1, 2]) {
    await button(page, 'Refresh').click();
    await expect(refreshed).toHaveText(/^Not refreshed/);
  }
  await expectAccessible(page);
  await page.unroute(`**${today.get.path}`);
  await button(page, 'Refresh').click();
  await expect(button(page, 'Refresh')).toBeEnabled();
  await expect(refreshed).toHaveCount(0);
  await expectNoMoreFailures(page);
  await page.goto('/account');
  await choice.click();
  await page.getByRole('option', { name: 'Licenses (default)' }).click();
  await expectSaid(page, 'First screen saved');
  await page.goto('/');
  await expect(page).toHaveURL('/licenses');
});

test('a line about a screen that its reader may not see is no link to it', async ({ page, server }) => {
  await page.route(`**${today.get.path}`, async (route) => {
    const answer = await route.fetch();
    const body = (await answer.json()) as { data: object };
    const lines = ['clockJumped', 'diskFull'].map((kind) => ({
      kind,
      count: 98,
      next: null,
      since: null,
      usual: null,
    }));
    await route.fulfill({ response: answer, json: { ...body, data: { ...body.data, lines } } });
  });
  const titleOf = (kind: string) => line(page, kind).getByText(/^The disk of|^Permanent deletion is/);
  await signInHolding(page, [permit('audit', 'read'), permit('audit', 'delete')], '/today', server);
  for (const kind of ['clockJumped', 'diskFull']) {
    await expect(titleOf(kind)).toBeVisible();
    await expect(line(page, kind).getByRole('link')).toHaveCount(0);
  }
  await signInAs(page, 'admin', '/today', server);
  await expect(line(page, 'diskFull').getByRole('link')).toHaveCount(2);
});
