import { makeCustomer, makeLicense, revoke, unique } from '../factories.ts';
import {
  day,
  expect,
  expectAccessible,
  rowOf,
  seenOn,
  signInAs,
  stayWithin,
  test,
  type ConsoleServer,
} from './support.ts';

/** A machine of a hospital in Lyon whose license was revoked after it had run. */
async function stoppedMachine(server: ConsoleServer) {
  const hostname = unique('ONC-WS').replace(' ', '-');
  const customer = await makeCustomer(server.admin, { name: unique('Clinique de Lyon') });
  const license = await makeLicense(server.admin, { customerId: customer.customerId });
  const validate = () => seenOn(server, license, `id of ${hostname}`, { hostname, appVersion: '4.10' });
  await validate();
  await revoke(server.admin, license);
  await validate();
  return { hostname, customer, license };
}

test('from "ONC-WS in Lyon stopped" to the reason in three actions', async ({ page, server }) => {
  await stayWithin(day);
  const { hostname, customer, license } = await stoppedMachine(server);
  await signInAs(page, 'support_agent', '/licenses', server);
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  let actions = 0;
  const act = (work: Promise<unknown>) => work.then(() => actions++);
  await act(page.keyboard.press('Control+k'));
  await act(page.keyboard.type(`${hostname.toLowerCase()} lyon`));
  const palette = page.getByRole('dialog', { name: 'Command palette' });
  const found = palette.getByRole('option', { name: new RegExp(`^${hostname}`) });
  await expect(found).toContainText('license revoked');
  await expect(found).toHaveAttribute('data-selected', 'true');
  await act(page.keyboard.press('Enter'));
  const verdict = page.getByRole('region', { name: 'Verdict' });
  await expect(verdict).toContainText(/Refused since today, \d\d:\d\d: license revoked/);
  expect(actions).toBeLessThanOrEqual(3);
  await expect(verdict.getByRole('link', { name: customer.name })).toBeVisible();
  await expect(verdict.getByRole('link', { name: license.licenseKey })).toBeVisible();
  await expect(page.getByRole('list', { name: 'Timeline' }).getByRole('listitem')).toHaveText([
    /^Refused: license revoked/,
    /^Validated/,
  ]);
  await expectAccessible(page);

  // the license is found by the same name, and is not what was named
  await page.reload();
  await expect(verdict).toBeVisible();
  await page.keyboard.press('Control+k');
  await page.keyboard.type(hostname.toLowerCase());
  await expect(palette.getByRole('option', { name: new RegExp(`^${license.licenseKey}`) })).toBeVisible();
  await expect(found).toHaveAttribute('data-selected', 'true');

  // of a license that has ended
  const ended = await makeLicense(server.admin, {
    validFrom: '2020-01-01T00:00:00Z',
    validUntil: '2021-01-01T00:00:00Z',
  });
  const id = `late id of ${hostname}`;
  await seenOn(server, ended, id, { hostname: `${hostname}-late` });
  await page.goto(`/machines/${id}`);
  await expect(verdict).toContainText('license expired');
  await expect(verdict).toContainText('ended 1 Jan 2021');
  await expect(verdict).not.toContainText('valid until');
});

test('a filter by what the reader may not read says so, and not that no machine matches', async ({
  page,
  server,
}) => {
  await stoppedMachine(server);
  await signInAs(page, 'binary_manager', '/machines?state=refused', server);
  await expect(page.getByText('You may not read licenses, so machines cannot be filtered by')).toBeVisible();
  await expect(page.getByRole('link', { name: 'Export CSV' })).toHaveCount(0);
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Clear Search and Filters' }).click();
  await expect(page.getByRole('link', { name: 'Export CSV' })).toBeVisible();
  await expect(page).toHaveURL(/machines$/);
});

test('the list of machines is searched and filtered, and a row opens its machine', async ({
  page,
  server,
}) => {
  const { hostname, customer } = await stoppedMachine(server);
  await signInAs(page, 'super_admin', '/machines', server);
  await page.getByPlaceholder('Host name, machine id, customer...').fill(`${hostname} lyon`);
  const row = rowOf(page, hostname);
  await expect(row).toContainText('Refused');
  await expect(row).toContainText(customer.name);
  await page.getByRole('combobox', { name: 'State' }).click();
  await page.getByRole('option', { name: 'No seat' }).click();
  await expect(page.getByRole('heading', { name: 'No machines found' })).toBeVisible();
  await expect(page.getByText('No results')).toBeAttached();
  await page.getByRole('combobox', { name: 'State' }).click();
  await page.getByRole('option', { name: 'Refused' }).click();
  await expect(row).toBeVisible();
  await expect(page).toHaveURL(/state=refused/);
  await page.getByRole('button', { name: 'More filters' }).click();
  const version = page.getByRole('textbox', { name: 'Version' });
  await version.fill('0.0.1');
  await expect(page.getByRole('heading', { name: 'No machines found' })).toBeVisible();
  await expect(page.getByRole('group', { name: 'Active filters' })).toContainText('Version: 0.0.1');
  await version.fill('4.1 ');
  await expect(page).toHaveURL(/version=4\.1$/);
  await expect(version).toHaveValue('4.1 ');
  await expect(page.getByRole('heading', { name: 'No machines found' })).toBeVisible();
  await version.fill('4');
  await expect(row).toBeVisible();
  await version.fill('4.10');
  await expect(row).toBeVisible();
  const lastSeen = page.getByRole('combobox', { name: 'Last seen' });
  for (const wrong of ['-5', '7 or 30', '5²', '1.5', '3651']) {
    await lastSeen.fill('');
    await lastSeen.pressSequentially(wrong);
    await lastSeen.press('Tab');
    await expect(lastSeen).toHaveValue(wrong);
    await expect(lastSeen).toHaveAccessibleDescription('A whole number of days, 1 to 3650');
  }
  // Escape closes the list first, and then the panel
  await lastSeen.fill('30');
  await expect(page.getByRole('option', { name: 'Not in 30 days' })).toBeVisible();
  await lastSeen.press('Escape');
  await expect(lastSeen).toHaveValue('');
  await lastSeen.press('Escape');
  await expect(lastSeen).toBeHidden();
  await expect(page.getByRole('button', { name: 'More filters' })).toBeFocused();
  await expect(page).not.toHaveURL(/seen=/);
  await page.keyboard.press('Enter');
  // its first field gets the focus a moment later
  await expect(page.getByRole('combobox', { name: 'Platform' })).toBeFocused();
  await lastSeen.fill('４５');
  await page.getByRole('option', { name: 'Not in 45 days' }).click();
  await expect(page.getByRole('heading', { name: 'No machines found' })).toBeVisible();
  await expect(page).toHaveURL(/unseen=45/);
  // the number of what was chosen is changed in its text
  await lastSeen.press('End');
  for (const _ of ' days') await lastSeen.press('ArrowLeft');
  await lastSeen.press('Backspace');
  await lastSeen.press('6');
  await lastSeen.press('Enter');
  await expect(lastSeen).toHaveValue('Not in 46 days');
  await expect(page).toHaveURL(/unseen=46/);
  await lastSeen.click();
  await expect(page.getByRole('option')).toHaveText([
    'Not in 46 days',
    'Seen in 1 day',
    'Seen in 7 days',
    'Seen in 30 days',
    'Not in 30 days',
  ]);
  await lastSeen.fill('1');
  await lastSeen.press('Enter');
  await expect(lastSeen).toHaveValue('Seen in 1 day');
  await expect(row).toBeVisible();
  await expect(page).toHaveURL(/[?&]seen=1(&|$)/);
  await page.keyboard.press('Escape');
  await expectAccessible(page);
  await row.getByRole('link', { name: hostname }).click();
  await expect(page.getByRole('region', { name: 'Verdict' })).toContainText('license revoked');
  await page.getByRole('link', { name: customer.name }).click();
  const back = (name: string) => page.getByRole('link', { name, exact: true });
  await rowOf(page, hostname).getByRole('link', { name: hostname }).first().click();
  await back(`Back to ${customer.name}`).click();
  await expect(page).toHaveURL(/\/customers\//);
  await page.goBack();
  // spec part 2, section 2.6
  await expect(page.getByRole('link', { name: 'Back to Releases' })).toHaveAttribute('href', '/releases');
  await back('Back to Machines').click();
  await expect(page).toHaveURL(/\/machines\?.*state=refused/);

  // without licenses:read there is neither state nor license
  await signInAs(page, 'binary_manager', `/machines?search=${hostname}`, server);
  await expect(rowOf(page, hostname)).toBeVisible();
  await expect(page.getByRole('columnheader', { name: /License|State|Customer/ })).toHaveCount(0);
  await rowOf(page, hostname).getByRole('link', { name: hostname }).click();
  await page.getByRole('tab', { name: 'License Activations (1)' }).click();
  await expect(page.getByText('You may not read licenses.')).toBeVisible();
});
